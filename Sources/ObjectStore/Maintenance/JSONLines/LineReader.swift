#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Reads a file line by line, in pieces.
final class LineReader {
  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private static let pieceSize = 1 << 18

  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  init(_ path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(errno: errno, path) }
  }

  deinit {
    _ = close(descriptor)
  }

  /// The next line without its end, or `nil` after the last one.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        defer { start = end + 1 }
        return Array(buffer[start..<end])
      }
      searched = buffer.count
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return Array(buffer[start...])
      }
      let consumed = start
      buffer.removeFirst(consumed)
      searched -= consumed
      start = 0
      try readMore()
    }
  }

  private func readMore() throws {
    var piece = [UInt8](repeating: 0, count: Self.pieceSize)
    let count = unsafe piece.withUnsafeMutableBytes { bytes in
      unsafe read(descriptor, bytes.baseAddress, bytes.count)
    }
    guard count >= 0 else {
      guard errno == EINTR else { throw StoreError(errno: errno, path) }
      return
    }
    if count == 0 { isAtEnd = true }
    buffer.append(contentsOf: piece.prefix(count))
  }
}
