internal import CommandLineSupport
internal import DownloadReports
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
  /// The first bytes of an export.
  private static let exportMark = Array(#"{"format":"ObjectStore"#.utf8)

  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The start of the next line in the buffer.
  private var start = 0
  private var hasBegun = false
  private var hasEnded = false
  private var isFirst = true

  /// Opens a file, or standard input for `-`, unless the client of a server has read it.
  ///
  /// - Throws: ``CommandFailure``.
  init(_ path: String) throws {
    if let bytes = RemoteExecution.input {
      (self.path, descriptor, buffer, hasEnded) = (path, -1, bytes, true)
      return
    }
    // Opened once: it may be a pipe.
    descriptor = try InputPath.open(path)
    self.path = path
  }

  /// Reads the first bytes.
  ///
  /// - Throws: ``CommandFailure`` if the file is not a text, or an export of a store.
  private mutating func begin() throws {
    hasBegun = true
    try Self.checkText(descriptor, path)
    guard try hasEnded || fill(keeping: 0), buffer.starts(with: Self.exportMark) else { return }
    let command = SuggestedCommand.text("import \(ShellWord.quoted(path))")
    throw CommandFailure(.usage, "\(Self.name(path)) is an export: \(command) reads it")
  }

  /// Throws if a regular file is not text, before any of its lines is used; the bytes of a pipe are
  /// checked when they are read.
  private static func checkText(_ descriptor: Int32, _ path: String) throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    var offset = Int(lseek(descriptor, 0, SEEK_CUR))
    while true {
      let part = bytes(ofFile: descriptor, at: offset, count: chunkSize)
      guard !part.isEmpty else { return }
      guard !part.contains(0) else { throw notText(path) }
      offset += part.count
    }
  }

  private static func notText(_ path: String) -> CommandFailure {
    CommandFailure(.damaged, "\(name(path)) is not a text file: it contains a null byte")
  }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Returns the next line; `nil` at the end.
  ///
  /// - Throws: ``CommandFailure``.
  mutating func next() throws -> Line? {
    if !hasBegun { try begin() }
    var scanned = start
    var isTooLong = false
    while true {
      if let end = buffer[scanned...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
        // CR at the end of the buffer may be the first half of CR LF.
        if buffer[end] == 0x0D, end + 1 == buffer.count, !hasEnded {
          // Also at the end of the file, this moves the line to the front of the buffer.
          _ = try fill(keeping: start)
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
    buffer += [UInt8](repeating: 0, count: Self.chunkSize)
    var count: Int
    repeat {
      count = read(descriptor, into: &buffer, kept..<buffer.count)
    } while count < 0 && errno == EINTR
    guard count >= 0 else {
      throw CommandFailure(.inputOutput, "cannot read \(path): \(systemErrorText())")
    }
    buffer.removeLast(Self.chunkSize - count)
    guard !buffer[kept...].contains(0) else { throw Self.notText(path) }
    hasEnded = count == 0
    return !hasEnded
  }
}
