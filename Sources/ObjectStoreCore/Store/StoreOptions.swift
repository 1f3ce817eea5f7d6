public import Logging

/// Options for opening a store.
///
/// Loggers are ignored when options are compared.
public struct StoreOptions: Sendable, Hashable {
  /// The access to a store, and the behavior if the store does not exist.
  public enum Access: Sendable, Hashable {
    /// Reads and writes the store. Creates it if it does not exist.
    case create
    /// Reads and writes an existing store.
    case readWrite
    /// Reads an existing store.
    ///
    /// A process that has a store open for writing can also open it read-only; the second value
    /// sees the commits of the first. A process that has a store open read-only cannot open it for
    /// writing: that throws `busy`. Other processes are not affected.
    case readOnly
  }

  /// The access to the store.
  public var access: Access
  /// Whether no process writes the store while this one has it open, so that it needs no locks.
  ///
  /// The only way to read a store on a read-only file system, such as a volume that a container
  /// mounts read-only: readers register in the file `lock.mdb`, and writers reuse the pages that no
  /// registered reader needs. Opens the store with access ``Access/readOnly``,
  /// whatever ``access`` is. If a process writes the store meanwhile, reads may fail with `damaged`
  /// or return wrong data.
  public var immutable: Bool
  /// The version of the application's schema, which increases with each migration.
  ///
  /// A store with a later version is opened read-only.
  public var schemaVersion: UInt32
  /// The address space reserved for the file, in bytes; `nil` for the default size.
  ///
  /// It grows automatically.
  public var mapSize: Int?
  /// The size of the history that the store keeps; see ``Store/changes(since:of:)``.
  ///
  /// Each program applies its own limit when it writes.
  public var historyLimit: HistoryLimit
  /// The condition for compacting the file before it is opened; `nil` for never.
  ///
  /// Compaction works as ``Store/compact(at:)``. It is skipped while the store is open
  /// elsewhere, if this open is read-only, or if there is no disk space for the copy. The logger
  /// reports both outcomes. History tokens stay valid.
  public var compaction: CompactionRule?
  /// Whether opening the store checks every page even if only commits changed the file since the
  /// last check.
  ///
  /// A file changed by anything else, such as a copy, is always checked. Set this to also detect
  /// pages damaged by a failing disk. It has no effect if the process already has the store open.
  public var checksPages: Bool
  /// The time at which indexes that are new in the models are built.
  public var indexBuilding: IndexBuilding
  /// The logger of the store; `nil` to log nothing.
  ///
  /// Logs at `debug`: opening, compaction, schema changes, new indexes, map growth, cleared reader
  /// slots of dead processes, shared commits and imports. At `notice`: a store that is opened
  /// read-only because a newer program has written it, and failed compactions. At `warning`: a
  /// reader that has prevented the reuse of free pages in a growing file for 1,000 commits (checked
  /// at most every 30 seconds), and a query that examined more than 10,000 objects although the
  /// model has an index (once per set of fields).
  ///
  /// Messages are constant; details are in the metadata. The metadata contains names of models and
  /// fields, counts and durations, but never primary keys or other values.
  public var logger: Logger? {
    get { uncompared.logger }
    set { uncompared.logger = newValue }
  }

  /// The steps that lead older stores to ``schemaVersion``; `nil` if they need none.
  package var upgrade: (any SchemaUpgrade)? {
    get { uncompared.upgrade }
    set { uncompared.upgrade = newValue }
  }

  private var uncompared: Uncompared

  /// Options that are ignored when options are compared.
  private struct Uncompared: Sendable, Hashable {
    var logger: Logger?
    var upgrade: (any SchemaUpgrade)?

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// Creates options.
  ///
  /// The defaults create or open a store for reading and writing.
  public init(
    access: Access = .create,
    immutable: Bool = false,
    schemaVersion: UInt32 = 1,
    mapSize: Int? = nil,
    historyLimit: HistoryLimit = .standard,
    compaction: CompactionRule? = nil,
    checksPages: Bool = false,
    indexBuilding: IndexBuilding = .standard,
    logger: Logger? = nil
  ) {
    self.access = access
    self.immutable = immutable
    self.schemaVersion = schemaVersion
    self.mapSize = mapSize
    self.historyLimit = historyLimit
    self.compaction = compaction
    self.checksPages = checksPages
    self.indexBuilding = indexBuilding
    uncompared = Uncompared(logger: logger)
  }
}
