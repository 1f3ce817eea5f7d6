internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// Downloads that other commands have changed while a command waited for them, so that it ends without
/// their files.
struct LostDownloads {
  /// The downloads, with the refreshes that they were asking for, by the URLs that they had.
  private var noted: [StoredText: (id: String, refresh: DownloadRecord.QueuedRefresh?)] = [:]

  /// Notes a download for which the command waits.
  mutating func note(_ record: DownloadRecord) {
    noted[StoredText(record.url)] = (record.id, record.queuedRefresh)
  }

  /// Whether another command has cancelled the refresh for which the command waited.
  func hasCancelledRefresh(_ record: DownloadRecord) -> Bool {
    guard let noted = noted[StoredText(record.url)], noted.id == record.id,
      let refresh = noted.refresh
    else { return false }
    return record.hasCancelled(refresh)
      // Not carried out yet.
      || record.refreshed != nil && record.intent == .cancel
  }

  /// Returns a sentence for each download that has not ended by itself.
  ///
  /// - Parameter store: The store, when the waiting has ended.
  /// - Returns: The sentences, in the order of the URLs.
  /// - Throws: `StoreError`.
  func messages(in store: RecordStore) throws -> [String] {
    let records = try store.records(withURLs: noted.keys.map(\.text))
    let found = Dictionary(uniqueKeysWithValues: records.map { (StoredText($0.url), $0) })
    let roots = try store.roots()
    return try noted.sorted { $0.key.text < $1.key.text }.compactMap { url, noted in
      let id = noted.id
      if let record = found[url], record.id == id {
        return message(of: DownloadEntry(record, roots))
      }
      let name = Redaction.url(url.text)
      let moved = try store.records(DownloadRecord.where { $0.id == id && $0.state != .removed })
      guard let record = moved.first else { return "\(name) was removed by another command" }
      return "\(name) was given the URL \(Redaction.url(record.url)) by another command; "
        + "\(SuggestedCommand.text("run --until-idle")), or 'get' with that URL, continues it"
    }
  }

  private func message(of entry: DownloadEntry) -> String? {
    let record = entry.record
    let name = TerminalText.safe(record.filename)
    if hasCancelledRefresh(record) {
      return "the refresh of \(name) was cancelled by another command, and "
        + "\(entry.finishedFileText); \(SuggestedCommand.text("refresh \(record.id)")) asks the "
        + "server again"
    }
    if record.intent == .remove || record.state == .removed {
      return "\(name) was removed by another command"
    }
    guard let command = record.continuingCommand else { return nil }
    if record.intent == .cancel || record.state == .cancelled {
      return "\(name) was cancelled by another command; \(command) starts it again"
    }
    switch record.state {
    case .completed, .failedPermanent: return nil
    case .paused: return "\(name) was paused by another command; \(command) continues it"
    case .waiting where record.isHeld:
      return "\(name) was held for another download; \(command) continues it"
    case .waiting, .running, .failedRetryable, .finalizing, .cancelled, .removed:
      return "\(name) is not complete, because another command has changed it; the same command "
        + "continues it"
    }
  }
}
