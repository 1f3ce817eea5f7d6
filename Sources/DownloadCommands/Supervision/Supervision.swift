#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How a process ended.
enum ProcessEnd: Sendable, Hashable {
  case exited(Int32)
  case signalled(Int32)

  /// Reads the status that `waitpid` fills in.
  init(waitStatus status: Int32) {
    let signal = status & 0x7F
    self = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
  }
}

/// What a supervisor does about the end of a worker.
///
/// Pure.
struct Supervision: Sendable {
  /// What is next.
  enum Step: Sendable, Equatable {
    case end(status: Int32, message: String?)
    case restart(message: String)
  }

  /// So many crashes in a row before the engine is up are enough.
  static let maximumEarlyCrashes = 3

  private static let crashSignals: [Int32: String] = [
    SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV",
    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
  ]

  /// Whether the exit code is 1 when a download failed for good in a worker that is gone.
  let failsWhenSomethingFailed: Bool
  private var earlyCrashes = 0
  private var hasFailures = false

  init(failsWhenSomethingFailed: Bool) {
    self.failsWhenSomethingFailed = failsWhenSomethingFailed
  }

  /// The step after a worker.
  ///
  /// - Parameters:
  ///   - end: How the worker ended.
  ///   - notes: What it told.
  ///   - stop: The first signal that asked the supervisor to stop.
  /// - Returns: Whether to end, and how, or to start another worker.
  mutating func step(
    after end: ProcessEnd,
    notes: Set<Worker.Note>,
    stop: StopSignal?
  ) -> Step {
    hasFailures = hasFailures || notes.contains(.failed)
    switch end {
    case .exited(let status):
      let isFailure = status == 0 && stop == nil && failsWhenSomethingFailed && hasFailures
      return .end(status: isFailure ? ExitStatus.failed.rawValue : status, message: nil)
    case .signalled(let signal):
      // It ended before it could hear signals.
      if let stopped = StopSignal.allCases.first(where: {
        $0.number == signal || $0.passedOnNumber == signal
      }) {
        return .end(status: stopped.status.rawValue, message: nil)
      }
      guard let name = Self.crashSignals[signal] else {
        let name = signal == SIGKILL ? "was killed" : "was ended by signal \(signal)"
        return .end(
          status: ExitStatus.failed.rawValue,
          message: "the worker process \(name); what was downloaded is kept"
        )
      }
      return afterCrash(name, isEarly: !notes.contains(.ready), stop)
    }
  }

  private mutating func afterCrash(_ name: String, isEarly: Bool, _ stop: StopSignal?) -> Step {
    if let stop {
      return .end(
        status: stop.status.rawValue,
        message: "the worker process crashed (\(name)) at its end"
      )
    }
    earlyCrashes = isEarly ? earlyCrashes + 1 : 0
    guard earlyCrashes < Self.maximumEarlyCrashes else {
      return .end(
        status: ExitStatus.failed.rawValue,
        message: "the worker process crashed (\(name)) \(earlyCrashes) times before the engine "
          + "was up; given up"
      )
    }
    return .restart(message: "the worker process crashed (\(name)); it is started again")
  }
}
