package import ObjectStore

/// The environment of an engine besides its store and its transport: time, randomness, threads, and
/// the permission to change files.
///
/// A simulation injects its own environment, in which the same seed produces the same events in the
/// same order.
package struct EngineEnvironment: Sendable {
  /// An event, other than those of the transport, that wakes the engine.
  package enum Signal: Sendable {
    /// Some time has passed.
    case ticked
    /// A process has committed to the store, possibly this one.
    case storeChanged
    /// The observation of the store failed; it is restarted.
    case observationFailed(any Error)
  }

  /// The current time of a monotonic clock.
  package var instant: @Sendable () -> ContinuousClock.Instant
  /// A random number from 0 up to, but not including, 1.
  package var random: @Sendable () -> Double
  /// Runs work on a thread that may block for a disk.
  package var startWork: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Runs long work of low priority on a thread that may block.
  package var startLongWork: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Runs an asynchronous operation concurrently with the engine.
  package var startTask: @Sendable (@escaping @Sendable () async -> Void) -> Void
  /// Starts to post the signals for an engine of a store; returns a closure that stops this.
  package var wake:
    @Sendable (Store, _ post: @escaping @Sendable (Signal) -> Void) -> @Sendable () -> Void
  /// Returns the free space of the volume of a folder, in bytes; `nil` if it cannot be queried.
  package var availableBytes: @Sendable (_ folder: String) -> Int64?
  /// Whether this process cannot open further files or sockets.
  package var lacksDescriptors: @Sendable () -> Bool
  /// Consulted before each effect; `nil` outside tests.
  package var faultInjector: (any FaultInjector)?

  /// Creates an environment.
  package init(
    instant: @escaping @Sendable () -> ContinuousClock.Instant,
    random: @escaping @Sendable () -> Double,
    startWork: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    startLongWork: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    startTask: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void,
    wake:
      @escaping @Sendable (Store, @escaping @Sendable (Signal) -> Void)
      -> @Sendable () -> Void,
    availableBytes: @escaping @Sendable (_ folder: String) -> Int64?,
    lacksDescriptors: @escaping @Sendable () -> Bool,
    faultInjector: (any FaultInjector)?
  ) {
    self.instant = instant
    self.random = random
    self.startWork = startWork
    self.startLongWork = startLongWork
    self.startTask = startTask
    self.wake = wake
    self.availableBytes = availableBytes
    self.lacksDescriptors = lacksDescriptors
    self.faultInjector = faultInjector
  }

  /// Runs blocking work with ``startWork`` and returns its result.
  func blocking<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      startWork { continuation.resume(with: Result(catching: work)) }
    }
  }
}
