import Foundation
import TestSupport

/// The built `dlstore`, run as a separate process in its own process group.
final class ToolProcess {
  /// The path of the `dlstore` that was built with the tests.
  static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "dlstore").path

  let identifier: pid_t
  private let output: String
  private var hasEnded = false

  /// The end of a process.
  struct End {
    var status: Int32

    /// The exit code, or `nil` if a signal ended the process.
    var exitCode: Int32? { status & 0x7F == 0 ? (status >> 8) & 0xFF : nil }
  }

  struct SpawnFailure: Error {
    var code: Int32
  }

  /// Starts the tool with its output in the file `output`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the tool's name.
  ///   - output: The file for the tool's output.
  ///   - command: A command to start instead of the tool, such as a copy run by another user.
  /// - Throws: ``SpawnFailure``.
  init(
    _ arguments: [String],
    output: String = "/dev/null",
    command: [String] = [ToolProcess.executable]
  ) throws {
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
        &actions,
        descriptor,
        output,
        O_WRONLY | O_CREAT | O_APPEND,
        0o600
      )
    }
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe (command + arguments)
      .map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer {
      for index in unsafe pointers.indices { unsafe free(pointers[index]) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(
      &process,
      command[0],
      &actions,
      &attributes,
      pointers,
      environ
    )
    guard code == 0 else { throw SpawnFailure(code: code) }
    identifier = process
  }

  /// Kills the rest of the process group.
  ///
  /// A failing test must not leave a supervisor that restarts its worker forever.
  deinit {
    kill(-identifier, SIGKILL)
    if !hasEnded { _ = reap(0) }
  }

  /// The tool's output so far.
  var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

  /// Sends a signal to the process or to its whole group.
  func signal(_ number: Int32, wholeGroup: Bool = false) {
    kill(wholeGroup ? -identifier : identifier, number)
  }

  /// Waits until the process ends, and kills the whole group if that exceeds the limit.
  ///
  /// The end of a process killed for this reason has no exit code.
  ///
  /// - Throws: `CancellationError` if the test was cancelled, for example by its time limit.
  func wait(atMost limit: Duration = hangLimit) async throws -> End {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while ContinuousClock.now < deadline {
      if let end = reap(WNOHANG) { return end }
      try await Task.sleep(for: .milliseconds(2))
    }
    signal(SIGKILL, wholeGroup: true)
    return reap(0) ?? End(status: SIGKILL)
  }

  /// Returns the end of the process, or `nil` if it still runs and `options` forbid waiting.
  private func reap(_ options: Int32) -> End? {
    var status: Int32 = 0
    var result: pid_t
    repeat {
      result = unsafe waitpid(identifier, &status, options)
    } while result < 0 && errno == EINTR
    guard result != 0 else { return nil }
    hasEnded = true
    return End(status: status)
  }

  /// Waits until the process ends, and returns the peak resident memory of the process or a child
  /// of it, in bytes.
  ///
  /// The kernel's statistics of an ended child cannot be used: they include the memory of the
  /// process that started it.
  ///
  /// - Throws: `CancellationError` if the test was cancelled.
  func waitWatchingMemory() async throws -> (end: End, peakBytes: Int) {
    var peak = 0
    while true {
      if let end = reap(WNOHANG) { return (end, peak) }
      let children = (try? Self.read("/proc/\(identifier)/task/\(identifier)/children")) ?? ""
      for process in [identifier] + children.split(separator: " ").compactMap({ pid_t($0) }) {
        peak = max(peak, Self.peakBytes(of: process))
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// The running processes of the group: the tool and its worker.
  ///
  /// A process that has ended and was not waited for by its parent does not count.
  var members: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { process in
      // The fields after the name in parentheses: state, parent, group.
      guard let text = try? Self.read("/proc/\(process)/stat"),
        let end = text.lastIndex(of: ")")
      else { return false }
      let fields = text[text.index(after: end)...].split(separator: " ")
      return fields.count > 2 && fields[0] != "Z" && pid_t(fields[2]) == identifier
    }
  }

  private static func peakBytes(of process: pid_t) -> Int {
    guard let text = try? read("/proc/\(process)/status"),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kilobytes * 1_024
  }

  private static func read(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Runs the tool until it ends.
  static func run(_ arguments: [String], output: String = "/dev/null") async throws -> End {
    try await ToolProcess(arguments, output: output).wait()
  }
}
