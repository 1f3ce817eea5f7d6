internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

// What every step of the loop uses: the commit, the record as stored, the settings of decisions. No
// function of this file calls one of another.

extension DownloadEngine {
  /// Commits a transaction of the engine on a background thread.
  ///
  /// - Throws: ``EngineError`` with `diskFull` if the disk of the store is full; `StoreError`; the
  ///   error of `body`.
  @discardableResult
  func commit<R: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> R
  ) async throws -> R {
    do {
      return try await environment.blocking { [store, ownWrites, environment] in
        try environment.faultInjector?.checkCommit()
        return try store.objects.write(withoutNotifying: ownWrites, body)
      }
    } catch let error as StoreError where error.code == .diskFull {
      throw EngineError(
        .diskFull,
        "the disk with the store is full; free some space and run again: \(error.message)"
      )
    }
  }

  func log(_ message: Logger.Message, _ record: DownloadRecord, _ more: [String: String] = [:]) {
    logger?.debug(
      message,
      metadata: Logger.Metadata(
        uniqueKeysWithValues: [("record", "\(record.id)")]
          + more.map { ($0.key, Logger.MetadataValue.string($0.value)) }
      )
    )
  }

  /// Returns the stored record with a URL.
  func current(_ url: String) async throws -> DownloadRecord? {
    try await store.objects.read { tx in try tx.find(DownloadRecord.self, key: url) }
  }

  /// Whether the engine runs a download: all, or those of its scope and those for which another
  /// process waits.
  func isInScope(_ record: DownloadRecord) -> Bool {
    options.isOwn(record.url) || joined.contains(record.id)
  }

  /// Whether tasks hold the received bytes until they end, and leave resume data.
  var takesResumeData: Bool { transport is any BackgroundTransport }

  /// The inputs of a decision other than the record, its files and its task.
  var policy: ReconcilePolicy {
    ReconcilePolicy(
      takesResumeData: takesResumeData,
      continuesUnvalidated: options.continuesUnvalidated,
      retry: options.retry
    )
  }

  /// Deletes the partial file of a record, unless its path leads out of the root.
  ///
  /// Every stored name was validated; damage or another program may have changed it since.
  @discardableResult
  func removePartial(_ layout: FileLayout) -> FilePlacement.Removal {
    layout.isBelowRoot ? placement.removePartial(layout.partialPath) : .missing
  }

  /// Syncs the folders of files on a background thread, and returns the failures by folder.
  func synchronizeFolders(
    of layouts: [FileLayout]
  ) async throws -> [StoredText: PartialFile.Failure] {
    guard !layouts.isEmpty else { return [:] }
    return try await environment.blocking { [finalizer] in
      finalizer.synchronizeFolders(of: layouts)
    }
  }

  /// Deletes the partial file of a download whose finished file stays, and syncs the folder.
  ///
  /// In a folder that does not permit this, as one that has refused the rename, the file is emptied:
  /// nothing would use its bytes, which no record counts. The next refresh deletes its name.
  ///
  /// To be done before the commit that ends the refresh: no later process examines the files of a
  /// finished record, so the partial file must not come back after a power failure. Its bytes are
  /// uncounted before that, because a kill may leave the record as it is.
  ///
  /// - Returns: The failure of the sync.
  func discardPartial(
    of key: TransferKey,
    _ layout: FileLayout
  ) async throws -> PartialFile.Failure? {
    let moment = now()
    try await commit { tx in
      try tx.update(key, if: { $0.received > 0 }) { $0.rollBack(to: 0, at: moment) }
    }
    if case .refused(.failed(_)) = removePartial(layout) {
      placement.cutPartial(layout.partialPath, to: 0)
    }
    return try await synchronizeFolders(of: [layout])[StoredText(layout.folderPath)]
  }

  /// Notifies interceptors and observers that the finished file has its final name.
  func emitCompleted(_ record: DownloadRecord, head: ResponseHead? = nil) {
    let response = DownloadResponse(
      record: record,
      head: head,
      // If the root folder no longer exists, neither does the file.
      filePath: try? locations.layout(of: record).finalPath
    )
    dispatcher.emitEnd(.completed(record), response)
  }
}
