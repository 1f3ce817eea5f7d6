internal import DownloadStore

/// The checksums that `get --refresh` requires of the current versions of finished files.
///
/// Added with its request, a checksum that the finished file does not have would restart the download,
/// which leaves no way back to that file. A refresh has one.
struct RefreshDigests {
  private var digests: [StoredText: Digest] = [:]

  /// Takes the checksums out of the requests whose finished files are in their places.
  ///
  /// - Throws: `StoreError`.
  init(takenFrom requests: inout [DownloadRequest], in store: RecordStore) throws {
    let roots = try store.roots()
    for (index, known) in try store.records(of: requests).enumerated() {
      guard let known, known.state == .completed, known.isRefreshable,
        !requests[index].isFromDocument, let layout = try? roots.layout(of: known),
        FileInspection.final(of: known, in: layout) == .ours
      else { continue }
      digests[StoredText(known.url)] = requests[index].digest
      requests[index].digest = nil
    }
  }

  /// No checksums: a refresh requires what the download requires.
  init() {}

  /// Requests the refresh of a finished file, and returns the record; `nil` if it is not refreshed.
  ///
  /// - Throws: `StoreError`.
  func refreshed(_ record: DownloadRecord, in store: RecordStore) throws -> DownloadRecord? {
    guard record.state == .completed else { return nil }
    let outcomes = try store.apply(.refresh, to: .named([record.url])) {
      digests[StoredText($0.url)]
    }
    return outcomes.first { $0.isDone }?.record
  }
}
