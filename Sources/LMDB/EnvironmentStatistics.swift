/// The sizes of an environment at one moment.
public struct EnvironmentStatistics: Sendable, Hashable {
  /// The address space reserved for the file, in bytes.
  public var mapSize: Int
  /// The part of the file that is in use, free pages included, in bytes.
  public var usedSize: Int
  /// The size of a page, in bytes.
  public var pageSize: Int
  /// The number of the last committed transaction.
  public var lastTransactionID: UInt64
  /// The reader slots that were ever in use at one time, over all processes.
  public var readers: Int
  /// The reader slots there are.
  public var maximumReaders: Int
  /// The database of the names of all others.
  public var mainDatabase: DatabaseStatistics
}
