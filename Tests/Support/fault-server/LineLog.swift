internal import FaultServer

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A file that lines are appended to, each with one unbuffered write: a line is there as soon as the
/// call returns, and lines of several threads do not mix.
struct LineLog: Sendable {
  private let descriptor: CInt

  init(path: String) throws {
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SocketError(call: "open \(path)", code: errno) }
  }

  func append(_ line: String) {
    writeLine(line, to: descriptor)
  }
}

/// Writes a line at once.
///
/// A reader that has left is no reason to stop serving.
func writeLine(_ line: String, to descriptor: CInt) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}
