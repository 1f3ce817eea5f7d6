internal import DownloadStore
internal import Foundation
internal import ObjectStore

extension DownloadEngine {
  /// Reconciles the records that no transfer works for and that are not just waiting: transfers and
  /// renames of a previous engine, and downloads that the user has given up.
  ///
  /// A waiting download is reconciled when it starts. So this costs O(interrupted), however many
  /// wait, and reads a page of records at a time. With ``EngineOptions/scope`` it reads exactly these
  /// records, and enqueues those that may start.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func reconcileInterrupted() async throws {
    guard options.scope == nil else {
      _ = try await reconcileAtLaunch()
      return
    }
    for query in Self.interrupted {
      var token: PageToken?
      repeat {
        let page = try await store.objects.read { [token, size = options.queueBounds.page] tx in
          try tx.page(query, size: size, after: token)
        }
        token = page.next
        _ = try await reconcile(page.objects)
      } while token != nil
    }
    if options.previousExit == .crashed { try await enqueueSuspects() }
    queue.readStore()
  }

  /// Returns which downloads the previous process was transferring when it crashed.
  ///
  /// Those are the records that it left as `running`: an engine that ends otherwise leaves none, and
  /// so does the next one after a kill, before it starts any transfer.
  func crashScope() async throws -> CrashScope {
    guard options.previousExit == .crashed else { return .none }
    let count = try await store.objects.read { [scope = options.scope] tx in
      guard let scope else { return try tx.count(DownloadRecord.where { $0.state == .running }) }
      return try scope.sorted().compactMap { try tx.find(DownloadRecord.self, key: $0) }
        .count { $0.state == .running }
    }
    return CrashScope(runningCount: count)
  }

  /// The queries for records that are neither finished nor just waiting, each through an index.
  ///
  /// Downloads that were running come first: they start before the others of their priority.
  static let interrupted: [Query<DownloadRecord>] =
    [.running, .finalizing, .removed].map { state in DownloadRecord.where { $0.state == state } }
    + [DownloadState.waiting, .failedRetryable].flatMap { state in
      [DownloadIntent.pause, .cancel, .remove].map { intent in
        // The order of the index, so that each page costs only its own records.
        DownloadRecord.where { $0.state == state && $0.intent == intent }
          .order(by: \.isHeld).order(by: \.startsImmediately).order(by: \.priority)
          .order(by: \.notBefore).order(by: \.nextRetryAt)
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
}
