package import ObjectStore

/// What an engine has of the world beside its store and its transport: time, chance, threads, and
/// leave to change what lies on disk.
///
/// A simulation gives it another one, in which the same seed has the same things happen in the same
/// order.
package struct EngineEnvironment: Sendable {
  /// What wakes an engine beside its transport.
  package enum Signal: Sendable {
    /// Time passed.
    case ticked
    /// Somebody committed to the store, perhaps the engine itself.
    case storeChanged
    /// The observation of the store failed; it is begun again.
    case observationFailed(any Error)
  }

  /// The time that never goes back.
  package var instant: @Sendable () -> ContinuousClock.Instant
  /// A number from zero up to but not including one.
  package var random: @Sendable () -> Double
  /// Runs work on a thread that may wait for a disk.
  package var startWork: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Runs work on a thread that may wait, and for which nobody does for long.
  package var startLongWork: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Runs an operation beside the engine.
  package var startTask: @Sendable (@escaping @Sendable () async -> Void) -> Void
  /// Begins to wake an engine of the store, and returns what ends that.
  package var wake:
    @Sendable (ObjectStore, _ post: @escaping @Sendable (Signal) -> Void) -> @Sendable () -> Void
  /// How many bytes may still be written to the volume of a folder; `nil` when that cannot be asked.
  package var availableBytes: @Sendable (_ folder: String) -> Int64?
  /// Whether this process can open no more files or sockets.
  package var lacksDescriptors: @Sendable () -> Bool
  /// Is asked before each effect.
  package var faultInjector: (any FaultInjector)?

  /// Describes a world.
  package init(
    instant: @escaping @Sendable () -> ContinuousClock.Instant,
    random: @escaping @Sendable () -> Double,
    startWork: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    startLongWork: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    startTask: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void,
    wake:
      @escaping @Sendable (ObjectStore, @escaping @Sendable (Signal) -> Void)
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

  /// Runs work that waits for a disk on a thread that may wait.
  func blocking<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      startWork { continuation.resume(with: Result(catching: work)) }
    }
  }
}
