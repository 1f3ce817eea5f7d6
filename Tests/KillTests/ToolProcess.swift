import Foundation

/// The built `dlstore` as a process of its own, in a process group of its own.
final class ToolProcess {
  /// The `dlstore` that was built with the tests.
  static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "dlstore").path

  let identifier: pid_t
  private let output: String

  /// How a process ended, and the most memory that it or one of its children had resident.
  struct End {
    var status: Int32
    var peakBytes: Int

    /// The exit code; `nil` when a signal ended the process.
    var exitCode: Int32? { status & 0x7F == 0 ? (status >> 8) & 0xFF : nil }
  }

  struct SpawnFailure: Error {
    var code: Int32
  }

  /// Starts the tool; what it prints goes to the file `output`.
  init(_ arguments: [String], output: String = "/dev/null") throws {
    self.output = output
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
      unsafe posix_spawn_file_actions_addopen(
        &actions, descriptor, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe ([Self.executable] + arguments)
      .map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(
      &process, Self.executable, &actions, &attributes, pointers, environ)
    guard code == 0 else { throw SpawnFailure(code: code) }
    identifier = process
  }

  /// What the tool printed so far.
  var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

  /// Sends a signal to the process alone, or to its whole group.
  func signal(_ number: Int32, wholeGroup: Bool = false) {
    kill(wholeGroup ? -identifier : identifier, number)
  }

  /// Waits for the end.
  func wait() -> End {
    var status: Int32 = 0
    var usage = rusage()
    while unsafe wait4(identifier, &status, 0, &usage) < 0, errno == EINTR {}
    return End(status: status, peakBytes: usage.ru_maxrss * 1_024)
  }

  /// Runs the tool to its end.
  static func run(_ arguments: [String], output: String = "/dev/null") throws -> End {
    try ToolProcess(arguments, output: output).wait()
  }
}
