import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// Downloads on a machine that is short of descriptors or memory, and on a volume that loses file
/// handles.
@Suite(.timeLimit(.minutes(10)))
struct ShortageTests {
  /// A step of a download that changes the disk.
  enum Step: String, CaseIterable, Sendable {
    case makeFolder, open, cut, write, synchronize, link, synchronizeFolder

    init?(_ effect: Effect) {
      switch effect {
      case .makeFolder: self = .makeFolder
      case .open: self = .open
      case .cut: self = .cut
      case .write: self = .write
      case .synchronize: self = .synchronize
      case .link, .rename: self = .link
      case .synchronizeFolder: self = .synchronizeFolder
      case .remove, .commit, .reserve: return nil
      }
    }
  }

  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "https://example.com/a"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  /// Creates an engine whose clock runs a hundred times as fast.
  private func engine(
    _ transport: any Transport,
    _ faultInjector: (any FaultInjector)? = nil,
    lacksDescriptors: @escaping @Sendable () -> Bool = { false }
  ) throws -> DownloadEngine {
    var environment = EngineEnvironment.live
    let start = ContinuousClock.now
    environment.instant = { start.advanced(by: start.duration(to: .now) * 100) }
    environment.faultInjector = faultInjector
    environment.lacksDescriptors = lacksDescriptors
    return try DownloadEngine(
      store: store,
      transport: transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
  }

  /// Runs an engine whose first attempts at a step fail, and returns its events.
  private func run(
    failing step: Step,
    times: Int,
    with code: Int32
  ) async throws -> [DownloadEvent] {
    let transport = SimulatedTransport()
    let body = SimulatedBody(seed: 1, byteCount: 1_000)
    transport.serve(SimulatedResource(body, entityTag: "\"1\""), at: url)
    // A partial file is truncated when its download resumes.
    if step == .cut { try interrupt(body) }
    let left = Mutex(times)
    let engine = try engine(
      transport,
      EffectHook { effect in
        guard Step(effect) == step else { return nil }
        return left.withLock { left in
          guard left > 0 else { return nil }
          left -= 1
          return code
        }
      }
    )
    let events = engine.events()
    let summary = try await engine.run(until: .idle)
    #expect(summary == RunSummary(completed: 1))
    #expect(left.withLock { $0 } == 0)
    let file = try store.roots().layout(of: store.record(matching: url)).finalPath
    #expect(body.matches(try Data(contentsOf: URL(filePath: file))))
    return await events.reduce(into: []) { $0.append($1) }
  }

  /// Stores the first bytes of the record's file.
  private func interrupt(_ body: SimulatedBody) throws {
    let layout = try store.roots().layout(of: store.record(matching: url))
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(body[0..<300]).write(to: URL(filePath: layout.partialPath))
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.received = 300
        record.expected = 1_000
        record.entityTag = "\"1\""
      }
    }
  }

  private func retries(_ events: [DownloadEvent]) -> [DownloadFailure.Code] {
    events.compactMap { if case .retrying(_, let failure, _) = $0 { failure.code } else { nil } }
  }

  @Test(arguments: Step.allCases, [EMFILE, ENFILE, ENOMEM, EAGAIN])
  func `a shortage at any step delays the download and is no failed attempt`(
    step: Step,
    code: Int32
  ) async throws {
    let events = try await run(failing: step, times: 2, with: code)
    #expect(retries(events) == [.outOfResources, .outOfResources])
    #expect(try store.record(matching: url).attempts.isEmpty)
  }

  @Test(arguments: Step.allCases)
  func `a stale file handle is reopened, and the attempt counts`(
    step: Step
  ) async throws {
    let events = try await run(failing: step, times: 1, with: ESTALE)
    #expect(retries(events) == [.fileUnavailable])
    #expect(try store.record(matching: url).attempts.map(\.failure.code) == [.fileUnavailable])
  }

  @Test func `no other download starts while the machine is short of resources`() async throws {
    let transport = ManualTransport()
    try store.addNow(["b", "c"].map { DownloadRequest(url: "https://example.com/\($0)") })
    var environment = EngineEnvironment.live
    let start = ContinuousClock.now
    let elapsed = Mutex(Duration.zero)
    environment.instant = { start.advanced(by: elapsed.withLock { $0 }) }
    let opened = Mutex(0)
    environment.faultInjector = EffectHook { effect in
      guard case .open = effect else { return nil }
      return opened.withLock { opened in
        opened += 1
        return opened == 1 ? EMFILE : nil
      }
    }
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: EngineOptions(maximumRunning: 1),
      now: { Date() },
      environment: environment
    )
    let events = engine.events()
    try await running(engine) {
      for await event in events { if case .retrying = event { break } }
      // The engine reads its queue again at each command.
      for _ in 0..<3 { try await settle() }
      #expect(opened.withLock { $0 } == 1 && transport.started.isEmpty)
      elapsed.withLock { $0 = .seconds(2) }
      try await waitUntil("the start") { transport.started.count == 1 }
    } ending: {
      transport.endCancelled()
    }
  }

  private func settle() async throws {
    let mark = "https://example.com/mark-\(UUID().uuidString)"
    var request = DownloadRequest(url: mark)
    request.isPaused = true
    try store.addNow([request])
    try store.apply(.remove(withFile: false), to: .matching(mark))
    try await waitUntil("the mark to be deleted") { (try? store.record(matching: mark)) == nil }
  }

  @Test(arguments: [DownloadFailure.Code.cannotConnect, .cannotFindHost, .unknown], [true, false])
  func `a connection that fails for lack of descriptors is no failure of the server`(
    code: DownloadFailure.Code,
    lacksDescriptors: Bool
  ) async throws {
    let transport = ManualTransport()
    let engine = try engine(transport, lacksDescriptors: { lacksDescriptors })
    let events = engine.events()
    try await running(engine) {
      try await waitUntil("the start") { transport.started.count == 1 }
      transport.started[0].sink.finish(.failed(DownloadFailure(code, "no")))
      try await waitUntil("the next start") { transport.started.count == 2 }
      let record = try store.record(matching: url)
      #expect(record.failedAttempts == (lacksDescriptors ? 0 : 1))
      #expect(record.attempts.count == (lacksDescriptors ? 0 : 1))
    } ending: {
      transport.endCancelled()
    }
    let told = retries(await events.reduce(into: []) { $0.append($1) })
    #expect(
      told == [lacksDescriptors ? .outOfResources : DownloadFailure.Code(rawValue: code.rawValue)]
    )
  }
}
