internal import Dispatch
internal import LMDB
internal import Synchronization

// The twins of `read` and `write` share a name by contract: `await` tells them apart.
// swift-format-ignore: AmbiguousTrailingClosureOverload
/// A folder of objects that outlive the process, shared by any number of processes.
///
/// Reads see one snapshot and never wait; writes are serialised over all threads and processes and
/// either happen whole or not at all. The files close when the last reference to the store goes.
///
/// ```swift
/// let store = try ObjectStore(at: "/var/lib/notes", models: [Note.self])
/// try store.write { tx in try tx.upsert(Note(id: 1, text: "milk")) }
/// let note = try store.read { tx in try tx.get(Note.self, 1) }
/// ```
public final class ObjectStore: Sendable {
  /// The folder; of a store in memory, one that is gone.
  public let path: String
  /// Whether writes are refused: the store was opened so, or was written by a later version.
  public let isReadOnly: Bool

  let environment: Environment
  private let models: [any Model.Type]
  let schemaVersion: UInt32
  let historyLimit: HistoryLimit
  private let schemas: Guarded<StoreSchema>
  let metrics = TransactionMetrics()
  let log: StoreLog?
  /// Tells observers of commits.
  let feed: CommitFeed
  /// The asynchronous writes that wait, and the queue on which they run.
  let writes = WriteQueue()
  let writeQueue = DispatchQueue(label: "ObjectStore.write")

  /// Opens the store in the folder `path`, or makes it.
  ///
  /// Costs the reading of some pages, whatever the number of objects, unless a model has a new
  /// index, which is built now. The folder gets mode 0700, the files 0600.
  ///
  /// - Parameters:
  ///   - path: The folder. Missing folders above it are made too.
  ///   - models: The types whose objects the program reads or writes. Those to which they refer are
  ///     added by themselves; others in the store are left alone.
  ///   - options: What the program may do, and the version of its schema.
  /// - Throws: ``StoreError`` with `notFound`, `cannotCreate`, `permissionDenied`, `damaged`, `busy`
  ///   (this process has it open for reading alone, or compacts it), `schemaMismatch` (a field has another type than in the store), `tooNew` (the storage format
  ///   is of a later version), `diskFull` or `other`.
  public convenience init(
    at path: String,
    models: [any Model.Type],
    options: StoreOptions = StoreOptions()
  ) throws {
    let models = ModelSchema.withTargets(models)
    let opening = try StoreOpening(path: path, models: models, options: options)
    self.init(path: path, models: models, options: options, opening)
  }

  /// Makes an empty store that is kept in memory and gone with the value: for tests and previews,
  /// and for what need not be kept.
  ///
  /// No other process and no other value sees it. A commit waits for no disk.
  ///
  /// - Parameters:
  ///   - models: The types whose objects the program reads or writes, as with a folder.
  ///   - options: The version of the program's schema and the limit of the history; its access is
  ///     not looked at.
  /// - Throws: ``StoreError`` with `diskFull`, `permissionDenied` or `other`.
  public convenience init(
    inMemory models: [any Model.Type],
    options: StoreOptions = StoreOptions()
  ) throws {
    var options = options
    options.access = .create
    let models = ModelSchema.withTargets(models)
    let opening = try StoreOpening(inMemory: models, options: options)
    self.init(path: opening.environment.path, models: models, options: options, opening)
  }

  private init(
    path: String,
    models: [any Model.Type],
    options: StoreOptions,
    _ opening: StoreOpening
  ) {
    self.path = path
    self.models = models
    schemaVersion = options.schemaVersion
    historyLimit = options.historyLimit
    environment = opening.environment
    isReadOnly = opening.isReadOnly
    log = opening.log
    feed = CommitFeed(
      environment: opening.environment,
      // Nobody else is there to hear the bell of a store in memory.
      notifier: ChangeNotifier(folder: path, isReadOnly: opening.isReadOnly || opening.isInMemory)
    )
    schemas = Guarded(opening.schema)
  }

  /// A number that was chosen at random when the store was made.
  ///
  /// Never changes; a backup, a compacted and a repaired store have the same one. It is secret:
  /// hashes of primary keys are seeded with it.
  package var seed: UInt64 { schemas.withLock { $0.seed } }

