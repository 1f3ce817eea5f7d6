internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import Simulation
internal import SystemInterface
internal import TestSupport

/// A store whose downloads receive their responses from scripts.
///
/// The engine, the store and the files are real. Time advances when nothing else happens.
final class ScriptedDownload {
  private static let url =
    "https://user:secret-password@example.com/dir/name.bin?token=secret-query"

  private let folder: TemporaryFolder
  private let store: RecordStore
  private let clock = StepClock()

  /// Creates a store in memory.
  init() throws {
    folder = try TemporaryFolder(inMemory: true)
    store = try RecordStore(at: folder.path("store"), now: { [clock] in clock.date })
  }

  /// Downloads a file, and checks the result.
  ///
  /// - Returns: A description of what happened.
  /// - Throws: `FuzzViolation`, or an error of the store or the engine.
  func run(_ script: ResponseScript) throws -> String {
    let (store, url) = (store, Self.url)
    let server = ScriptedServer(script, joinsFields: script.has("joined"), silenceIsLoss: true) {
      let record = try? store.record(matching: url)
      return (record?.entityTag, record?.lastModified)
    }
    var request = DownloadRequest(url: url)
    request.headers = Secrets.headers
    if script.has("digest") { request.digest = server.healthyDigest }
    try store.addNow([request])
    let transport = ScriptedTransport(server, url: url)
    var words: [String] = []
    var isStopped = true
    while isStopped {
      isStopped = try runEngine(script, transport, server, &words)
      if isStopped { words.append("stopped") }
    }
    let record = try store.record(matching: url)
    try DownloadProperties.checkEnd(of: record, in: store, server)
    guard try folder.names() == ["store"] else {
      throw FuzzViolation("there is a file next to the store")
    }
    try removeAll()
    let code = record.attempts.last.map { $0.failure.code.rawValue } ?? ""
    return (words + server.statuses + [record.state.rawValue, code]).joined(separator: " ")
  }

  /// Runs one engine until it ends.
  ///
  /// - Returns: Whether the script stopped it.
  private func runEngine(
    _ script: ResponseScript,
    _ transport: ScriptedTransport,
    _ server: ScriptedServer,
    _ words: inout [String]
  ) throws -> Bool {
    let executor = StepExecutor()
    let outcome = Mutex<Result<Void, any Error>?>(nil)
    let post = Mutex<(@Sendable (EngineEnvironment.Signal) -> Void)?>(nil)
    var options = EngineOptions()
    options.retry = RetryPolicy(
      maximumAttempts: 4,
      base: .seconds(1),
      cap: .seconds(2),
      longestServerWait: .seconds(2)
    )
    options.checkpointBytes = Int64(script.option("checkpoint", in: 1...2_000) ?? 32)
    options.naming = script.has("url") ? .fromURL : .fromResponse
    // A test that spawns a process at this moment shares the lock of the previous life until
    // `exec`.
    options.lockPatience = .seconds(10)
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { [clock] in clock.date },
      environment: EngineEnvironment(
        instant: { [clock] in clock.instant },
        random: { 0.5 },
        startWork: { executor.addWork($0) },
        startLongWork: { executor.addWork($0) },
        wake: { _, signal in
          post.withLock { $0 = signal }
          return { post.withLock { $0 = nil } }
        },
        availableBytes: { _ in 1 << 40 },
        lacksDescriptors: { false },
        faultInjector: nil
      )
    )
    Task(executorPreference: executor) {
      let result: Result<Void, any Error>
      do {
        _ = try await engine.run(until: .idle)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      outcome.withLock { $0 = result }
    }
    var isStopped = false
    var idleCount = 0
    while outcome.withLock({ $0 == nil }) || executor.jobCount + executor.workCount > 0 {
      if executor.jobCount > 0 {
        executor.runJob(0)
      } else if executor.workCount > 0 {
        executor.runWork(0)
      } else if try transport.step() {
        try DownloadProperties.checkProgress(of: try store.record(matching: Self.url), in: store)
        if transport.takeStop() {
          engine.stop()
          isStopped = true
        }
      } else {
        idleCount += 1
        guard idleCount < 10_000 else { throw FuzzViolation("the engine does not finish") }
        clock.advance(by: .milliseconds(500))
        post.withLock { $0 }?(.ticked)
      }
      if let violation = server.violation { throw violation }
    }
    try outcome.withLock { $0 }?.get()
    return isStopped
  }

  private func removeAll() throws {
    let record = try store.record(matching: Self.url)
    try store.purge(try store.purgePlan([record], withFiles: true))
    guard try folder.names(in: "store/files").isEmpty else {
      throw FuzzViolation("a purge left \(try folder.names(in: "store/files"))")
    }
  }
}

/// A clock that its owner advances.
final class StepClock: Sendable {
  private let start = ContinuousClock.now
  private let elapsed = Mutex(Duration.zero)

  /// The monotonic time.
  var instant: ContinuousClock.Instant { start.advanced(by: elapsed.withLock { $0 }) }

  /// The wall clock time.
  var date: Date {
    Date(timeIntervalSince1970: 1_700_000_000 + elapsed.withLock { $0 } / .seconds(1))
  }

  /// Advances the time.
  func advance(by duration: Duration) {
    elapsed.withLock { $0 += duration }
  }
}
