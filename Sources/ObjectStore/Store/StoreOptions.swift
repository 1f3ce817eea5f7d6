/// How a store is opened.
public struct StoreOptions: Sendable, Hashable {
  /// What the program may do, and what happens when there is no store.
  public enum Access: Sendable, Hashable {
    /// Reads and writes; makes the store when there is none.
    case create
    /// Reads and writes a store that exists.
    case readWrite
    /// Reads a store that exists.
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

  /// Describes how to open a store.
  public init(
    access: Access = .create,
    schemaVersion: UInt32 = 1,
    mapSize: Int? = nil,
    historyLimit: HistoryLimit = .standard
  ) {
    self.access = access
    self.schemaVersion = schemaVersion
    self.mapSize = mapSize
    self.historyLimit = historyLimit
  }
}
