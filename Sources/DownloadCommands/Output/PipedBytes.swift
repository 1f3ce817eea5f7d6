internal import DownloadStore
internal import Foundation

/// The bytes of a download that a worker writes to standard output, after those of an earlier worker
/// that has crashed.
///
/// The download may have begun again since, with another version of the file. So the bytes that were
/// written are read once more and compared by their digest, whose state cannot be stored.
///
/// Pure.
struct PipedBytes {
  /// The first bytes of a download.
  struct Prefix: Sendable, Equatable {
    /// The algorithm of the digest.
    static let algorithm = Digest.Algorithm.sha256
    /// The length of ``encoded`` in bytes.
    static let encodedLength = 8 + 64

    /// The number of bytes.
    var byteCount: Int64
    var digest: Digest

    /// Creates a prefix.
    init(byteCount: Int64, digest: Digest) {
      self.byteCount = byteCount
      self.digest = digest
    }

    /// Decodes a prefix; `nil` for other bytes.
    init?(encoded bytes: [UInt8]) {
      guard bytes.count == Self.encodedLength else { return nil }
      let count = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let hexadecimal = String(decoding: bytes.dropFirst(8), as: UTF8.self)
      guard let byteCount = Int64(exactly: count),
        let digest = try? Digest("\(Self.algorithm.rawValue):\(hexadecimal)")
      else { return nil }
      self.init(byteCount: byteCount, digest: digest)
    }

    /// The number, then the digits of the digest.
    var encoded: [UInt8] {
      (0..<8).map { UInt8(truncatingIfNeeded: byteCount >> Int64(8 * $0)) }
        + Array(digest.hexadecimal.utf8)
    }
  }

  /// The number of bytes that earlier workers have written.
  private let written: Int64
  /// Those and the bytes that the last of them was going to write; `nil` if they are unknown.
  private let announced: Prefix?
  private var hasher = DigestHasher(Prefix.algorithm)
  /// The bytes after those that were written, which are not compared yet.
  private var held = Data()

  /// Creates the state of a worker that begins with the first byte.
  ///
  /// - Parameters:
  ///   - written: The number of bytes that earlier workers have written.
  ///   - announced: Those and the bytes that the last of them was going to write.
  init(after written: Int64 = 0, of announced: Prefix? = nil) {
    self.written = written
    self.announced = announced.flatMap { $0.byteCount < written ? nil : $0 }
  }

  /// The bytes that were taken.
  var prefix: Prefix { Prefix(byteCount: hasher.byteCount, digest: hasher.digest) }

  /// Takes the next bytes of the download.
  ///
  /// - Returns: The bytes to write; none as long as those that were written are not compared.
  /// - Throws: `DownloadFailure` with `entityChanged` if other bytes were written.
  mutating func take(_ bytes: Data) throws(DownloadFailure) -> Data {
    let start = hasher.byteCount
    guard written > 0, start < max(written, announced?.byteCount ?? 0) else {
      hasher.update(bytes.span)
      return bytes
    }
    guard let announced else { throw failure }
    let compared = bytes.prefix(Int(clamping: announced.byteCount - start))
    hasher.update(compared.span)
    held += compared.dropFirst(Int(clamping: max(0, written - start)))
    guard hasher.byteCount == announced.byteCount else { return Data() }
    guard hasher.digest == announced.digest else { throw failure }
    let new = bytes.dropFirst(compared.count)
    hasher.update(new.span)
    defer { held = Data() }
    return held + new
  }

  /// Ends the download.
  ///
  /// - Throws: `DownloadFailure` with `entityChanged` if it has fewer bytes than were to be written.
  func end() throws(DownloadFailure) {
    guard written == 0 || hasher.byteCount >= max(written, announced?.byteCount ?? 0) else {
      throw failure
    }
  }

  private var failure: DownloadFailure {
    DownloadFailure(
      .entityChanged,
      announced == nil
        ? "the first \(written) bytes were written before a crash, and cannot be compared with the file"
        : "the server's file has changed after its first \(written) bytes were written"
    )
  }
}
