public import DownloadStore
internal import ObjectStore

/// A reference to one download of an engine, to observe it and to wait for its file.
///
/// Creating a handle starts nothing, and releasing it stops nothing. The handle follows the record
/// that had the URL when the handle was created, even if the record's URL is replaced later.
///
/// ```swift
/// let handle = try await engine.download(DownloadRequest(url: "https://example.com/model.bin"))
/// let file = try await handle.value()
/// print(file.filePath)
/// ```
public struct DownloadHandle: Sendable {
  /// The URL that the handle was created for.
  public let url: String
  /// The record's id; `nil` if no record had the URL when the handle was created.
  let recordID: String?
  let engine: DownloadEngine

  /// The id of the record to follow; `nil` if there is none yet.
  var currentRecordID: String? { recordID ?? engine.store.recordID(ofURL: url) }

  /// The events to subscribe to.
  func interest(_ recordID: String?) -> EventHub.Interest {
    recordID.map { .record(id: $0) } ?? .url(url)
  }

  /// The events of this download from this call on, for one consumer.
  ///
  /// Like ``DownloadEngine/events(keeping:)`` with a buffer of 64 events. The last end of the
  /// download is never dropped.
  public func events() -> DownloadEvents {
    let interest = interest(currentRecordID)
    return DownloadEvents(subscription: engine.hub.subscribe(to: interest, capacity: 64))
  }

  /// Waits for the end of the download, and returns its file.
  ///
  /// Returns immediately if the download is complete. A paused or held download has not ended: this
  /// method waits until the user resumes it.
  ///
  /// - Throws: `DownloadFailure` if the download failed permanently; ``EngineError`` with
  ///   `cancelled` if the user cancelled or removed it, with `stopped` if the engine's run ended
  ///   first, with `fileMissing` if the download is complete but its file does not exist;
  ///   `CancellationError` if the task was cancelled, which does not stop the download;
  ///   `RecordStoreError` with `unknownRecord` if no record has the URL; `StoreError`.
  public func value() async throws -> FinishedDownload {
    let known =
      if let recordID { try await record(recordID) } else { try await engine.current(url) }
    guard let id = known?.id else {
      throw RecordStoreError(
        .unknownRecord,
        "no download has the URL '\(Redaction.argument(url))'"
      )
    }
    while true {
      // Subscribe before reading the record, so that an end between the two is not missed.
      let events = events()
      if let file = try await finished(id) { return file }
      let isRunning = await hasNews(events, of: id)
      try Task.checkCancellation()
      guard isRunning else { break }
    }
    // The last commit of a run may have been made without an event.
    if let file = try await finished(id) { return file }
    throw EngineError(
      .stopped,
      "the engine stopped before \(Redaction.url(url)) was downloaded; the next run continues it"
    )
  }

  /// Waits for the end of the download; false if the run ended first.
  ///
  /// The engine emits no event when a download that is neither running nor queued is cancelled or
  /// removed, so this observes the store as well.
  private func hasNews(_ events: DownloadEvents, of id: String) async -> Bool {
    // By id, because the record still exists after its URL was replaced.
    let record = DownloadRecord.where { $0.id == id }
    let changes = engine.store.objects.observe(record, fields: [\.state])
    return await withTaskGroup(of: Bool?.self) { group in
      group.addTask { await events.contains(where: \.isEnd) }
      group.addTask {
        do {
          for try await change in changes
          where change.snapshot.allSatisfy(\.isCancelledOrRemoved) {
            return true
          }
        } catch {
          // Reading the record after the next event throws the same error.
        }
        return nil
      }
      for await news in group {
        guard let news else { continue }
        group.cancelAll()
        return news
      }
      return false
    }
  }

  /// The file of a completed download; `nil` if the download has not ended.
  ///
  /// - Throws: The error of ``value()`` if the download has ended without a file.
  private func finished(_ id: String) async throws -> FinishedDownload? {
    guard let record = try await record(id) else { throw cancelled }
    switch record.state {
    case .completed: return try FinishedDownload(record, in: engine.store.roots())
    case .failedPermanent:
      throw record.attempts.last?.failure ?? DownloadFailure(.unknown, "the download failed")
    case .cancelled, .removed: throw cancelled
    case .waiting, .running, .paused, .failedRetryable, .finalizing: return nil
    }
  }

  private func record(_ id: String) async throws -> DownloadRecord? {
    try await engine.store.objects.read { tx in
      try tx.first(DownloadRecord.where { $0.id == id })
    }
  }

  private var cancelled: EngineError {
    EngineError(.cancelled, "the download of \(Redaction.url(url)) was cancelled or removed")
  }
}

extension DownloadRecord {
  fileprivate var isCancelledOrRemoved: Bool { state.isGone }
}

/// A completed download, whose file is synced and has its final name.
///
/// ```swift
/// let file = try await engine.handle(forURL: "https://example.com/model.bin").value()
/// print(file.filePath, file.record.verifiedDigest ?? "not verified")
/// ```
public struct FinishedDownload: Sendable, Hashable {
  /// The record as stored.
  public var record: DownloadRecord
  /// The path of the file.
  public var filePath: String

  /// Finds the file of a completed record.
  ///
  /// - Throws: ``EngineError`` with `fileMissing` if the file does not exist; `RecordStoreError`
  ///   with `missingRoot` if the record's root is unknown.
  init(_ record: DownloadRecord, in roots: Roots) throws {
    let layout = try roots.layout(of: record)
    guard FileInspection(of: record, in: layout).final != .missing else {
      throw EngineError(
        .fileMissing,
        "the downloaded file \(layout.finalPath) no longer exists; add the URL again to download it"
      )
    }
    self.record = record
    filePath = layout.finalPath
  }
}
