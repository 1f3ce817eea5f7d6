internal import CommandLineSupport

#if os(Linux)
  internal import Foundation
  internal import SystemInterface

  /// A worker as seen by its supervisor: this program with the same arguments, and a pipe for notes.
  struct WorkerProcess {
    private let id: pid_t
    private let notes: Int32

    /// Starts a worker with additional environment variables.
    ///
    /// - Throws: ``CommandFailure`` with `inputOutput`.
    init(
      isRestart: Bool,
      environment additions: [String: String],
      position: Int32?,
      signalMask: sigset_t
    ) throws {
      guard let pipe = DescriptorPipe() else { throw Self.failure(errno) }
      _ = fcntl(pipe.reading, F_SETFL, O_NONBLOCK)
      var start = ProcessStart()
      start.files = [.copy(pipe.writing, as: Worker.notesDescriptor)]
      if let position { start.files.append(.copy(position, as: OutputPosition.workerDescriptor)) }
      start.blockedSignals = signalMask
      let (id, code) = start.start(
        "/proc/self/exe",
        arguments: nil,
        variables: .inherited(changes: Self.changes(isRestart, additions))
      )
      close(pipe.writing)
      guard code == 0 else {
        close(pipe.reading)
        throw Self.failure(code)
      }
      self.id = id
      notes = pipe.reading
    }

    /// A change that `waitpid` reports.
    enum Change {
      case ended(ProcessEnd)
      /// The terminal stopped the worker, as for Ctrl-Z.
      case stopped
    }

    /// The worker's next change; `nil` if there is none.
    func change() -> Change? {
      while true {
        var status: Int32 = 0
        let result = waitpid(id, &status, WNOHANG | WUNTRACED)
        if result == 0 || (result < 0 && errno == EINTR) { return nil }
        guard result == id else { return .ended(.exited(ExitStatus.failed.rawValue)) }
        // The macros WIFSTOPPED and WSTOPSIG.
        guard status & 0xFF == 0x7F else { return .ended(ProcessEnd(waitStatus: status)) }
        if (status >> 8) & 0xFF == SIGTSTP { return .stopped }
      }
    }

    /// Sends the worker a signal.
    func send(_ signal: Int32) {
      kill(id, signal)
    }

    /// How long to wait for the guard of the worker's commands.
    private static let guardPatience: Int32 = 10_000

    /// Returns what the worker has told and closes the pipe.
    ///
    /// Call this after the worker has ended. Waits until ``CommandGuard`` has killed the commands that
    /// the worker left, so that the next worker does not repeat them beside themselves.
    consuming func takeReport() -> Worker.Report {
      // The pipe hangs up when no process can write to it.
      var descriptor = pollfd(fd: notes, events: 0, revents: 0)
      while poll(&descriptor, Self.guardPatience) < 0, errno == EINTR {}
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(notes, into: &bytes)
      close(notes)
      return Worker.Report(bytes.prefix(max(0, count)))
    }

    private static func changes(
      _ isRestart: Bool,
      _ additions: [String: String]
    ) -> [String: String?] {
      let environment = ProcessInfo.processInfo.environment
      var changes = Worker.changes(adding: additions, to: environment)
      changes[Worker.Variable.supervisor] = String(getpid())
      changes.updateValue(isRestart ? "crashed" : nil, forKey: Worker.Variable.previousExit)
      // A backtrace takes longer than starting the next worker, and is of no use to a user.
      if environment["SWIFT_BACKTRACE"] == nil { changes["SWIFT_BACKTRACE"] = "enable=no" }
      return changes
    }

    private static func failure(_ code: Int32) -> CommandFailure {
      CommandFailure(
        .inputOutput,
        "cannot start the worker process: \(systemErrorText(code))"
      )
    }
  }
#endif
