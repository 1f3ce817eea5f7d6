public import DownloadStore
internal import ObjectStore

/// One download of an engine, as its owner sees it.
///
/// A handle is a name and nothing more: it starts nothing, and whoever drops it stops nothing. It
/// follows the record that had the URL when the handle was made, also when that gets another URL.
public struct DownloadHandle: Sendable {
  /// The URL that the handle was made for.
  public let url: String
  /// The record's id; `nil` when no record had the URL when the handle was made.
  let recordID: String?
  let engine: DownloadEngine

  /// The id of the record to follow; `nil` when there is none yet.
  var currentRecordID: String? { recordID ?? engine.store.recordID(ofURL: url) }

  /// The events to ask for.
  func interest(_ recordID: String?) -> EventHub.Interest {
    recordID.map { .record(id: $0) } ?? .url(url)
  }

  /// What happens to this download, from this call on, for one consumer.
  ///
  /// As ``DownloadEngine/events(keeping:)``, with room for 64 events.
  public func events() -> DownloadEvents {
    let interest = interest(currentRecordID)
    return DownloadEvents(subscription: engine.hub.subscribe(to: interest, capacity: 64))
  }

  /// How far it is: at once, then whenever that has changed; the last element is of its end.
  ///
  /// - Parameter interval: The least time between two elements.
  /// - Returns: A sequence that ends with the download, or the engine's run.
  public func progress(every interval: Duration = .milliseconds(200)) -> ProgressChanges {
    ProgressChanges(handle: self, interval: interval)
  }

  /// Waits for the end, and returns the file; at once when it is complete already.
  ///
  /// A download that somebody holds has not ended: this waits for it to go on.
  ///
  /// - Throws: `DownloadFailure` when it failed for good; ``EngineError`` with `cancelled` when
  ///   somebody gave it up, with `stopped` when the engine's run ends before, with `fileMissing`
  ///   when it was complete and the file is not there any more; `CancellationError` when the task is
  ///   cancelled, which does not stop the download; `DownloadStoreError` with `unknownRecord`;
  ///   `StoreError`.
  public func value() async throws -> FinishedDownload {
    let known =
      if let recordID { try await record(recordID) } else { try await engine.current(url) }
    guard let id = known?.id else {
      throw DownloadStoreError(
        .unknownRecord,
        "no download has the URL '\(Redaction.url(url))'"
      )
    }
    while true {
      // From before the look, so that no end comes in between.
      let events = events()
      if let file = try await finished(id) { return file }
      let isRunning = await hasNews(events, of: id)
      try Task.checkCancellation()
      guard isRunning else { break }
    }
    // What was committed last may have had nobody left to tell of it.
    if let file = try await finished(id) { return file }
    throw EngineError(
      .stopped,
      "the engine stopped before \(Redaction.url(url)) had ended; it goes on with the next run"
    )
  }

  /// Waits for an end of the download, or for somebody to give it up; false when the run is over.
  ///
  /// An engine looks at a record that is held only when it is to go on, so that the store is asked
  /// whether it was given up.
  private func hasNews(_ events: DownloadEvents, of id: String) async -> Bool {
    // By id: a record that gets another URL is not gone.
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
          // The look that follows the next event throws it as well.
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

  /// The file, if the record says that it is complete; `nil` while the download goes on.
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
    EngineError(.cancelled, "somebody gave up the download of \(Redaction.url(url))")
  }
}

extension DownloadRecord {
  fileprivate var isCancelledOrRemoved: Bool { state == .cancelled || state == .removed }
}

/// A download whose file is under its name and synced.
public struct FinishedDownload: Sendable, Hashable {
  /// The record.
  public var record: DownloadRecord
  /// Where the file is.
  public var filePath: String

  /// Finds the file of a complete record.
  ///
  /// - Throws: ``EngineError`` with `fileMissing`; `DownloadStoreError` with `missingRoot`.
  init(_ record: DownloadRecord, in roots: Roots) throws {
    let layout = try roots.layout(of: record)
    guard FileInspection(of: record, in: layout).final != .missing else {
      throw EngineError(
        .fileMissing,
        "\(layout.finalPath) was complete and is not there any more; add the URL again to get it"
      )
    }
    self.record = record
    filePath = layout.finalPath
  }
}
