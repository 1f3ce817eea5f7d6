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
    init(isRestart: Bool, environment additions: [String: String], signalMask: sigset_t) throws {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { throw Self.failure(errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      var actions = unsafe posix_spawn_file_actions_t()
      unsafe posix_spawn_file_actions_init(&actions)
      defer { unsafe posix_spawn_file_actions_destroy(&actions) }
      unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], Worker.notesDescriptor)
      var attributes = posix_spawnattr_t()
      unsafe posix_spawnattr_init(&attributes)
      defer { unsafe posix_spawnattr_destroy(&attributes) }
      var mask = signalMask
      unsafe posix_spawnattr_setsigmask(&attributes, &mask)
      unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
      var environment: [UnsafeMutablePointer<CChar>?] = unsafe Self.environment(
        isRestart,
        additions
      )
      .map { unsafe strdup($0) }
      unsafe environment.append(nil)
      defer { while let text = unsafe environment.popLast() { unsafe free(text) } }
      var id: pid_t = 0
      let code = unsafe posix_spawn(
        &id,
        "/proc/self/exe",
        &actions,
        &attributes,
        CommandLine.unsafeArgv,
        &environment
      )
      close(ends[1])
      guard code == 0 else {
        close(ends[0])
        throw Self.failure(code)
      }
      self.id = id
      notes = ends[0]
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
        let result = unsafe waitpid(id, &status, WNOHANG | WUNTRACED)
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

    /// Returns the worker's notes and closes the pipe.
    ///
    /// Call this after the worker has ended. Waits until ``CommandGuard`` has killed the commands that
    /// the worker left, so that the next worker does not repeat them beside themselves.
    consuming func takeNotes() -> Set<Worker.Note> {
      // The pipe hangs up when no process can write to it.
      var descriptor = pollfd(fd: notes, events: 0, revents: 0)
      while unsafe poll(&descriptor, 1, Self.guardPatience) < 0, errno == EINTR {}
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe read(notes, $0.baseAddress, $0.count)
      }
      close(notes)
      return Set(bytes.prefix(max(0, count)).compactMap(Worker.Note.init))
    }

    private static func environment(
      _ isRestart: Bool,
      _ additions: [String: String]
    ) -> [String] {
      var environment = Worker.environment(
        adding: additions,
        to: ProcessInfo.processInfo.environment
      )
      environment[Worker.Variable.supervisor] = String(getpid())
      environment[Worker.Variable.previousExit] = isRestart ? "crashed" : nil
      // A backtrace takes longer than starting the next worker, and is of no use to a user.
      if environment["SWIFT_BACKTRACE"] == nil { environment["SWIFT_BACKTRACE"] = "enable=no" }
      return environment.map { "\($0)=\($1)" }
    }

    private static func failure(_ code: Int32) -> CommandFailure {
      CommandFailure(
        .inputOutput,
        "cannot start the worker process: \(systemErrorText(code))"
      )
    }
  }
#endif
