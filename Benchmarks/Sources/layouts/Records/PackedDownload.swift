import Foundation

/// A record packed by hand: scalars first, what changes most at their front, then the lengths of
/// the texts, the texts, the tags and the blob.
///
/// It stands for what a typed layer can reach at best: nothing is versioned, checked or named.
struct PackedDownload {
  /// received, updatedAt, resolvedBytes, unresolvedStarts.
  static let progressSize = 28
  /// All scalars.
  static let scalarSize = 80
  private static let textCount = 7
  /// Where the texts begin, of which the URL is the first.
  static let urlStart = scalarSize + 2 * textCount + 2 + 4

  private(set) var bytes: [UInt8] = []
  private(set) var urlEnd = 0

  /// Takes the place of the record that was packed before, in the same memory.
  mutating func pack(_ download: Download) {
    bytes.removeAll(keepingCapacity: true)
    pack(download.progress)
    append(download.expected ?? -1)
    append(download.generation)
    append(download.createdAt)
    append(download.completedAt)
    append(download.nextRetryAt)
    append(download.priority)
    append(download.failedAttempts)
    append(download.state)
    append(download.intent)
    append(download.isHeldByHand ? 1 as UInt8 : 0)
    append(download.hasHeaders ? 1 as UInt8 : 0)
    let texts = [
      download.url, download.id, download.filename, download.folder, download.destination,
      download.type, download.entityTag ?? "",
    ]
    for text in texts { append(UInt16(text.utf8.count)) }
    append(UInt16(download.tags.count))
    append(Int32(download.resumeBlob?.count ?? -1))
    urlEnd = Self.urlStart + download.url.utf8.count
    for text in texts { bytes.append(contentsOf: text.utf8) }
    for tag in download.tags {
      append(UInt16(tag.utf8.count))
      bytes.append(contentsOf: tag.utf8)
    }
    if let blob = download.resumeBlob { bytes.append(contentsOf: blob) }
  }

  private mutating func pack(_ progress: Download.Progress) {
    append(progress.received)
    append(progress.updatedAt)
    append(progress.resolvedBytes)
    append(progress.unresolvedStarts)
  }

  private mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ date: Date?) {
    append((date?.timeIntervalSinceReferenceDate ?? .nan).bitPattern)
  }

  // MARK: In place

  /// Writes progress over that at the front of a packed record, or of its hot part.
  static func apply(_ progress: Download.Progress, to bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: progress.received, toByteOffset: 0, as: Int64.self)
      unsafe bytes.storeBytes(
        of: progress.updatedAt.timeIntervalSinceReferenceDate,
        toByteOffset: 8,
        as: Double.self
      )
      unsafe bytes.storeBytes(of: progress.resolvedBytes, toByteOffset: 16, as: Int64.self)
      unsafe bytes.storeBytes(of: progress.unresolvedStarts, toByteOffset: 24, as: Int32.self)
    }
  }

  /// The received bytes of a packed record, or of its hot part.
  static func received(_ bytes: Span<UInt8>) -> Int64 {
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: Int64.self) }
  }

  /// Whether a packed record without its first `hotSize` bytes is that of the URL.
  static func isRecord(_ bytes: Span<UInt8>, of url: Span<UInt8>, hotSize: Int = 0) -> Bool {
    let start = urlStart - hotSize
    guard bytes.count >= start + url.count else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
      let length = unsafe bytes.loadUnaligned(
        fromByteOffset: scalarSize - hotSize,
        as: UInt16.self
      )
      guard Int(length) == url.count else { return false }
      guard let first = bytes.baseAddress else { return false }
      return unsafe url.withUnsafeBytes { url in
        guard let other = url.baseAddress else { return true }
        return unsafe memcmp(first + start, other, url.count) == 0
      }
    }
  }
}
