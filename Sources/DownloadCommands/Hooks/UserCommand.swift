internal import Dispatch
internal import Foundation
internal import SystemInterface

/// A command line of the user, run by `/bin/sh -c`.
///
/// Texts of servers reach it on standard input and in environment variables only, never as a part of
/// the command line.
struct UserCommand: Sendable {
  /// The command line.
  let text: String

  /// How a command ended.
  struct End: Sendable {
    var end: ProcessEnd
    /// The captured standard output; empty if it was not captured.
    var output: [UInt8] = []

    var isSuccess: Bool { end == .exited(0) }

    /// The end in words: `exited with 3`.
    var description: String {
      switch end {
      case .exited(let status): "exited with \(status)"
      case .signalled(let signal): "was ended by signal \(signal)"
      }
    }
  }

  /// The maximum number of captured bytes.
  static let outputLimit = 65_536

  /// Each command blocks one thread until it ends.
  private static let waits = DispatchQueue(label: "dlstore.commands", attributes: .concurrent)

  /// Runs the command until it ends.
  ///
  /// It runs in a process group of its own, with no open file but the standard descriptors. If the
  /// calling task is cancelled, the group receives SIGTERM, and SIGKILL two seconds later.
  ///
  /// - Parameters:
  ///   - input: The text on standard input.
  ///   - variables: Environment variables to add.
  ///   - capturesOutput: Whether to return the first ``outputLimit`` bytes of standard output; it is
  ///     that of this process otherwise.
  /// - Returns: How the command ended.
  /// - Throws: ``CommandFailure`` with `inputOutput` if the command cannot be started.
  func run(
    input: String,
    variables: [String: String],
    capturesOutput: Bool = false
  ) async throws -> End {
    let child = try ChildProcess(
      arguments: ["/bin/sh", "-c", text],
      environment: Self.environment(adding: variables),
      input: input,
      capturesOutput: capturesOutput
    )
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Self.waits.async { continuation.resume(returning: child.wait(Self.outputLimit)) }
      }
    } onCancel: {
      child.terminate()
      Self.waits.asyncAfter(deadline: .now() + 2) { child.terminate(SIGKILL) }
    }
  }

  /// The environment of this process without the variables between a supervisor and its worker: a
  /// command may run `dlstore`, too.
  private static func environment(adding variables: [String: String]) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment[Worker.Variable.supervisor] = nil
    environment[Worker.Variable.previousExit] = nil
    return environment.merging(variables) { $1 }
  }
}

/// A child process in a process group of its own.
private final class ChildProcess: Sendable {
  /// The process id, which is also that of the group; `nil` after the process was waited for.
  ///
  /// The lock keeps a signal from reaching another process that has received the same id.
  private let id: Mutex<pid_t?>
  private let identifier: pid_t
  /// The end of the pipe from standard output; -1 if it is not captured.
  private let output: Int32

  init(
    arguments: [String],
    environment: [String: String],
    input: String,
    capturesOutput: Bool
  ) throws(CommandFailure) {
    // A file, not a pipe: a command need not read it.
    let input = try Self.unnamedFile(containing: input)
    defer { close(input) }
    var ends: [Int32] = [-1, -1]
    if capturesOutput {
      guard unsafe pipe(&ends) == 0 else { throw Self.failure(errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if capturesOutput { unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) }
    for descriptor in Self.inheritableDescriptors {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    Self.setSignals(of: &attributes)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    var argv: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] =
      unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      while let text = unsafe argv.popLast() { unsafe free(text) }
      while let text = unsafe envp.popLast() { unsafe free(text) }
    }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, arguments[0], &actions, &attributes, argv, envp)
    if capturesOutput { close(ends[1]) }
    guard code == 0 else {
      if capturesOutput { close(ends[0]) }
      throw Self.failure(code)
    }
    identifier = process
    id = Mutex(process)
    output = ends[0]
  }

  /// The descriptors that a program would inherit, other than the standard ones.
  ///
  /// This process opens none, but it may have inherited some itself.
  private static var inheritableDescriptors: [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    return names.compactMap { Int32($0) }.filter { descriptor in
      let flags = fcntl(descriptor, F_GETFD)
      return descriptor > STDERR_FILENO && flags >= 0 && flags & FD_CLOEXEC == 0
    }
  }

  /// Restores the default action of all signals that this process handles or ignores, and blocks
  /// none.
  private static func setSignals(of attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for number in [SIGPIPE, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGHUP, SIGQUIT] {
      unsafe sigaddset(&defaults, number)
    }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
  }

  /// Reads the output up to a limit, and waits for the end; called once, on a thread that may block.
  func wait(_ limit: Int) -> UserCommand.End {
    let bytes = output < 0 ? [] : Self.readAll(output, limit)
    var information = unsafe siginfo_t()
    // Leaves the process a zombie, so that its id stays taken until the lock is held.
    while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0,
      errno == EINTR
    {}
    let status = id.withLock { id in
      var status: Int32 = 0
      _ = unsafe waitpid(identifier, &status, 0)
      id = nil
      return status
    }
    return UserCommand.End(end: ProcessEnd(waitStatus: status), output: bytes)
  }

  /// Sends a signal to the process group, if the process has not been waited for.
  func terminate(_ signal: Int32 = SIGTERM) {
    id.withLock { id in
      if let id { _ = kill(-id, signal) }
    }
  }

  /// Reads up to a limit and closes the descriptor; the writer then receives SIGPIPE.
  private static func readAll(_ descriptor: Int32, _ limit: Int) -> [UInt8] {
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < limit {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count > 0 { bytes += buffer.prefix(count) } else if count == 0 || errno != EINTR { break }
    }
    return Array(bytes.prefix(limit))
  }

  /// Creates a file without a name that contains a text.
  private static func unnamedFile(containing text: String) throws(CommandFailure) -> Int32 {
    let descriptor = UnnamedFile.create()
    guard descriptor >= 0 else { throw failure(errno) }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 || errno == EINTR else {
        let code = errno
        close(descriptor)
        throw failure(code)
      }
      bytes = bytes.dropFirst(max(0, count))
    }
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
  }

  private static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.inputOutput, "cannot start /bin/sh: \(systemErrorText(code))")
  }
}
