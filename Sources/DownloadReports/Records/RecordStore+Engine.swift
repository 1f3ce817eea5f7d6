package import DownloadStore
package import DownloadSync
internal import ObjectStore

/// The result of deleting the files of cancelled and removed downloads.
package struct DeletionOutcome: Sendable {
  /// The downloads that were examined here, because no engine ran.
  package var found: [Reconciliation] = []
  /// The downloads that the engine which runs has not handled yet.
  package var left: [DownloadRecord] = []
}

extension RecordStore {
  /// Deletes the files of cancelled and removed downloads, or waits for the engine that runs to do it.
  ///
  /// An engine that ends may have looked at the store before the command was given. The lock is therefore
  /// tried until it is free, or the files are deleted.
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - patience: How long to wait for an engine.
  /// - Returns: The downloads that were examined here, or that are left to the engine.
  /// - Throws: The errors of an engine, except that another one runs; `CancellationError`.
  package func deleteFiles(
    of urls: [String],
    patience: Duration = .seconds(2)
  ) async throws -> DeletionOutcome {
    let deadline = ContinuousClock.now.advanced(by: patience)
    var options = EngineOptions()
    options.scope = URLSet(urls)
    options.lockPatience = .zero
    var awaited = urls[...]
    while !urls.isEmpty {
      awaited = try await inBackground { [awaited] in try self.stillAwaited(awaited) }
      if awaited.isEmpty || (hasEngine && ContinuousClock.now >= deadline) {
        let left = try toBeDeleted(urls)
        if left.isEmpty || hasEngine { return DeletionOutcome(left: left) }
      }
      do {
        let engine = try DownloadEngine(
          store: self,
          transport: OfflineTransport(),
          options: options
        )
        return DeletionOutcome(found: try await engine.reconcileRecords())
      } catch let error as EngineError where error.code == .alreadyRunning {
        // The engine that holds the lock, in a run or for a command like this one, has been notified.
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    return DeletionOutcome()
  }

  /// Drops the first of some downloads, for whose deletion it is no use to wait.
  ///
  /// The files are deleted, or will be when their folder is there again.
  private func stillAwaited(_ urls: ArraySlice<String>) throws -> ArraySlice<String> {
    let roots = try roots()
    return try objects.read { tx in
      try urls.drop { url in
        guard let record = try tx.find(DownloadRecord.self, key: url), record.isToBeDeleted else {
          return true
        }
        return record.state == .removed
          && record.removalProblem(in: roots.possibleLayout(of: record)) != nil
      }
    }
  }

  private func toBeDeleted(_ urls: [String]) throws -> [DownloadRecord] {
    try objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }.filter(\.isToBeDeleted)
    }
  }
}
