public import Logging

/// How a store is opened.
///
/// Options are equal whatever their loggers, which cannot be compared.
public struct StoreOptions: Sendable, Hashable {
  /// What the program may do, and what happens when there is no store.
  public enum Access: Sendable, Hashable {
    /// Reads and writes; makes the store when there is none.
    case create
    /// Reads and writes a store that exists.
    case readWrite
    /// Reads a store that exists.
    ///
    /// Beside an open of the same process that writes, it sees what that one commits. The other way
    /// round does not go: while a process has a store open for reading alone, it cannot open it for
    /// writing, which throws `busy`. Other processes are not concerned.
    case readOnly
  }

  /// What the program may do.
  public var access: Access
  /// The version of the application's schema, counted by its migrations.
  ///
  /// A store of a later version opens for reading alone.
  public var schemaVersion: UInt32
  /// The address space reserved for the file, in bytes; `nil` for the system's usual.
  ///
  /// It grows by itself.
  public var mapSize: Int?
  /// How much of what has changed the store remembers; see ``ObjectStore/changes(since:of:)``.
  ///
  /// Each program keeps to its own limit when it writes.
  public var historyLimit: HistoryLimit
  /// When opening compacts the file first, as ``ObjectStore/compact(at:)`` does; never if `nil`.
  ///
  /// It is left out where it cannot be done: while somebody has the store open, for an open for
  /// reading alone, or without room for the copy. The logger is told of both. The history begins anew
  /// with it: tokens of before have expired.
  public var compaction: CompactionRule?
  /// Checks every page when the store is opened, also when only commits have changed the file since
  /// the last check.
  ///
  /// A file that something else has changed, such as a copy, is always checked. This finds what a
  /// failing disk has changed too. Without an effect when the process has the store open already.
  public var checksPages: Bool
  /// What the store tells of what it does; nothing without one.
  ///
  /// At `debug`: opens, compactions, changes of the schema, new indexes, a larger map, readers whose
  /// process is gone, writes that shared a commit and imports. At `notice`: a store of a later
  /// version, which is open for reading alone, and a compaction that failed. At `warning`: a reader
  /// that has kept a growing file from using its free pages for a thousand commits, looked for every
  /// 30 seconds at most; and a query that looked at more than 10,000 objects though the model has an
  /// index, once for each set of fields.
  ///
  /// Messages are always the same texts; what differs is in their metadata. Names of models and
  /// fields, counts and times are told, primary keys and other values never.
  public var logger: Logger? {
    get { unequated.logger }
    set { unequated.logger = newValue }
  }

  private var unequated: Unequated

  /// What does not count when options are compared.
  private struct Unequated: Sendable, Hashable {
    var logger: Logger?

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// Describes how to open a store.
  public init(
    access: Access = .create,
    schemaVersion: UInt32 = 1,
    mapSize: Int? = nil,
    historyLimit: HistoryLimit = .standard,
    compaction: CompactionRule? = nil,
    checksPages: Bool = false,
    logger: Logger? = nil
  ) {
    self.access = access
    self.schemaVersion = schemaVersion
    self.mapSize = mapSize
    self.historyLimit = historyLimit
    self.compaction = compaction
    self.checksPages = checksPages
    unequated = Unequated(logger: logger)
  }
}
