/// Adds up what was read: proof that it was, and that it was the right thing.
struct Digest: Sendable, Hashable {
  private(set) var count = 0
  /// Of all texts, tags and blobs, in UTF-8.
  private(set) var bytes = 0
  private(set) var received: Int64 = 0

  init() {}

  init(count: Int, bytes: Int, received: Int64) {
    self.count = count
    self.bytes = bytes
    self.received = received
  }

  init(_ downloads: some Sequence<Download>) {
    for download in downloads { add(download) }
  }

  mutating func add(_ download: Download) {
    count += 1
    received &+= download.received
    bytes +=
      download.url.utf8.count + download.name.utf8.count + download.destination.utf8.count
      + download.type.utf8.count + (download.entityTag?.utf8.count ?? 0)
      + (download.resumeBlob?.count ?? 0)
    for tag in download.tags { bytes += tag.utf8.count }
  }
}
