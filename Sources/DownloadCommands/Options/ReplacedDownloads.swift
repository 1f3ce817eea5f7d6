internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

/// The completed downloads that `--if-exists replace`, or `allow-overwrite` of an input file, downloads
/// again.
///
/// Their finished files have the names that the user wants to replace. They stay until the new ones
/// replace them.
struct ReplacedDownloads: Sendable {
  private var urls: Set<StoredText> = []
  /// The URLs of the downloads whose files are not the downloaded ones, and stay.
  private var foreign: Set<StoredText> = []

  /// Restarts the known downloads that are complete.
  ///
  /// - Parameters:
  ///   - additions: The downloads that a command has added.
  ///   - requests: Their requests, in the same order; those that are paused restart none.
  ///   - store: The store.
  /// - Throws: `StoreError`.
  init(
    of additions: [RecordStore.Added],
    _ requests: [DownloadRequest],
    in store: RecordStore
  ) throws {
    let records = zip(additions, requests).filter { added, request in
      request.collision == .replace && !request.isPaused && !added.isNew
        && added.record.state == .completed
    }.map(\.0.record)
    guard !records.isEmpty else { return }
    try store.apply(.restart, to: .matching(records.map(\.url)))
    urls = Set(records.map { StoredText($0.url) })
    foreign = Set(records.filter(\.hasForeignFile).map { StoredText($0.url) })
  }

  /// Whether a download was restarted.
  func contains(_ record: DownloadRecord) -> Bool { urls.contains(StoredText(record.url)) }

  /// Says that a download was restarted; `nil` if it was not.
  func message(of record: DownloadRecord, _ roots: Roots) -> String? {
    guard contains(record) else { return nil }
    let path = DownloadEntry(record, roots).localPath ?? record.filename
    guard !foreign.contains(StoredText(record.url)) else {
      return "kept \(path): it is not the downloaded file, so the download gets another name"
    }
    return "replacing \(path): it is downloaded again, and stays until then"
  }
}