  // MARK: Reading

  /// Lends a snapshot of the last commit to `body`.
  ///
  /// Keep it short: while it is open, room freed by later writes is not used again. Costs about
  /// 0.2 µs beyond `body`.
  ///
  /// - Throws: ``StoreError``, or what `body` throws.
  public func read<R>(_ body: (inout Snapshot) throws -> R) throws -> R {
    try translating("reading \(path)") {
      var snapshot = try beginSnapshot()
      return try body(&snapshot)
    }
  }

  /// A snapshot of the last commit, with the schema that it has.
  func beginSnapshot() throws -> Snapshot {
    metrics.countRead()
    while true {
      let schema = schemas.withLock { $0 }
      let transaction = try environment.beginRead()
      guard try isCurrent(schema, in: transaction) else { continue }
      return Snapshot(transaction: transaction, schema: schema)
    }
  }

  /// Lends a snapshot to `body`, which runs on the caller's executor without suspending.
  ///
  /// - Throws: ``StoreError``, or what `body` throws.
  public func read<R>(_ body: (inout Snapshot) throws -> R) async throws -> R {
    try readNow(body)
  }

  private func readNow<R>(_ body: (inout Snapshot) throws -> R) throws -> R {
    try read(body)
  }

  // MARK: Damage

  /// Has a page that cannot be end the process with that exit status and a message on standard
  /// error, where LMDB would abort the process.
  ///
  /// For command line tools, before they open a store. Most damage is found as a ``StoreError`` with
  /// `damaged`; this is for what the C library cannot return from.
  public static func exitProcessOnDamage(status: Int32) {
    FailedAssertion.exitProcess(status: status)
  }

  // MARK: Facts

  /// The number of the last commit that reads see, whichever process made it.
  ///
  /// Costs about 0.1 µs: the cheap way to see whether anything happened. A read after it sees that
  /// commit or a later one.
  ///
  /// - Throws: ``StoreError``, as a read.
  public func changeCount() throws -> UInt64 {
    // The file names a commit while it is still on its way to the disk, some milliseconds before
    // readers see it: who looked in between would take it for seen.
    try translating("reading \(path)") { try environment.beginRead().id }
  }

  /// Reads every page of the file that is in use and checks that it is what it should be.
  ///
  /// Records are not looked into; reading them checks each against its checksum.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  /// - Complexity: O(n) in the pages of the file.
  public func checkPages() throws {
    try translating("checking \(path)") { try environment.checkPages() }
  }

  /// Begins the write transaction, after waiting for the one of any other thread or process.
  func beginWrite() throws -> StoreTransaction {
    guard !isReadOnly else {
      throw StoreError(.permissionDenied, "writing \(path): the store is open for reading only")
    }
    let start = ContinuousClock.now
    while true {
      let schema = schemas.withLock { $0 }
      let raw = try environment.beginWrite()
      guard try isCurrent(schema, inAny: raw) else { continue }
      guard schema.version <= schemaVersion else {
        throw StoreError(.tooNew, "writing \(path): a later version has migrated the store")
      }
      metrics.add(.writeWait, since: start)
      log?.didBeginWrite(environment)
      return StoreTransaction(transaction: raw, state: WriteState(schema))
    }
  }

  /// Whether `schema` is that of the transaction; if another program has changed it, it is read
  /// anew, and the caller begins another transaction.
  ///
  /// The schema must be had before the transaction begins: databases that are opened later cannot
  /// be used by it.
  private func isCurrent(
    _ schema: StoreSchema,
    inAny transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
    guard epoch != schema.epoch else { return true }
    let fresh = try StoreOpening.readSchema(of: environment, models: models, log)
    schemas.withLock { $0 = fresh }
    return false
  }

  /// The same of a snapshot: what holds once for a commit holds for all reads of it.
  private func isCurrent(
    _ schema: StoreSchema,
    in transaction: borrowing ReadTransaction
  ) throws
    -> Bool
  {
    let commit = transaction.id
    if schema.checkedCommit.load(ordering: .relaxed) == commit { return true }
    guard try isCurrent(schema, inAny: transaction) else { return false }
    schema.checkedCommit.store(commit, ordering: .relaxed)
    return true
  }
}
