internal import Dispatch
package import LMDB
internal import SystemInterface

// The overloads of `read` share a name by design; `await` selects the asynchronous one.
// swift-format-ignore: AmbiguousTrailingClosureOverload
/// A persistent store of typed objects in a folder, which several processes can share.
///
/// A read sees one snapshot and never waits for a write. Writes are atomic, and are serialized
/// across all threads and processes. The files are closed when the last reference to the store is
/// released.
///
/// ```swift
/// let store = try Store(at: "/var/lib/notes", models: [Note.self])
/// try store.write { tx in try tx.upsert(Note(id: 1, text: "milk")) }
/// let note = try store.read { tx in try tx.find(Note.self, key: 1) }
/// ```
public final class Store: Sendable {
  /// The path of the folder.
  ///
  /// For a store in memory, the folder no longer exists.
  public let path: String
  /// Whether writes are refused.
  ///
  /// This is the case if the store was opened with ``StoreOptions/Access/readOnly``, or if a newer
  /// program has written it.
  public let isReadOnly: Bool

  package let environment: Environment
  private let models: [any Model.Type]
  private let options: StoreOptions
  package var schemaVersion: UInt32 { options.schemaVersion }
  package var historyLimit: HistoryLimit { options.historyLimit }
  private let schemas: Mutex<StoreSchema>
  package let metrics = TransactionMetrics()
  package let log: StoreLog?
  package let feed: CommitFeed
  /// The queued asynchronous writes, and the queue on which they run.
  let writes = WriteQueue()
  let writeQueue = DispatchQueue(label: "ObjectStore.write")
  let background: BackgroundWork

  /// Opens the store in a folder, and creates it if it does not exist.
  ///
  /// Opening reads a few pages regardless of the number of objects. Indexes that are new in the models
  /// are built as ``StoreOptions/indexBuilding`` says. The folder is created with mode 0700, its
  /// files with mode 0600.
  ///
  /// - Parameters:
  ///   - path: The folder. Missing parent folders are created, as the umask permits.
  ///   - models: The types of the objects that the program reads or writes. Models that they refer
  ///     to are added automatically. Other models in the store are left unchanged.
  ///   - options: Access, schema version and other options.
  /// - Throws: ``StoreError`` with `notFound`, `cannotCreate`, `permissionDenied`, `damaged`,
  ///   `busy` (this process has it open read-only, or is compacting it), `schemaMismatch` (a field
  ///   has another type in the store, or it is opened read-only and needs a step), `tooNew` (the
  ///   store has a newer storage format), `diskFull` or `other`.
  public convenience init(
    at path: String,
    models: [any Model.Type],
    options: StoreOptions = StoreOptions()
  ) throws {
    let models = ModelSchema.withTargets(models)
    let opening = try StoreOpening(path: path, models: models, options: options)
    self.init(path: path, models: models, options: options, opening)
  }

