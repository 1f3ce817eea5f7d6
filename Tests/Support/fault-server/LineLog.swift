internal import FaultServer
internal import SystemInterface

/// A file that lines are appended to.
///
/// Each line is one unbuffered write: it is in the file when the call returns, and lines of several
/// threads do not mix.
struct LineLog: Sendable {
  private let descriptor: CInt

  init(path: String) throws {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw SocketError(call: "open \(path)", code: errno) }
  }

  func append(_ line: String) {
    writeLine(line, to: descriptor)
  }
}

/// Writes a line.
///
/// A closed pipe does not stop the server.
func writeLine(_ line: String, to descriptor: CInt) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
}
