internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

/// Downloads that other commands have changed while a command waited for them, so that it ends without
/// their files.
struct LostDownloads {
  /// The ids of the downloads by the URLs that they had.
  private var ids: [String: String] = [:]
  /// Those of them that were asking for a newer version, by URL.
  private var refreshes: [String: DownloadRecord] = [:]

  /// Notes a download for which the command waits.
  mutating func note(_ record: DownloadRecord) {
    ids[record.url] = record.id
    if record.refreshed != nil { refreshes[record.url] = record }
  }

  /// Whether another command has cancelled the refresh for which the command waited.
  func hasCancelledRefresh(_ record: DownloadRecord) -> Bool {
    guard let queued = refreshes[record.url], queued.id == record.id else { return false }
    return record.hasCancelledRefresh(since: queued)
      // Not carried out yet.
      || record.refreshed != nil && record.intent == .cancel
  }

  /// Returns a sentence for each download that has not ended by itself.
  ///
  /// - Parameter store: The store, when the waiting has ended.
  /// - Returns: The sentences, in the order of the URLs.
  /// - Throws: `StoreError`.
  func messages(in store: RecordStore) throws -> [String] {
    let records = try store.records(withURLs: ids.keys.sorted())
    let found = Dictionary(uniqueKeysWithValues: records.map { ($0.url, $0) })
    return ids.sorted { $0.key < $1.key }.compactMap { url, id in
      if let record = found[url], record.id == id {
        return message(of: record)
      }
      let name = Redaction.url(url)
      guard let record = try? store.record(matching: id), record.id == id, record.state != .removed
      else { return "\(name) was removed by another command" }
      return "\(name) was given the URL \(Redaction.url(record.url)) by another command; "
        + "\(SuggestedCommand.text("run --until-idle")), or 'get' with that URL, continues it"
    }
  }

  private func message(of record: DownloadRecord) -> String? {
    let name = TerminalText.safe(record.filename)
    if hasCancelledRefresh(record) {
      return "the refresh of \(name) was cancelled by another command, and the finished file "
        + "stays; \(SuggestedCommand.text("refresh \(record.id)")) asks the server again"
    }
    if record.intent == .cancel || record.state == .cancelled {
      return "\(name) was cancelled by another command; "
        + "\(SuggestedCommand.text("resume \(record.id)")) starts it again"
    }
    if record.intent == .remove || record.state == .removed {
      return "\(name) was removed by another command"
    }
    switch record.state {
    case .completed, .failedPermanent: return nil
    case .paused:
      return "\(name) was paused by another command; "
        + "\(SuggestedCommand.text("resume \(record.id)")) continues it"
    case .waiting, .running, .failedRetryable, .finalizing, .cancelled, .removed:
      return "\(name) is not complete, because another command has changed it; the same command "
        + "continues it"
    }
  }
}
