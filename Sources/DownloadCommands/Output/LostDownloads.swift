internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

/// Downloads that other commands have changed while a command waited for them, so that it ends without
/// their files.
struct LostDownloads {
  /// The ids of the downloads by the URLs that they had.
  private var ids: [String: String] = [:]

  /// Notes a download for which the command waits.
  mutating func note(_ record: DownloadRecord) { ids[record.url] = record.id }

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
        return Self.message(of: record)
      }
      let name = Redaction.url(url)
      guard let record = try? store.record(matching: id), record.id == id, record.state != .removed
      else { return "\(name) was removed by another command" }
      return "\(name) was given the URL \(Redaction.url(record.url)) by another command; "
        + "\(SuggestedCommand.text("run --until-idle")), or 'get' with that URL, continues it"
    }
  }

  private static func message(of record: DownloadRecord) -> String? {
    let name = TerminalText.safe(record.filename)
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
