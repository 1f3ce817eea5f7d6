internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A signal that asks for a stop.
enum StopSignal: Sendable, Hashable, CaseIterable {
  case interrupt
  case terminate

  /// The signal as terminals and people send it.
  var number: Int32 {
    switch self {
    case .interrupt: SIGINT
    case .terminate: SIGTERM
    }
  }

  /// The signal by which a supervisor passes it on, so that it is not counted twice when a terminal
  /// or `kill` sends the first one to both processes.
  var passedOnNumber: Int32 {
    switch self {
    case .interrupt: SIGUSR1
    case .terminate: SIGUSR2
    }
  }

  /// How a process that it stopped ends.
  var status: ExitStatus {
    switch self {
    case .interrupt: .interrupted
    case .terminate: .terminated
    }
  }
}

/// Counts requests to stop that may come on two ways.
struct StopCount: Sendable {
  private(set) var first: StopSignal?
  private var direct = 0
  private var passedOn = 0

  /// Whether this is the first request, a further one, or one that was heard on the other way.
  enum Meaning: Sendable, Hashable {
    case first
    case again
    case known
  }

  mutating func hear(_ signal: StopSignal, isPassedOn: Bool) -> Meaning {
    let before = max(direct, passedOn)
    if isPassedOn { passedOn += 1 } else { direct += 1 }
    guard max(direct, passedOn) > before else { return .known }
    guard before == 0 else { return .again }
    first = signal
    return .first
  }
}

/// Hears SIGINT and SIGTERM: the first asks for a clean stop, the second ends the process at once.
final class StopSignals {
  private final class Heard: Sendable {
    let count = Mutex(StopCount())
  }

  private let heard = Heard()
  private var sources: [any DispatchSourceSignal] = []

  /// The signal that came first, if one came.
  var first: StopSignal? { heard.count.withLock { $0.first } }

  /// Listens from now on, until the value is released.
  ///
  /// - Parameters:
  ///   - onLast: Called before the process ends at once.
  ///   - onFirst: Called when the first signal comes, on a queue of its own.
  init(
    onLast: @escaping @Sendable () -> Void = {},
    onFirst: @escaping @Sendable (StopSignal) -> Void
  ) {
    let queue = DispatchQueue(label: "dlstore.signals")
    var numbers = StopSignal.allCases.map { (number: $0.number, signal: $0, isPassedOn: false) }
    #if os(Linux)
      numbers += StopSignal.allCases.map {
        (number: $0.passedOnNumber, signal: $0, isPassedOn: true)
      }
    #endif
    for (number, signal, isPassedOn) in numbers {
      #if canImport(Darwin)
        // A signal that is not ignored would end the process beside being heard.
        _ = Darwin.signal(number, SIG_IGN)
      #endif
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { [heard] in
        for _ in 0..<max(1, source.data) {
          switch heard.count.withLock({ $0.hear(signal, isPassedOn: isPassedOn) }) {
          case .first: onFirst(signal)
          case .again:
            onLast()
            _exit(signal.status.rawValue)
          case .known: break
          }
        }
      }
      source.resume()
      sources.append(source)
    }
  }

  deinit {
    for source in sources { source.cancel() }
  }
}

/// A stop that can be waited for.
final class StopLatch: Sendable {
  private struct State {
    var isStopped = false
    var sleeper: Task<Void, Never>?
  }

  private let state = Mutex(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.sleeper?.cancel()
    }
  }

  /// Waits so long, or until the stop.
  func wait(_ duration: Duration) async {
    let sleeper = state.withLock { state -> Task<Void, Never>? in
      guard !state.isStopped else { return nil }
      let sleeper = Task { () -> Void in try? await Task.sleep(for: duration) }
      state.sleeper = sleeper
      return sleeper
    }
    await sleeper?.value
  }
}
