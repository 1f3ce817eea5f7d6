internal import Dispatch
internal import LMDB
internal import SystemInterface

/// Converts outdated records and builds the indexes of an open store on a queue of its own.
///
/// After each step it pauses for a multiple of the step's duration, so that other writers have most
/// of the time.
final class BackgroundWork: Sendable {
  /// The pause after a step, in durations of the step.
  private static let pause = 5

  /// Whether ``start(converting:)`` does nothing, so that a test performs each step itself.
  @TaskLocal static var isSuspended = false

  private struct Workers {
    var conversion: ConversionWorker
    var indexes: IndexBuildWorker
  }

  private let queue = DispatchQueue(label: "ObjectStore.background", qos: .utility)
  // Held for a step, by the queue or by a caller that waits for the work. `nil` when stopped.
  private let workers: Mutex<Workers?>
  private let log: StoreLog?

  init(
    _ environment: Environment,
    _ models: [any Model.Type],
    _ options: StoreOptions,
    log: StoreLog?
  ) {
    workers = Mutex(
      Workers(
        conversion: ConversionWorker(environment, models, options),
        indexes: IndexBuildWorker(environment)
      )
    )
    self.log = log
  }

  /// Begins to work, until nothing is left to do.
  func start(converting: Bool) {
    guard !Self.isSuspended else { return }
    queue.async { [self] in run(converting: converting) }
  }

  private func run(converting: Bool) {
    let start = ContinuousClock.now
    // The indexes of changed fields can be built when all records are converted.
    let hasConverted = converting && succeeds(conversionStep)
    // The indexes of other fields can be built even if a record cannot be converted.
    guard hasConverted || succeeds(buildStep) else { return }
    let pause = start.duration(to: .now) * Self.pause
    let (seconds, attoseconds) = pause.components
    let delay = DispatchTimeInterval.nanoseconds(
      Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    )
    queue.asyncAfter(deadline: .now() + delay) { [self] in run(converting: hasConverted) }
  }

  /// Performs a step; returns whether it succeeded and more may follow.
  private func succeeds(_ step: () throws -> Bool) -> Bool {
    do {
      return try step()
    } catch {
      log?.didFailInBackground(error)
      return false
    }
  }

  /// Converts some records; returns whether there may be more.
  ///
  /// - Throws: ``StoreError`` with `migrationFailed` at the end, if objects cannot be converted.
  func conversionStep() throws -> Bool {
    switch try workers.withLock({ try $0?.conversion.step() }) {
    case .nothing, nil: return false
    case .progressed: return true
    case .completed(let model, let objectCount):
      log?.didConvert(model, objectCount)
      return true
    }
  }

  /// Performs a step of building indexes; returns whether there is more to do.
  func buildStep() throws -> Bool {
    switch try workers.withLock({ try $0?.indexes.step() }) {
    case .nothing, nil: return false
    case .progressed: return true
    case .completed(let build):
      log?.didBuildIndex(
        of: build.model,
        fieldIDs: build.index.parts.map(\.fieldID),
        objects: build.objectCount
      )
      return true
    }
  }

  /// Ends the work after the step that is running, and releases the store's files.
  func stop() {
    workers.withLock { $0 = nil }
  }
}
