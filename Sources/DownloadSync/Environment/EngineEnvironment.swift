internal import Dispatch
package import ObjectStore
internal import SystemInterface

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

  /// Runs blocking work for each element, at the same time if there are threads for it, and returns
  /// the results in the order of the elements.
  func blocking<Element: Sendable, R: Sendable>(
    forEach elements: [Element],
    _ work: @escaping @Sendable (Element) -> R
  ) async -> [R] {
    guard !elements.isEmpty else { return [] }
    return await withCheckedContinuation { continuation in
      let results = GatheredResults<R>(count: elements.count)
      for (index, element) in elements.enumerated() {
        startWork {
          if let all = results.note(work(element), at: index) {
            continuation.resume(returning: all)
          }
        }
      }
    }
  }
}

extension EngineEnvironment {
  /// The real environment.
  package static let live = Self(
    instant: { .now },
    random: { .random(in: 0..<1) },
    startWork: { [threads = BlockingThreads()] work in threads.run(work) },
    startLongWork: { work in
      DispatchQueue.global(qos: .utility).async(execute: work)
    },
    wake: { store, post in
      let ticking = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(200))
          post(.ticked)
        }
      }
      // Posts a signal for each commit of any process. A commit of another process is noticed
      // within a second even if its notification is lost: the store also polls.
      let watching = Task { await watch({ store.commits }, post) }
      return {
        ticking.cancel()
        watching.cancel()
      }
    },
    availableBytes: { Volume.availableBytes(inFolder: $0) },
    lacksDescriptors: { FileDescriptors.areExhausted },
    faultInjector: nil
  )
}

extension EngineEnvironment {
  /// Posts a signal for each commit until the task is cancelled.
  ///
  /// An observation that fails or ends is restarted after `retryInterval`. Commits may have been
  /// missed in the meantime, so a signal is posted then as well. Even if every observation fails,
  /// the engine reads the store once per interval.
  ///
  /// - Parameters:
  ///   - retryInterval: The time between the end of an observation and the next one.
  ///   - commits: Starts an observation; each element stands for one or more commits.
  ///   - post: Receives the signals.
  package static func watch<Commits: AsyncSequence>(
    retryInterval: Duration = .seconds(1),
    _ commits: () -> Commits,
    _ post: (Signal) -> Void
  ) async {
    while !Task.isCancelled {
      do {
        for try await _ in commits() { post(.storeChanged) }
      } catch {
        if !Task.isCancelled { post(.observationFailed(error)) }
      }
      // A cancelled sleep ends the loop.
      try? await Task.sleep(for: retryInterval)
      if !Task.isCancelled { post(.storeChanged) }
    }
  }
}

/// The file descriptors of this process.
enum FileDescriptors {
  /// More than a connection needs for its socket and its DNS lookup.
  ///
  /// A connection that failed has closed its own descriptors before the check.
  private static let connectionCount = 8

  /// Whether too few descriptors are free for a connection.
  ///
  /// Opens that number of descriptors and closes them again.
  static var areExhausted: Bool {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < connectionCount {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return SystemCallFailure(errno: errno) == .outOfResources }
      opened.append(descriptor)
    }
    return false
  }
}
