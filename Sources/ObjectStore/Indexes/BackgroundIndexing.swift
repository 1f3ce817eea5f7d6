internal import Dispatch
internal import LMDB
internal import SystemInterface

/// Builds the indexes of an open store on a queue of its own.
///
/// After each step it pauses for a multiple of the step's duration, so that other writers have most
/// of the time.
final class BackgroundIndexing: Sendable {
  /// The pause after a step, in durations of the step.
  private static let pause = 5

  private let queue = DispatchQueue(label: "ObjectStore.index", qos: .utility)
  // Held for a step, by the queue or by a caller that waits for the builds. `nil` when stopped.
  private let worker: Mutex<IndexBuildWorker?>
  private let log: StoreLog?

  init(_ environment: Environment, log: StoreLog?) {
    worker = Mutex(IndexBuildWorker(environment))
    self.log = log
  }

  /// Begins to build, until no index is left to build.
  func start() {
    queue.async { [self] in run() }
  }

  private func run() {
    let start = ContinuousClock.now
    do {
      guard try step() else { return }
    } catch {
      log?.didFailToBuildIndexes(error)
      return
    }
    let pause = start.duration(to: .now) * Self.pause
    let (seconds, attoseconds) = pause.components
    let delay = DispatchTimeInterval.nanoseconds(
      Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    )
    queue.asyncAfter(deadline: .now() + delay) { [self] in run() }
  }

  /// Performs one step; returns whether there is more to do.
  func step() throws -> Bool {
    switch try worker.withLock({ try $0?.step() }) {
    case .nothing, nil: return false
    case .progressed: return true
    case .completed(let build):
      log?.didBuildIndex(build)
      return true
    }
  }

  /// Ends the work after the step that is running, and releases the store's files.
  func stop() {
    worker.withLock { $0 = nil }
  }
}
