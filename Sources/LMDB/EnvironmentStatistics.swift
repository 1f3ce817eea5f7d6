/// The sizes and reader counts of an environment at one moment.
///
/// ```swift
/// let statistics = try environment.statistics()
/// let free = try environment.freePageCount() * statistics.pageSize
/// print("\(free) of \(statistics.usedSize) bytes are free")
/// ```
public struct EnvironmentStatistics: Sendable, Hashable {
  /// The address space reserved for the file, in bytes.
  public var mapSize: Int
  /// The size of the file up to its last page, including free pages, in bytes.
  public var usedSize: Int
  /// The size of a page, in bytes.
  public var pageSize: Int
  /// The number of the last committed transaction.
  public var lastTransactionID: UInt64
  /// The largest number of reader slots in use at the same time so far, over all processes.
  public var readers: Int
  /// The number of reader slots.
  public var maximumReaders: Int
  /// The database that maps the names of the other databases.
  public var mainDatabase: DatabaseStatistics
}
