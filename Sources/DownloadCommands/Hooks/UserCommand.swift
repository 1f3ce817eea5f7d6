internal import CommandLineSupport
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
  /// It runs in a process group of its own, with no open file but the standard descriptors. A process
  /// that it leaves in the background may keep its output open; this does not wait for that one.
  ///
  /// If the calling task is cancelled, the group receives SIGTERM, and what is left of it SIGKILL two
  /// seconds later. The result follows when the group has ended.
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
      arguments: ["/bin/sh", "-c", CommandGuard.registeringText, text],
      variables: .inherited(changes: Self.changes(adding: variables)),
      input: input,
      capturesOutput: capturesOutput
    )
    Self.running.withLock { _ = $0.insert(child.identifier) }
    defer { Self.running.withLock { _ = $0.remove(child.identifier) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Self.waits.async { continuation.resume(returning: child.wait(Self.outputLimit)) }
      }
    } onCancel: {
      child.terminate()
    }
  }

  /// The process groups of the running commands.
  // Held briefly: commands begin and end on any thread.
  private static let running = Mutex<Set<pid_t>>([])

  /// Kills all running commands, for a process that exits without waiting for them.
  static func killAll() {
    running.withLock { for group in $0 { _ = kill(-group, SIGKILL) } }
  }

  /// The changes of this process's variables to those that the user started the program with, and more
  /// variables.
  ///
  /// Without the server of `dlstore --server`: the variables name the store of this machine.
  private static func changes(adding variables: [String: String]) -> [String: String?] {
    var changes = Worker.changesToUser(ProcessInfo.processInfo.environment)
    changes.updateValue(nil, forKey: RemoteServer.variable)
    return changes.merging(variables) { $1 }
  }
}

/// A child process in a process group of its own.
private final class ChildProcess: Sendable {
  /// The process id, which is also that of the group; `nil` after the process was waited for.
  ///
  /// The lock keeps a signal from reaching another process that has received the same id.
  private let id: Mutex<pid_t?>
  let identifier: pid_t
  /// When what is left of the group is killed; `nil` until the command is asked to end.
  // Held briefly: set by the thread that cancels, read by the one that waits.
  private let killTime = Mutex<ContinuousClock.Instant?>(nil)
  /// The end of the pipe from standard output; -1 if it is not captured.
  private let output: Int32

  init(
    arguments: [String],
    variables: ProcessStart.Variables,
    input: String,
    capturesOutput: Bool
  ) throws(CommandFailure) {
    let registration = try CommandGuard.descriptor()
    // A file, not a pipe: a command need not read it.
    let input = try Self.unnamedFile(containing: input)
    defer { close(input) }
    var pipe: DescriptorPipe?
    if capturesOutput {
      guard let made = DescriptorPipe() else { throw Self.failure(errno) }
      // The end of this process only: the command writes to a file description of its own.
      _ = fcntl(made.reading, F_SETFL, O_NONBLOCK)
      pipe = made
    }
    var start = ProcessStart()
    start.files = [.copy(input, as: STDIN_FILENO)]
    if let pipe { start.files.append(.copy(pipe.writing, as: STDOUT_FILENO)) }
    start.files.append(.copy(registration, as: CommandGuard.registration))
    start.closesOthers = true
    start.beginsGroup = true
    // The default action of all signals that this process handles or ignores; none is blocked.
    start.blockedSignals = signalSet([])
    start.defaultSignals = [
      SIGPIPE, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGCHLD, SIGHUP, SIGQUIT,
    ]
    let (process, code) = start.start(
      arguments[0],
      arguments: arguments,
      variables: variables
    )
    if let pipe { close(pipe.writing) }
    guard code == 0 else {
      if let pipe { close(pipe.reading) }
      throw Self.failure(code)
    }
    identifier = process
    id = Mutex(process)
    output = pipe?.reading ?? -1
  }

  /// The time between SIGTERM and SIGKILL.
  private static let patience = Duration.seconds(2)

  /// Reads the output up to a limit, and waits for the end; called once, on a thread that may block.
  func wait(_ limit: Int) -> UserCommand.End {
    var bytes: [UInt8] = []
    var isOpen = output >= 0
    defer { if isOpen { close(output) } }
    // The output may stay open after the end, so both are looked at in turn.
    while isOpen, !hasEnded(WNOHANG) {
      guard isReadable(10), !read(&bytes, limit) else { continue }
      close(output)
      isOpen = false
    }
    // What was written before the end.
    while isOpen, isReadable(0), read(&bytes, limit) {}
    while !hasEnded() {}
    // The processes that a command leaves in the background may be meant to go on.
    let isEnded = killTime.withLock { $0 == nil }
    if isEnded { CommandGuard.forget(identifier) }
    let status = id.withLock { id in
      var status: Int32 = 0
      _ = waitpid(identifier, &status, 0)
      id = nil
      return status
    }
    endGroup()
    if !isEnded { CommandGuard.forget(identifier) }
    return UserCommand.End(
      end: ProcessEnd(waitStatus: status),
      output: Array(bytes.prefix(limit))
    )
  }

  /// Waits for the end of the process, and returns whether it has ended.
  ///
  /// It stays a zombie, so that its id stays taken until the lock is held.
  private func hasEnded(_ options: Int32 = 0) -> Bool {
    hasChildEnded(identifier, options)
  }

  /// Asks the process group to end, and kills it two seconds later.
  func terminate() {
    killTime.withLock { $0 = $0 ?? .now.advanced(by: Self.patience) }
    send(SIGTERM)
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience / .seconds(1)) {
      self.send(SIGKILL)
    }
  }

  /// Sends a signal to the process group, if the process has not been waited for.
  private func send(_ signal: Int32) {
    id.withLock { id in
      if let id { _ = kill(-id, signal) }
    }
  }

  /// Waits until the other processes of a group that was asked to end have ended, and kills them when
  /// its time is over.
  ///
  /// The group keeps its id as long as it has a process, so the signal reaches no other one.
  private func endGroup() {
    guard let killTime = killTime.withLock({ $0 }) else { return }
    while kill(-identifier, 0) == 0 {
      guard killTime > .now else {
        _ = kill(-identifier, SIGKILL)
        return
      }
      usleep(10_000)
    }
  }

  /// Waits for output, or for its end.
  private func isReadable(_ milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, milliseconds) > 0
  }

  /// Reads a part of the output, which must be readable.
  ///
  /// - Returns: False at the end of the output, and if it is longer than the limit: the writer then
  ///   receives SIGPIPE.
  private func read(_ bytes: inout [UInt8], _ limit: Int) -> Bool {
    guard bytes.count < limit else { return false }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = SystemInterface.read(output, into: &buffer)
    bytes += buffer.prefix(max(0, count))
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))
  }

  /// Creates a file without a name that contains a text.
  private static func unnamedFile(containing text: String) throws(CommandFailure) -> Int32 {
    let descriptor = UnnamedFile.create()
    guard descriptor >= 0 else { throw failure(errno) }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = write(descriptor, bytes.span.extracting(written...))
      guard count > 0 || errno == EINTR else {
        let code = errno
        close(descriptor)
        throw failure(code)
      }
      written += max(0, count)
    }
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
  }

  private static func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.inputOutput, "cannot start /bin/sh: \(systemErrorText(code))")
  }
}
