internal import CommandLineSupport
internal import SystemInterface

/// Reads the lines of a file or a pipe one by one, with a bounded buffer.
///
/// Lines end with LF, CR LF or CR.
struct LineReader: ~Copyable {
  /// A line without its end.
  enum Line: Equatable {
    case text(String)
    /// The bytes of a line that are not UTF-8.
    case bytes([UInt8])
    /// The line is longer than ``LineReader/longestLine``; its contents are skipped.
    case tooLong
  }

  /// The maximum length of a line in bytes.
  static let longestLine = 1 << 20
  private static let chunkSize = 1 << 18

  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The start of the next line in the buffer.
  private var start = 0
  private var hasEnded = false
  private var isFirst = true

  /// Opens a file, or standard input for `-`.
  ///
  /// - Throws: ``CommandFailure``.
  init(_ path: String) throws {
    self.path = path
    // Opened once: it may be a pipe.
    descriptor = try InputPath.open(path)
  }

  deinit {
    close(descriptor)
  }

  /// Returns the next line; `nil` at the end.
  ///
  /// - Throws: ``CommandFailure``.
  mutating func next() throws -> Line? {
    var scanned = start
    var isTooLong = false
    while true {
      if let end = buffer[scanned...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
        // CR at the end of the buffer may be the first half of CR LF.
        if buffer[end] == 0x0D, end + 1 == buffer.count, try fill(keeping: start) {
          scanned = 0
          continue
        }
        let isPair = buffer[end] == 0x0D && end + 1 < buffer.count && buffer[end + 1] == 0x0A
        defer { start = end + (isPair ? 2 : 1) }
        return line(to: end, isTooLong)
      }
      if buffer.count - start > Self.longestLine {
        isTooLong = true
        start = buffer.count
      }
      scanned = buffer.count - start
      guard try fill(keeping: start) else {
        guard buffer.count > 0 || isTooLong else { return nil }
        defer { start = buffer.count }
        return line(to: buffer.count, isTooLong)
      }
    }
  }

  private mutating func line(to end: Int, _ isTooLong: Bool) -> Line {
    defer { isFirst = false }
    guard !isTooLong, end - start <= Self.longestLine else { return .tooLong }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let hasMark = isFirst && buffer[start..<end].starts(with: mark)
    let first = hasMark ? start + mark.count : start
    return String(validating: buffer[first..<end], as: UTF8.self).map(Line.text)
      ?? .bytes(Array(buffer[first..<end]))
  }

  /// Discards the bytes before `start`, and reads more; returns `false` at the end of the file.
  private mutating func fill(keeping start: Int) throws -> Bool {
    buffer.removeSubrange(..<start)
    self.start = 0
    guard !hasEnded else { return false }
    let kept = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: Self.chunkSize))
    var count: Int
    repeat {
      count = read(descriptor, into: &buffer, kept..<buffer.count)
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw CommandFailure(.inputOutput, "cannot read \(path): \(systemErrorText())")
    }
    buffer.removeLast(Self.chunkSize - count)
    hasEnded = count == 0
    return !hasEnded
  }
}
