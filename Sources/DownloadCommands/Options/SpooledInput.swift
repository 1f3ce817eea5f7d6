internal import CommandLineSupport
internal import Foundation
internal import SystemInterface

/// Standard input as a file, which a restarted worker can read again.
enum SpooledInput {
  /// Copies standard input, or another pipe, to its end into a file without a name, which takes the
  /// place of standard input.
  ///
  /// - Parameter source: The path of the pipe; `-` for standard input.
  /// - Throws: ``CommandFailure``.
  static func spool(_ source: String = "-") throws {
    if source != "-" {
      let pipe = try InputPath.open(source)
      defer { close(pipe) }
      guard dup2(pipe, STDIN_FILENO) >= 0 else { throw failure() }
    }
    let path = "\(NSTemporaryDirectory())/dlstore-input-\(UUID().uuidString)"
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure() }
    defer { close(file) }
    unlink(path)
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, into: &part)
      if count == 0 { break }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure() }
      var start = 0
      while start < count {
        let written = write(file, part[start..<count].span)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw failure() }
        start += written
      }
    }
    guard dup2(file, STDIN_FILENO) >= 0 else { throw failure() }
    rewind()
  }

  /// Continues at the first byte; without effect on a pipe.
  static func rewind() { _ = lseek(STDIN_FILENO, 0, SEEK_SET) }

  private static func failure() -> CommandFailure {
    CommandFailure(SystemCall.status(), "cannot read standard input: \(systemErrorText())")
  }
}
