internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

// What a run begins with: the records that a previous process left.

extension DownloadEngine {
  /// Reconciles the records that no transfer works for and that are not just waiting: transfers and
  /// renames of a previous engine, and downloads that the user has given up.
  ///
  /// A waiting download is reconciled when it starts. So this costs O(interrupted), however many
  /// wait, and reads a page of records at a time. With ``EngineOptions/scope`` it reads these records,
  /// and enqueues those that may start. No other engine runs beside it, so it also deletes the files of
  /// the downloads that were given up and are not in the scope.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func reconcileInterrupted() async throws {
    guard options.scope == nil else {
      _ = try await reconcileAtLaunch()
      return try await reconcile(Self.givenUp)
    }
    try await reconcile(Self.interrupted)
    if options.previousExit == .crashed { try await enqueueSuspects() }
    queue.readStore()
  }

  /// Reconciles the records of some queries, a page at a time.
  private func reconcile(_ queries: [Query<DownloadRecord>]) async throws {
    for query in queries {
      var token: PageToken?
      repeat {
        let page = try await store.objects.read { [token, size = options.queueBounds.page] tx in
          try tx.page(query, size: size, after: token)
        }
        token = page.next
        _ = try await reconcile(page.objects)
      } while token != nil
    }
  }

  /// Takes up the downloads for which further processes wait, and enqueues those that may run.
  ///
  /// Has no effect if the engine runs all downloads anyway. Costs a system call if no process waits.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func join() async throws {
    guard options.scope != nil else { return }
    let ids = joined.readNew(in: store.path)
    guard !ids.isEmpty else { return }
    let records = try await store.objects.read { tx in
      try ids.compactMap { id in try tx.first(DownloadRecord.where { $0.id == id }) }
        .filter(\.state.isActive)
    }
    _ = try await reconcile(records)
  }

  /// Returns which downloads the previous process was transferring when it crashed.
  ///
  /// Those are the records that it left as `running`: an engine that ends otherwise leaves none, and
  /// so does the next one after a kill, before it starts any transfer.
  func crashScope() async throws -> CrashScope {
    guard options.previousExit == .crashed else { return .none }
    let count = try await store.objects.read { [scope = options.scope] tx in
      guard let scope else { return try tx.count(DownloadRecord.where { $0.state == .running }) }
      return try tx.fetch(DownloadRecord.where { $0.url.isIn(scope.urls) })
        .count { $0.state == .running }
    }
    return CrashScope(runningCount: count)
  }

  /// The queries for records that are neither finished nor just waiting, each through an index.
  ///
  /// Downloads that were running come first: they start before the others of their priority.
  static let interrupted: [Query<DownloadRecord>] =
    [.running, .finalizing, .removed].map { state in DownloadRecord.where { $0.state == state } }
    + queries(DownloadState.awaitingStart, [.pause, .cancel, .remove])

  /// The queries for records that were cancelled or removed and whose files are not deleted yet, each
  /// through an index.
  private static let givenUp: [Query<DownloadRecord>] =
    [DownloadRecord.where { $0.state == .removed }]
    + queries(DownloadState.proceeding, [.cancel, .remove])

  private static func queries(
    _ states: [DownloadState],
    _ intents: [DownloadIntent]
  ) -> [Query<DownloadRecord>] {
    states.flatMap { state in
      intents.map { intent in
        // The order of the index, so that each page costs only its own records.
        DownloadRecord.where { $0.state == state && $0.intent == intent }
          .order(by: \.isHeld).order(by: \.startsImmediately).order(by: \.priority)
          .order(by: \.notBefore).order(by: \.nextRetryAt)
      }
    }
  }

  /// Enqueues the downloads that may have crashed the previous process, wherever they wait.
  ///
  /// Reads the hot fields of all records.
  private func enqueueSuspects() async throws {
    let suspects = try await store.objects.read { tx in
      try tx.fetch(DownloadRecord.where { $0.unresolvedStarts > 0 })
    }
    for record in suspects { enqueue(record) }
  }

  /// Deletes the partial files of cancelled downloads.
  ///
  /// A download that is cancelled while its volume is away leaves its file there, because a folder
  /// without the file looks the same as a volume without it. The first engine for all downloads that
  /// finds the file deletes it.
  ///
  /// Costs one attempt to open a file for each cancelled download; an engine for some downloads, as
  /// `get` runs it, does not look. A file that another process uses, or that cannot be deleted, is left
  /// to the next engine.
  ///
  /// - Throws: `StoreError`.
  func deleteLeftFiles() async throws {
    guard options.scope == nil else { return }
    let query = DownloadRecord.where { $0.state == .cancelled }
    var token: PageToken?
    repeat {
      let page = try await store.objects.read { [token, size = options.queueBounds.page] tx in
        try tx.page(query, size: size, after: token)
      }
      token = page.next
      for record in page.objects {
        guard let layout = try? locations.layout(of: record),
          removePartial(layout) == .removed
        else { continue }
        log("partial file of a cancelled download deleted", record)
      }
    } while token != nil
  }

  /// Reconciles all active records of the scope that have no task, and enqueues those that may run.
  ///
  /// Costs O(active), or O(scope): finished records are not read.
  ///
  /// - Parameters:
  ///   - ids: The ids of records to skip.
  ///   - checksPieces: Whether changed partial files are read now, and not before their downloads
  ///     start.
  /// - Returns: The state and the decision of each record.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func reconcileAtLaunch(
    leavingOut ids: Set<String> = [],
    checksPieces: Bool = false
  ) async throws -> [Reconciliation] {
    let records = try await store.objects.read { [scope = options.scope] tx in
      if let scope {
        // In the order in which they were added, as all downloads.
        return try tx.fetch(DownloadRecord.where { $0.url.isIn(scope.urls) })
          .filter(\.state.isActive)
      }
      return try tx.fetch(DownloadRecord.where { $0.state.isIn(DownloadState.active) })
    }
    return try await reconcile(
      records.filter { !ids.contains($0.id) },
      checksPieces: checksPieces
    )
  }

  /// Reconciles those of some records that have no transfer, and enqueues those that may run.
  func reconcile(
    _ records: [DownloadRecord],
    checksPieces: Bool = false
  ) async throws -> [Reconciliation] {
    // A record with a transfer is reconciled when the transfer has ended.
    let found = Reconciliation.of(
      try await failingUnplaced(records.filter { !isOccupied($0) }),
      in: locations.roots,
      now: now(),
      policy: policy
    )
    let withheld = try await execute(
      found,
      counting: checksPieces ? try await checkPieces(of: found) : [:]
    )
    try await completeFiles()
    return found.map { found in
      var found = found
      switch withheld[found.record.id] {
      case .partialInUse: found.isPartialInUse = true
      case .undeleted(let failure): found.deletionFailure = failure.asDownloadFailure
      case .unreachable(let problem): found.unreachableFolder = problem
      case nil: break
      }
      return found
    }
  }

  /// Fails those of some downloads that would continue although their root is unknown or the folder with
  /// their bytes is missing, and returns the others.
  ///
  /// Another program may have stored a record with an unknown root. It must not stop the others.
  private func failingUnplaced(_ records: [DownloadRecord]) async throws -> [DownloadRecord] {
    try locations.update(for: records, in: store)
    let unplaced = records.filter { record in
      record.awaitsAttempt && DownloadFailure(unplaced: record, in: locations.roots) != nil
    }
    for record in unplaced { try await failUnplaced(record) }
    let ids = Set(unplaced.map(\.id))
    return ids.isEmpty ? records : records.filter { !ids.contains($0.id) }
  }

  /// Reads the partial files whose pieces are to be checked, for an engine that does not run.
  ///
  /// Costs one read of each of these files. A request to stop ends the check.
  ///
  /// - Returns: By record id, the bytes whose pieces have their digests. Files that could not be
  ///   read to their end are missing.
  private func checkPieces(of found: [Reconciliation]) async throws -> [String: ByteRanges] {
    var correct: [String: ByteRanges] = [:]
    for found in found where found.effects.partial == .check {
      let digests = try await store.objects.read { tx in
        try tx.find(PieceDigests.self, key: found.record.id)
      }
      var check = PieceCheck(ofFileAt: found.layout.partialPath, digests)
      while let part = check.next {
        guard !inbox.hasStopRequest else { return correct }
        check.note(
          try await environment.blocking { Result { () throws(FileReadError) in try part.read() } }
        )
      }
      if check.temporaryFailure == nil { correct[found.record.id] = check.correct }
    }
    return correct
  }
}
