internal import CommandLineSupport
internal import DownloadReports
internal import SystemInterface

/// How a process ended: by `exit` or by a signal.
enum ProcessEnd: Sendable, Hashable {
  case exited(Int32)
  case signalled(Int32)

  /// Decodes a status of `waitpid`.
  init(waitStatus status: Int32) {
    let signal = status & 0x7F
    self = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
  }
}

/// Decides what the supervisor does when a worker ends.
///
/// Pure.
struct Supervision: Sendable {
  /// The supervisor's next step.
  enum Step: Sendable, Equatable {
    case end(status: Int32, message: String?)
    case restart(message: String)
  }

  /// The number of consecutive crashes before the engine is ready after which the supervisor gives up.
  static let maximumEarlyCrashes = 3

  /// The number of consecutive crashes without a commit of any process after which the supervisor
  /// gives up.
  ///
  /// A worker that is crashed by a server has stored that a download was started, or that it is to
  /// blame (decision 0071). One that commits nothing is crashed by the store or by the program, and
  /// the next one would be, too.
  static let maximumIdleCrashes = 5

  private static let crashSignals: [Int32: String] = [
    SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV",
    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
  ]

  /// Whether a download that failed permanently in an earlier worker makes the exit code 1.
  let failsWhenSomethingFailed: Bool
  private var earlyCrashes = 0
  private var idleCrashes = 0
  /// The store's last commit when the last worker that crashed was ready.
  private var commit: UInt64?
  /// Whether a download had failed in a worker that crashed later.
  private var hasFailures = false

  init(failsWhenSomethingFailed: Bool) {
    self.failsWhenSomethingFailed = failsWhenSomethingFailed
  }

  /// Returns the step after a worker has ended.
  ///
  /// - Parameters:
  ///   - end: How the worker ended.
  ///   - notes: The notes that the worker sent.
  ///   - commit: The number of the store's last commit when the engine was ready; `nil` if unknown.
  ///   - stop: The first stop signal that the supervisor received; `nil` if none.
  /// - Returns: Whether to exit, and with which status, or to restart the worker.
  mutating func step(
    after end: ProcessEnd,
    notes: Set<Worker.Note>,
    commit: UInt64? = nil,
    stop: StopSignal?
  ) -> Step {
    switch end {
    case .exited(let status):
      // The status says what became of the failures of this worker.
      let isFailure = status == 0 && stop == nil && failsWhenSomethingFailed && hasFailures
      return .end(status: isFailure ? ExitStatus.failed.rawValue : status, message: nil)
    case .signalled(let signal):
      hasFailures = hasFailures || notes.contains(.failed)
      // The worker ended before it installed its signal handlers.
      if let stopped = StopSignal.allCases.first(where: {
        $0.number == signal || $0.passedOnNumber == signal
      }) {
        return .end(status: stopped.status.rawValue, message: nil)
      }
      guard let name = Self.crashSignals[signal] else {
        let name = signal == SIGKILL ? "was killed" : "was ended by signal \(signal)"
        return .end(
          status: ExitStatus.failed.rawValue,
          message: "the worker process \(name); the bytes on disk are kept"
        )
      }
      return afterCrash(name, isEarly: !notes.contains(.ready), commit, stop)
    }
  }

  private mutating func afterCrash(
    _ name: String,
    isEarly: Bool,
    _ commit: UInt64?,
    _ stop: StopSignal?
  ) -> Step {
    if let stop {
      return .end(
        status: stop.status.rawValue,
        message: "the worker process crashed (\(name)) while stopping"
      )
    }
    earlyCrashes = isEarly ? earlyCrashes + 1 : 0
    guard earlyCrashes < Self.maximumEarlyCrashes else {
      return .end(
        status: ExitStatus.crashed.rawValue,
        message: "the worker process crashed (\(name)) \(earlyCrashes) times before the engine "
          + "was ready; giving up"
      )
    }
    if !isEarly {
      // The number of the last commit is the same as before the previous worker, so that one has
      // changed nothing.
      idleCrashes = commit == nil ? 0 : commit == self.commit ? idleCrashes + 1 : 1
      self.commit = commit
    }
    guard idleCrashes < Self.maximumIdleCrashes else {
      return .end(
        status: ExitStatus.crashed.rawValue,
        message: "the worker process crashed (\(name)) \(idleCrashes) times without a change of "
          + "the store; giving up: \(SuggestedCommand.text("verify")) checks the store"
      )
    }
    return .restart(message: "the worker process crashed (\(name)); restarting it")
  }
}
