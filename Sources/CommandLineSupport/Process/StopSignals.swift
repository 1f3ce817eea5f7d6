internal import Dispatch
internal import SystemInterface

/// A signal that asks for a stop.
package enum StopSignal: Sendable, Hashable, CaseIterable {
  case interrupt
  case terminate
  /// The terminal was closed, or its connection has ended.
  case hangUp

  /// The signal that a terminal or `kill` sends.
  package var number: Int32 {
    switch self {
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    case .hangUp: SIGHUP
    }
  }

  /// The signal by which the supervisor forwards it to the worker.
  ///
  /// A different number, so that the worker does not count it twice if a terminal signals both
  /// processes.
  package var passedOnNumber: Int32 {
    switch self {
    case .interrupt: SIGUSR1
    case .terminate: SIGUSR2
    // Its default action ends the process, and nothing else sends it.
    case .hangUp: SIGVTALRM
    }
  }

  /// The exit status of a process that the signal stopped.
  package var status: ExitStatus {
    switch self {
    case .interrupt: .interrupted
    case .terminate: .terminated
    case .hangUp: .hungUp
    }
  }

  /// The signals that stop this process.
  ///
  /// Programs started by `nohup` ignore SIGHUP, and must go on to ignore it.
  package static var handled: [Self] {
    allCases.filter { $0 != .hangUp || !isIgnored($0.number) }
  }
}

/// Recognizes a stop signal that repeats the first one at once, and asks for nothing more.
///
/// `timeout` signals its command and then its group, which contains the command.
package struct StopEcho: Sendable {
  /// How soon after the first signal another one is the same request.
  package static let time = Duration.milliseconds(250)
  private var first: ContinuousClock.Instant?

  /// Creates a value that has heard no signal.
  package init() {}

  /// Notes a signal that arrived at a time, and returns whether it repeats the first one.
  package mutating func repeats(at time: ContinuousClock.Instant) -> Bool {
    guard let first else {
      first = time
      return false
    }
    return time - first < Self.time
  }
}

/// Counts stop signals, which may arrive both directly and forwarded by the supervisor.
///
/// A hang-up is not counted: the terminal, the shell and the session may each send one, and a stop
/// after it. It never asks for an immediate exit.
package struct StopCount: Sendable {
  private(set) var first: StopSignal?
  private var direct = 0
  private var passedOn = 0
  private var echo = StopEcho()

  /// The meaning of a signal: the first request to stop, a further one, or one already counted.
  package enum Meaning: Sendable, Hashable {
    case first
    case again
    case known
  }

  /// Counts a signal.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - isPassedOn: Whether the supervisor forwards it.
  ///   - time: The time at which it arrived.
  /// - Returns: What it asks for.
  package mutating func hear(
    _ signal: StopSignal,
    isPassedOn: Bool,
    at time: ContinuousClock.Instant
  ) -> Meaning {
    guard signal != .hangUp else {
      guard first == nil else { return .known }
      first = signal
      return .first
    }
    guard !echo.repeats(at: time) else {
      if isPassedOn { passedOn = max(passedOn, 1) } else { direct = max(direct, 1) }
      return .known
    }
    let before = max(direct, passedOn)
    if isPassedOn { passedOn += 1 } else { direct += 1 }
    guard max(direct, passedOn) > before else { return .known }
    guard before == 0 else { return .again }
    guard first == nil else { return .known }
    first = signal
    return .first
  }
}

/// Handles SIGINT, SIGTERM and SIGHUP: the first requests a clean stop, the second exits immediately.
package final class StopSignals {
  private final class Heard: Sendable {
    let count = Mutex(StopCount())
  }

  private struct Source {
    let source: any DispatchSourceSignal
    #if canImport(Darwin)
      let number: Int32
      let previous: sig_t?
    #endif
  }

  private let heard = Heard()
  private var sources: [Source] = []

  /// The first signal; `nil` if none has arrived.
  package var first: StopSignal? { heard.count.withLock { $0.first } }

  /// Starts handling signals; stops when the object is released.
  ///
  /// Signals are handled when this returns. On Linux, Dispatch ignores them after the release.
  ///
  /// - Parameters:
  ///   - onLast: Called before an immediate exit.
  ///   - onFirst: Called for the first signal, on a private queue.
  package init(
    onLast: @escaping @Sendable () -> Void = {},
    onFirst: @escaping @Sendable (StopSignal) -> Void
  ) {
    let queue = DispatchQueue(label: "dlstore.signals")
    var numbers = StopSignal.handled.map { (number: $0.number, signal: $0, isPassedOn: false) }
    #if os(Linux)
      numbers += StopSignal.allCases.map {
        (number: $0.passedOnNumber, signal: $0, isPassedOn: true)
      }
    #endif
    let registered = DispatchGroup()
    for (number, signal, isPassedOn) in numbers {
      #if canImport(Darwin)
        // The default action would also end the process.
        let previous = SystemInterface.signal(number, SIG_IGN)
      #endif
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { [heard] in
        for _ in 0..<max(1, source.data) {
          switch heard.count.withLock({ $0.hear(signal, isPassedOn: isPassedOn, at: .now) }) {
          case .first: onFirst(signal)
          case .again:
            onLast()
            _exit(signal.status.rawValue)
          case .known: break
          }
        }
      }
      // Dispatch installs the handler of a signal on another thread.
      registered.enter()
      source.setRegistrationHandler { registered.leave() }
      source.resume()
      #if canImport(Darwin)
        sources.append(Source(source: source, number: number, previous: previous))
      #else
        sources.append(Source(source: source))
      #endif
    }
    registered.wait()
  }

  deinit {
    for source in sources {
      source.source.cancel()
      #if canImport(Darwin)
        _ = SystemInterface.signal(source.number, source.previous)
      #endif
    }
  }
}

/// A stop flag with an interruptible wait.
package final class StopLatch: Sendable {
  private struct State {
    var isStopped = false
    var sleeper: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Creates a flag that is not set.
  package init() {}

  package var isStopped: Bool { state.withLock { $0.isStopped } }

  package func stop() {
    state.withLock { state in
      state.isStopped = true
      state.sleeper?.cancel()
    }
  }

  /// Waits for the duration or until the stop, whichever is first.
  package func wait(_ duration: Duration) async {
    let sleeper = state.withLock { state -> Task<Void, Never>? in
      guard !state.isStopped else { return nil }
      let sleeper = Task { () -> Void in try? await Task.sleep(for: duration) }
      state.sleeper = sleeper
      return sleeper
    }
    await sleeper?.value
  }
}
