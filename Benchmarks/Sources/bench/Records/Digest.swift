/// Sums over the records read, which prove that the right records were read.
struct Digest: Sendable, Hashable {
  private(set) var count = 0
  /// The total length of all strings (in UTF-8), tags and blobs.
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