  /// Creates an empty store in memory, for tests, previews and temporary data.
  ///
  /// The store belongs to this value and is deleted with it. Commits do not wait for the disk.
  ///
  /// - Parameters:
  ///   - models: The types of the objects that the program reads or writes, as for a folder.
  ///   - options: Options such as the schema version and the history limit. Its access is ignored.
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
    self.options = options
    environment = opening.environment
    isReadOnly = opening.isReadOnly
    log = opening.log
    feed = CommitFeed(
      environment: opening.environment,
      // No other process can observe a store in memory.
      notifier: ChangeNotifier(folder: path, isReadOnly: opening.isReadOnly || opening.isInMemory)
    )
    schemas = Mutex(opening.schema)
    background = BackgroundWork(opening.environment, models, options, log: opening.log)
    guard !isReadOnly else { return }
    let builds = opening.schema.tables.contains { !$0.buildingIndexes.isEmpty }
    let converts =
      options.upgrade?.convertsInBackground == true && !opening.schema.outdatedModels.isEmpty
    if builds || converts { background.start(converting: converts) }
  }

  deinit {
    background.stop()
  }

  /// A random number chosen when the store was created.
  ///
  /// It never changes. Backups, compacted stores and repaired stores keep it. It is secret, because
  /// the hashes of primary keys are seeded with it.
  package var seed: UInt64 { schemas.withLock { $0.seed } }

  // MARK: Reading

  /// Runs `body` with a snapshot of the last commit.
  ///
  /// Keep the closure short: until it returns, pages freed by later writes are not reused. Costs
  /// about 0.2 µs in addition to `body`.
  ///
  /// - Throws: ``StoreError``; any error that `body` throws.
  public func read<R>(_ body: (inout Snapshot) throws -> R) throws -> R {
    try translating("reading \(path)") {
      var snapshot = try beginSnapshot()
      return try body(&snapshot)
    }
  }

  /// Begins a snapshot of the last commit, with that commit's schema.
  func beginSnapshot() throws -> Snapshot {
    metrics.countRead()
    while true {
      let schema = schemas.withLock { $0 }
      let transaction = try environment.beginRead()
      guard try isCurrent(schema, in: transaction) else { continue }
      return Snapshot(transaction: transaction, schema: schema)
    }
  }

  /// Runs `body` with a snapshot of the last commit, on the caller's executor and without
  /// suspending.
  ///
  /// - Throws: ``StoreError``; any error that `body` throws.
  public func read<R>(_ body: (inout Snapshot) throws -> R) async throws -> R {
    try readNow(body)
  }

  private func readNow<R>(_ body: (inout Snapshot) throws -> R) throws -> R {
    try read(body)
  }

  // MARK: Damage

  /// Exits the process with `status` and a message on standard error when LMDB meets a corrupt
  /// page, instead of aborting it.
  ///
  /// Command-line tools can call this before they open a store. Most damage is reported as a
  /// ``StoreError`` with `damaged`. This covers the assertions of the C library, which cannot
  /// return an error.
  public static func exitProcessOnDamage(status: Int32) {
    FailedAssertion.exitProcess(status: status)
  }

  // MARK: Status

  /// Returns the number of the last visible commit, of any process.
  ///
  /// Compare two results to find out cheaply whether the store has changed: a call costs about
  /// 0.1 µs. A later read sees this commit or a later one.
  ///
  /// ```swift
  /// guard try store.commitNumber() != lastCommit else { return }
  /// (notes, lastCommit) = try store.read { tx in (try tx.fetch(Note.all), tx.commitNumber) }
  /// ```
  ///
  /// - Throws: ``StoreError``, as a read.
  public func commitNumber() throws -> UInt64 {
    // Do not use the meta page: it contains a commit some milliseconds before readers see it, while
    // the commit is synced. A caller would treat that commit as already seen.
    try translating("reading \(path)") { try environment.beginRead().id }
  }

  /// Checks the structure of every page of the file that is in use.
  ///
  /// Does not check records; every read checks a record against its checksum. Use
  /// ``verify(limit:progress:)`` to check everything.
  ///
  /// ```swift
  /// do {
  ///   try store.checkPages()
  /// } catch let error as StoreError where error.code == .damaged {
  ///   print("restore a backup of \(store.path): \(error)")
  /// }
  /// ```
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  /// - Complexity: O(n) in the pages of the file.
  public func checkPages() throws {
    try translating("checking \(path)") { try environment.checkPages() }
  }

  /// Why a store that was opened for writing is read-only; empty if the program asked for that.
  private var readOnlyReason: String {
    let stored = schemas.withLock { $0.version }
    guard options.access != .readOnly, stored > options.schemaVersion else { return "" }
    return ", because a program with schema version \(stored) has changed it: update this program"
  }

  /// Throws if another program has moved, deleted or replaced the folder or its file since it was opened.
  ///
  /// A write does so by itself. A read does not, so a program that shows a store for a long time asks.
  ///
  /// - Throws: ``StoreError`` with `replaced`.
  package func requireInPlace() throws {
    guard environment.isInPlace else {
      throw StoreError(LMDBError(.replaced, operation: "lstat"), "reading \(path)")
    }
  }

  /// Begins the write transaction.
  ///
  /// Waits for the write of any other thread or process.
  func beginWrite() throws -> StoreTransaction {
    guard !isReadOnly else {
      throw StoreError(
        .permissionDenied,
        "writing \(path): the store is open read-only\(readOnlyReason)"
      )
    }
    let start = ContinuousClock.now
    while true {
      let schema = schemas.withLock { $0 }
      let raw = try environment.beginWrite()
      guard try hasEpoch(of: schema, raw) else {
        // Reading the schema waits for a thread that changes it, and that thread waits for this
        // transaction.
        _ = consume raw
        try readSchemaAgain()
        continue
      }
      guard schema.version <= schemaVersion else {
        throw StoreError(.tooNew, "writing \(path): a newer program has migrated the store")
      }
      metrics.add(.writeWait, since: start)
      log?.didBeginWrite(environment)
      return StoreTransaction(transaction: raw, state: WriteState(schema))
    }
  }

  /// Whether `schema` is the schema of the transaction.
  private func hasEpoch(
    of schema: StoreSchema,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
    return epoch == schema.epoch
  }

  /// Reads the schema that another program has changed.
  private func readSchemaAgain() throws {
    let fresh = try StoreOpening.readSchema(
      of: environment,
      models: models,
      options: options,
      log
    )
    schemas.withLock { $0 = fresh }
  }

  /// Whether `schema` is the schema of the snapshot.
  ///
  /// If another program has changed the schema, this reads the new schema and returns false. The
  /// caller then begins another transaction, because a transaction cannot use databases that were
  /// opened after it began. Caches the result for the snapshot's commit.
  private func isCurrent(
    _ schema: StoreSchema,
    in transaction: borrowing ReadTransaction
  ) throws
    -> Bool
  {
    let commit = transaction.id
    if schema.checkedCommit.load(ordering: .relaxed) == commit { return true }
    guard try hasEpoch(of: schema, transaction) else {
      try readSchemaAgain()
      return false
    }
    schema.checkedCommit.store(commit, ordering: .relaxed)
    return true
  }
}
