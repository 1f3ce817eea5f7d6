internal import SystemInterface

/// The bytes of a file, in parts.
package struct InputBytes {
  /// The default of the maximum length of a row in bytes, which prevents that a missing quote or
  /// brace fills the memory.
  package static let maximumRowLength = 1 << 26

  /// Returns the next part; empty at the end.
  package let next: () throws -> [UInt8]

  private static let partSize = 1 << 18

  /// Creates bytes with a closure that returns the next part; empty at the end.
  package init(next: @escaping () throws -> [UInt8]) {
    self.next = next
  }

  /// The bytes from the position of a descriptor to its end.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor. It must be open as long as bytes are read.
  ///   - name: The name of the file in errors.
  package init(_ descriptor: Int32, named name: String) {
    self.init {
      var part = [UInt8](repeating: 0, count: Self.partSize)
      var count: Int
      repeat {
        count = read(descriptor, into: &part)
      } while count < 0 && errno == EINTR
      guard count >= 0 else {
        throw CommandFailure(.inputOutput, "cannot read \(name): \(systemErrorText())")
      }
      part.removeLast(part.count - count)
      return part
    }
  }
}

/// The bytes of a file that have been read and not yet used.
package struct InputBuffer {
  private let source: InputBytes
  private(set) var bytes: [UInt8] = []
  /// The position of the next byte in ``bytes``.
  package var offset = 0
  private var hasEnded = false

  package init(_ source: InputBytes) {
    self.source = source
  }

  /// The next byte; `nil` at the end of the file.
  ///
  /// - Throws: The error of reading the file.
  package mutating func peek() throws -> UInt8? {
    guard offset == bytes.count else { return bytes[offset] }
    return try fill() ? bytes[offset] : nil
  }

  /// Discards the bytes before ``offset``, which becomes 0, and reads more bytes.
  ///
  /// - Returns: Whether there were more bytes.
  /// - Throws: The error of reading the file.
  package mutating func fill() throws -> Bool {
    bytes.removeSubrange(..<offset)
    offset = 0
    guard !hasEnded else { return false }
    let part = try source.next()
    hasEnded = part.isEmpty
    bytes += part
    return !hasEnded
  }

  /// Skips the byte order mark of UTF-8, with which some programs begin a file.
  ///
  /// - Throws: The error of reading the file.
  package mutating func skipByteOrderMark() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    while bytes.count < mark.count, try fill() {}
    if bytes.starts(with: mark) { offset = mark.count }
  }
}
