import DownloadStore
import EngineTestSupport
import FaultServer
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync

/// Several waiters for the downloads of one store, each with a store value of its own, as in several
/// processes.
@Suite(.timeLimit(.minutes(10)))
struct SharedDownloadsTests {
  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 400_000, seed: 5)

  init() throws {
    fixture = try EngineFixture()
  }

  /// Routes a file whose transfer waits for the gate.
  private func gated(_ path: String, framing: Resource.Framing = .contentLength) -> Gate {
    let gate = Gate()
    var resource = Resource(body)
    resource.framing = framing
    (resource.bytesPerSecond, resource.rateGate) = (1_000, gate)
    fixture.server.route(path, resource)
    return gate
  }

  private func downloads(
    _ paths: String...,
    change: (inout EngineOptions) -> Void = { _ in }
  ) -> SharedDownloads {
    var options = EngineOptions()
    options.removeTimeLimits()
    options.retry = RetryPolicy(maximumAttempts: 2, base: .milliseconds(1), cap: .seconds(1))
    change(&options)
    return fixture.store.downloads(
      .matching(paths.map { fixture.server.url($0) }),
      transport: TransportUnderTest.make(),
      options: options,
      every: .milliseconds(10)
    )
  }

  private func states(_ progress: SharedProgress?) -> [DownloadState] {
    progress?.records.map(\.state) ?? []
  }

  @Test func `without another engine the downloads run here, to their ends`() async throws {
    fixture.server.route("/a", Resource(body))
    for path in ["/a", "/none"] { try fixture.add(path) }
    try fixture.add("/other")
    var last: SharedProgress?
    for try await progress in downloads("/a", "/none") { last = progress }
    #expect(states(last) == [.completed, .failedPermanent])
    #expect(last?.isLeading == true && last?.received == body.byteCount)
    // Nothing waits for it.
    #expect(try fixture.record("/other").state == .waiting)
    #expect(EngineLock.holder(storePath: fixture.store.path) == nil)
    #expect(WaiterFolder.names(in: fixture.store.path).isEmpty)
  }

  @Test func `an engine runs each of two downloads whose URLs differ only in their bytes`()
    async throws
  {
    for path in ["/%C3%A9", "/e%CC%81"] { fixture.server.route(path, Resource(body)) }
    let urls = try ["/\u{E9}", "/e\u{301}"].map { try fixture.add($0).url }
    let engine = try fixture.engine { $0.scope = URLSet(urls) }
    let summary = try await engine.run(until: .finished(.matching(urls)))
    #expect(summary == RunSummary(completed: 2))
  }

  @Test(arguments: [Resource.Framing.contentLength, .chunked])
  func `the total is known from the start if the requests state the sizes`(
    framing: Resource.Framing
  ) async throws {
    let gate = gated("/a", framing: framing)
    fixture.server.route("/b", Resource(body))
    for path in ["/a", "/b"] { try fixture.add(path) { $0.byteCount = body.byteCount } }
    var totals: Set<Int64?> = []
    for try await progress in downloads("/a", "/b", change: { $0.limits.maximumRunning = 1 }) {
      totals.insert(progress.expected)
      guard progress.transfers.contains(where: { $0.received > 0 }) else { continue }
      #expect(try fixture.record("/b").expected == body.byteCount)
      gate.open()
    }
    #expect(totals == [2 * body.byteCount])
  }

  @Test func `the received bytes do not decrease when a transfer ends`() async throws {
    var gates: [String: Gate] = [:]
    for path in ["/a", "/b", "/c"] {
      gates[path] = gated(path)
      try fixture.add(path)
    }
    var received: Int64 = 0
    for try await progress in downloads("/a", "/b", "/c", change: { $0.limits.maximumRunning = 1 })
    {
      #expect(progress.received >= received)
      received = progress.received
      for transfer in progress.transfers where transfer.received > 0 {
        gates["/\(transfer.filename)"]?.open()
      }
    }
    #expect(received == 3 * body.byteCount)
  }

  @Test func `a download with several names in a selection counts once`() async throws {
    fixture.server.route("/a", Resource(body))
    let record = try fixture.add("/a") { $0.key = "k" }
    let shared = fixture.store.downloads(
      .matching([record.url, record.url, "k", record.id]),
      transport: TransportUnderTest.make()
    )
    var last: SharedProgress?
    for try await progress in shared { last = progress }
    #expect(states(last) == [.completed])
    #expect(last?.received == body.byteCount && last?.expected == body.byteCount)
  }

  @Test func `the leader runs the downloads of the others, and each ends with its own`()
    async throws
  {
    let gate = gated("/a")
    for path in ["/b", "/c"] { fixture.server.route(path, Resource(body)) }
    for path in ["/a", "/b", "/c"] { try fixture.add(path) }
    var leader = downloads("/a").makeAsyncIterator()
    while let progress = try await leader.next(), !progress.isLeading {}
    // They begin to wait while the leader runs.
    for path in ["/b", "/c"] {
      var last: SharedProgress?
      for try await progress in downloads(path) {
        #expect(!progress.isLeading)
        last = progress
      }
      #expect(states(last) == [.completed])
    }
    #expect(try fixture.record("/a").state == .running)
    gate.open()
    var last: SharedProgress?
    while let progress = try await leader.next() { last = progress }
    #expect(states(last) == [.completed])
    for name in ["a", "b", "c"] { #expect(body.matches(file: fixture.file(name))) }
  }

  @Test func `a follower takes over when the leader stops waiting`() async throws {
    let gate = gated("/b")
    _ = gated("/a")
    for path in ["/a", "/b"] { try fixture.add(path) }
    let (first, second) = (downloads("/a"), downloads("/b"))
    let (leads, leading) = AsyncStream<Void>.makeStream()
    let leader = Task {
      for try await progress in first where progress.isLeading { leading.yield() }
    }
    for await _ in leads { break }
    let follower = Task { () -> [Bool] in
      var roles: [Bool] = []
      for try await progress in second {
        if roles.last != progress.isLeading { roles.append(progress.isLeading) }
        // The leader runs the download of the follower.
        if roles == [false], progress.records[0].state == .running { leader.cancel() }
        if roles == [false, true], !progress.transfers.isEmpty { gate.open() }
      }
      return roles
    }
    try await leader.value
    #expect(try await follower.value == [false, true])
    #expect(try fixture.record("/a").state == .waiting)
    #expect(try fixture.record("/b").state == .completed)
  }

  @Test func `a download with hooks is run by its own process only`() async throws {
    let gate = gated("/a")
    fixture.server.route("/b", Resource(body))
    for path in ["/a", "/b"] { try fixture.add(path) }
    var leader = downloads("/a").makeAsyncIterator()
    while let progress = try await leader.next(), !progress.isLeading {}
    var follower = downloads("/b") { $0.hooks = [.completion] }.makeAsyncIterator()
    #expect(states(try await follower.next()) == [.waiting])
    gate.open()
    while try await leader.next() != nil {}
    var last: SharedProgress?
    while let progress = try await follower.next() { last = progress }
    #expect(last?.isLeading == true && states(last) == [.completed])
    #expect(try fixture.record("/b").pendingHooks == [.completion])
  }

  @Test func `a leader and a follower get each end as one event, also of earlier ends`()
    async throws
  {
    fixture.server.route("/old", Resource(body))
    try fixture.add("/old")
    for try await _ in downloads("/old") {}
    let gate = gated("/a")
    for path in ["/a", "/none"] { try fixture.add(path) }
    func ends(
      _ downloads: SharedDownloads,
      _ step: @escaping @Sendable (SharedProgress) -> Void
    )
      async throws -> [String]
    {
      var ends: [String] = []
      for try await progress in downloads {
        for event in progress.events where event.isEnd {
          let name = event.url.map { String($0.split(separator: "/").last ?? "") } ?? ""
          if case .completed = event { ends.append("\(name) completed") }
          if case .failed = event { ends.append("\(name) failed") }
        }
        step(progress)
      }
      return ends.sorted()
    }
    let (leads, leading) = AsyncStream<Void>.makeStream()
    let (first, second) = (downloads("/a", "/none", "/old"), downloads("/old", "/none", "/a"))
    let leader = Task { try await ends(first) { if $0.isLeading { leading.yield() } } }
    for await _ in leads { break }
    let follower = Task {
      try await ends(second) { progress in
        #expect(!progress.isLeading)
        // Its transfers are those of the records.
        if let transfer = progress.transfers.first, !transfer.isLive { gate.open() }
      }
    }
    let expected = ["a completed", "none failed", "old completed"]
    #expect(try await follower.value == expected)
    #expect(try await leader.value == expected)
  }

  @Test func `without waiting another engine is an error, unless the downloads have ended`()
    async throws
  {
    let gate = gated("/a")
    try fixture.add("/a")
    var leader = downloads("/a").makeAsyncIterator()
    while let progress = try await leader.next(), !progress.isLeading {}
    var other = downloads("/a") { $0.lockPatience = .zero }
    other.waits = false
    let refused = other
    let error = await #expect(throws: EngineError.self) { for try await _ in refused {} }
    #expect(error?.code == .alreadyRunning)
    gate.open()
    while try await leader.next() != nil {}
    let engine = try fixture.engine()
    var last: SharedProgress?
    for try await progress in refused { last = progress }
    #expect(states(last) == [.completed])
    withExtendedLifetime(engine) {}
  }

  @Test func `after stop the engine has ended, and the last state follows`() async throws {
    _ = gated("/a")
    try fixture.add("/a")
    var shared = downloads("/a").makeAsyncIterator()
    while let progress = try await shared.next() {
      if progress.transfers.contains(where: { $0.received > 0 }) { break }
    }
    await shared.stop()
    #expect(EngineLock.holder(storePath: fixture.store.path) == nil)
    var last: SharedProgress?
    while let progress = try await shared.next() { last = progress }
    #expect(last?.isLeading == true && states(last) == [.waiting])
    #expect((last?.received ?? 0) > 0)
  }

  @Test func `a process with a proxy of its own runs its downloads itself`() async throws {
    let gate = gated("/a")
    fixture.server.route("/b", Resource(body))
    for path in ["/a", "/b"] { try fixture.add(path) }
    var leader = downloads("/a").makeAsyncIterator()
    while let progress = try await leader.next(), !progress.isLeading {}
    var follower = downloads("/b") { $0.sharesDownloads = false }.makeAsyncIterator()
    #expect(states(try await follower.next()) == [.waiting])
    #expect(WaiterFolder.names(in: fixture.store.path).count == 1)
    gate.open()
    while try await leader.next() != nil {}
    var last: SharedProgress?
    while let progress = try await follower.next() { last = progress }
    #expect(last?.isLeading == true && states(last) == [.completed])
  }

  @Test func `a pause ends the waiting, and an unknown download is an error`() async throws {
    _ = gated("/a")
    try fixture.add("/a")
    var last: SharedProgress?
    for try await progress in downloads("/a") {
      last = progress
      if progress.transfers.first.map({ $0.received > 0 }) ?? false {
        try await fixture.store.pause(.matching(fixture.server.url("/a")))
      }
    }
    #expect(states(last) == [.paused])
    await #expect(throws: RecordStoreError.self) {
      for try await _ in downloads("/none") {}
    }
  }

  @Test func `a run ends when some downloads have ended, and stops the others`() async throws {
    _ = gated("/slow")
    fixture.server.route("/a", Resource(body))
    for path in ["/slow", "/a"] { try fixture.add(path) }
    let engine = try fixture.engine()
    let goal = RunGoal.finished(.matching([fixture.server.url("/a"), "https://h/unknown"]))
    #expect(try await engine.run(until: goal) == RunSummary(completed: 1))
    #expect(try fixture.record("/a").state == .completed)
    #expect(try fixture.record("/slow").state == .waiting)
    // Nothing is left to do.
    let again = try fixture.engine()
    #expect(try await again.run(until: goal) == RunSummary())
  }
}
