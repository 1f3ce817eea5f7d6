internal import DownloadStore
internal import DownloadSync
internal import DownloadURLSession
internal import ObjectStore

/// The way to repair the problems of a store's file.
enum RepairPlan: Sendable, Hashable {
  /// There is nothing that a repair of the file could change.
  case nothing
  /// Only indexes are damaged; they are rebuilt from the records.
  case rebuildIndexes
  /// Every readable object is copied into a new file.
  case salvage

  /// Chooses the least change that repairs problems of these kinds.
  ///
  /// Two objects with the same values in a unique index, and references to missing objects, are
  /// left to the user: a repair would have to delete an object or change a value.
  init(for kinds: some Sequence<VerificationReport.Problem.Kind>) {
    var plan = RepairPlan.nothing
    for kind in kinds {
      switch kind {
      case .page, .description, .record, .hotPart, .primaryKey, .history: plan = .salvage
      case .index where plan == .nothing, .column where plan == .nothing: plan = .rebuildIndexes
      case .index, .column, .uniqueness, .reference: break
      }
    }
    self = plan
  }
}

/// The repairs of `dlstore verify --repair`, and what they did.
struct StoreRepair {
  let path: String
  /// The number of entries of the rebuilt indexes; `nil` if none were rebuilt.
  private(set) var indexEntries: Int?
  /// The result of copying the objects into a new file; `nil` if that was not necessary.
  private(set) var salvage: (report: RepairReport, damagedFile: String)?
  /// The number of reconciled records; `nil` if the files needed no repair.
  private(set) var reconciled: Int?
  /// The number of deleted partial files without a record.
  private(set) var deletedOrphans = 0
  /// The failed repairs, each with its reason.
  private(set) var failures: [String] = []

  init(path: String) {
    self.path = path
  }

  /// Repairs what was found.
  ///
  /// - Throws: ``CommandFailure`` with `engineRuns` or `failed` if another process has the store
  ///   open; ``EngineError``; ``StoreError``. A repair that was completed before stays.
  mutating func run(_ found: StoreExamination, _ status: StatusLine) async throws {
    let plan = RepairPlan(for: found.store.problemCounts.keys)
    // Before anything is changed, so that no result of a repair goes unreported.
    if plan == .salvage || (found.files?.problemCount ?? 0) > 0 {
      try ClosedStore.refuseEngine(path)
    }
    switch plan {
    case .nothing: break
    case .rebuildIndexes:
      status.show("rebuilding the indexes")
      try rebuildIndexes()
    case .salvage: try salvageObjects(status)
    }
    let files = salvage == nil ? found.files : try StoreExamination(of: path, status).files
    guard let files, files.problemCount > 0 else { return }
    status.show("reconciling records and files")
    try await reconcile()
  }

  private mutating func rebuildIndexes() throws {
    do {
      indexEntries = try Store.rebuildIndexes(at: path)
    } catch let error as StoreError where error.code == .duplicateKey {
      failures.append("\(error): change or delete one of the objects")
    }
  }

  private mutating func salvageObjects(_ status: StatusLine) throws {
    status.show("copying the readable objects into a new file")
    salvage = try ClosedStore.perform(path) { try Store.repairInPlace(at: path) }
  }

  /// Does what `dlstore reconcile --apply` does, but keeps orphans beside a damaged file: records
  /// that only the damaged file has may own them.
  private mutating func reconcile() async throws {
    let store = try RecordStore(at: path, access: .readWrite)
    // The transport is only asked for its remaining tasks.
    let engine = try DownloadEngine(store: store, transport: URLSessionTransport())
    reconciled = try await engine.reconcileRecords().count
    let orphans = try store.orphanPlan()
    guard FileIdentity(ofFileAt: path + "/data.mdb.damaged") == nil else {
      if !orphans.files.isEmpty {
        failures.append(
          "\(orphans.files.count) partial files without a record were kept, because they may belong "
            + "to lost records: delete \(path)/data.mdb.damaged when nothing is missing, and repeat "
            + "the command"
        )
      }
      return
    }
    let report = try store.purge(orphans)
    deletedOrphans = report.files.count
    failures += PurgeReportText(report: report).messages
  }
}
