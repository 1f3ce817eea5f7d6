internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The repairs of `dlstore verify --repair`, and what they did.
struct StoreRepair {
  /// The repairs of the store's file, and all failures.
  private(set) var store: StoreFileRepair
  /// The number of reconciled records; `nil` if the files needed no repair.
  private(set) var reconciled: Int?
  /// The number of deleted partial files without a record.
  private(set) var deletedOrphans = 0
  /// The finished files that were recognized again; `nil` if none had another identity.
  private(set) var accepted: AcceptedFiles?

  private var path: String { store.path }

  init(path: String) {
    store = StoreFileRepair(
      path: path,
      models: RecordStore.models,
      schemaVersion: RecordStore.options.schemaVersion
    )
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
    try store.run(plan, status)
    let files = store.salvage == nil ? found.files : try StoreExamination(of: path, status).files
    guard let files, files.problemCount > 0 else { return }
    status.show("reconciling records and files")
    try await reconcile()
  }

  /// Recognizes finished files that were copied or moved.
  ///
  /// - Throws: `StoreError`.
  mutating func acceptFiles(withoutDigest: Bool, _ status: StatusLine) throws {
    let records = try RecordStore(at: path, access: .readWrite)
    let files = try records.acceptFiles(withoutDigest: withoutDigest) { count in
      status.show("comparing finished files: \(count)")
    }
    accepted = files
    store.failures += files.readFailures
    if files.unprovenCount > 0 {
      let count = files.unprovenCount
      store.failures.append(
        "\(count) finished \(count == 1 ? "file has" : "files have") another inode or time, and no "
          + "digest that shows the contents: \(SuggestedCommand.text("verify --accept")) "
          + "recognizes what was copied or moved"
      )
    }
    store.failures += files.changedPaths.map { path in
      "\(path) was written to since its download, and no digest shows its contents: "
        + "\(SuggestedCommand.text("restart")) downloads it again, and "
        + "\(SuggestedCommand.text("remove")) keeps the file and forgets the download"
    }
    let repair = SuggestedCommand.text("verify-file --all --repair")
    let restart = SuggestedCommand.text("restart")
    store.failures += files.damagedPaths.map { path in
      // A repair keeps a file that has nothing of the download.
      let advice =
        files.unrecognizedPaths.contains(path)
        ? "\(restart) keeps it, and downloads the file again with another name"
        : "\(repair) downloads it again"
      return "\(path) has other contents than its download: \(advice)"
    }
  }

  /// Does what `dlstore reconcile --apply` does, but keeps orphans beside a damaged file: records
  /// that only the damaged file has may own them.
  private mutating func reconcile() async throws {
    let records = try RecordStore(at: path, access: .readWrite)
    let engine = try DownloadEngine(store: records, transport: OfflineTransport())
    reconciled = try await engine.reconcileRecords().count
    let orphans = try records.orphanPlan()
    guard FileIdentity(ofFileAt: path + "/data.mdb.damaged") == nil else {
      if !orphans.files.isEmpty {
        store.failures.append(
          "\(orphans.files.count) partial files without a record were kept, because they may belong "
            + "to lost records: delete \(path)/data.mdb.damaged when nothing is missing, and repeat "
            + "the command"
        )
      }
      return
    }
    let report = try records.purge(orphans)
    deletedOrphans = report.files.count
    store.failures += PurgeReportText(report: report).messages
  }
}
