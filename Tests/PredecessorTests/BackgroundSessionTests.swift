import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import SimulatedTransport
import Synchronization
import TestSupport
import TestTraits
import Testing

/// What the predecessors do over a background session of Apple's, done by our engine over a session
/// that is simulated.
@Suite struct BackgroundSessionTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  @Test(.requirements("ZY31", "ZY32", "ZY33", "ZY35", "SC8", "MO10"))
  func `pausing a background task stores resume data, and resuming continues from it`()
    async throws
  {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.store.pause(.all)
      try await fixture.endCancelled(first)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
      let data = try #require(try fixture.resumeData())
      #expect(try fixture.record().state == .paused)
      #expect(data.received == 400 && data.entityTag == "\"1\"" && data.form.isKeyedArchive)
      #expect(data.temporaryFileName?.hasPrefix("CFNetworkDownload_") == true)
      #expect(try fixture.sessionFiles() == [data.temporaryFileName])

      try fixture.store.resume(.all)
      let second = try await fixture.task(2)
      #expect(fixture.session.requests[1].resumeData != nil)
      #expect(fixture.session.network.requests[1].offset == 400)
      #expect(fixture.session.network.requests[1].validator == "\"1\"")
      fixture.finish(second)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
    #expect(try fixture.record().resumeData == nil)
    #expect(try fixture.sessionFiles().isEmpty)
  }

  @Test(.requirements("ZY30", "SC1", "MO2"))
  func `a background task continues without the app, and the next launch adopts it`()
    async throws
  {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    // Nobody hears of these.
    fixture.session.advance(task, atMost: 100)
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await waitUntil("what the session has") {
        await engine.progress().map(\.received) == [500]
      }
      fixture.finish(task)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(
    .requirements("FK5", "FK30", "ZY34"),
    arguments: [DownloadState.running, .waiting, .paused]
  )
  func `a task that finished without the app is delivered at the next launch`(
    state: DownloadState
  ) async throws {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: state))
    #expect(await fixture.session.liveTasks().map(\.state) == [.ended])
    try await fixture.running(try fixture.engine()) { try await fixture.reached(.completed) }
    #expect(fixture.session.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY33", "ZY34", "ZY35", "FK32", "SC10"))
  func `resume data delivered at launch is stored and continues the download`()
    async throws
  {
    try fixture.add("a", "b")
    for name in ["a", "b"] {
      let lost = TaskFailure(code: .connectionLost, message: "the system has ended it")
      fixture.session.network.interrupt(fixture.url(name), afterBytes: 400, with: lost)
    }
    let held = fixture.url("b")
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, held) { $0 = $0.applying(.pause) }
    }
    let left = [
      try fixture.leave(400, "a", as: .running), try fixture.leave(400, "b", as: .paused),
    ]
    for task in left { fixture.finish(task) }
    try await fixture.running(try fixture.engine()) {
      let next = try await fixture.task(3)
      #expect(fixture.session.requests[2].url == fixture.url("a"))
      #expect(fixture.session.network.requests[2].offset == 400)
      fixture.finish(next)
      try await fixture.reached(.completed, "a")
      try await waitUntil("resume data") { try fixture.record("b").resumeData != nil }
      #expect(try fixture.record("b").state == .paused)
    }
    #expect(fixture.body.matches(try fixture.file("a")))
    #expect(try fixture.resumeData("b")?.received == 400)
  }

  @Test(.requirements("ZY32", "SC8"))
  func `the running task of a paused download is cancelled at launch with resume data`()
    async throws
  {
    try fixture.add("a")
    try fixture.store.pause(.all)
    let task = try fixture.leave(400, as: .paused)
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(task)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
    }
    #expect(try fixture.record().state == .paused)
    #expect(try fixture.resumeData()?.received == 400)
  }

  @Test(.requirements("ZY38", "ZY63"))
  func `a preempted background task leaves resume data and continues from it`() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine(1)) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.add("b")
      try fixture.store.resume(.named(try fixture.record("b").id), immediately: true)
      try await fixture.endCancelled(first)
      let second = try await fixture.task(2)
      #expect(try fixture.resumeData()?.received == 400)
      try fixture.store.resume(.named(try fixture.record().id))
      fixture.finish(second)
      let third = try await fixture.task(3)
      #expect(fixture.session.network.requests[2].offset == 400)
      fixture.finish(third)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY36", "SC11"))
  func `a background launch without a network keeps the resume data`() async throws {
    try await pauseWithResumeData()
    let blob = try fixture.record().resumeData
    fixture.session.leavesResumeData = false
    let offline = TaskFailure(code: .cannotFindHost, message: "there is no network")
    fixture.session.network.interrupt(fixture.url("a"), afterBytes: -1, with: offline)
    try fixture.store.resume(.all)
    try await fixture.running(try fixture.engine(firstRetry: .seconds(3600))) {
      fixture.finish(try await fixture.task(2))
      try await waitUntil("the failure") { try fixture.record().attempts.count == 1 }
      #expect(try fixture.record().resumeData == blob)
    }
  }

  @Test(.requirements("ZY34", "ZY39", "ZY46"))
  func `resume data whose temporary file is missing is dropped and the download restarts`()
    async throws
  {
    try await pauseWithResumeData()
    for name in try fixture.sessionFiles() {
      try FileManager.default.removeItem(atPath: fixture.folder.path("session/\(name)"))
    }
    try fixture.store.resume(.all)
    try await fixture.running(try fixture.engine()) {
      // The second could not even start.
      let third = try await fixture.task(3)
      #expect(fixture.session.requests.map { $0.resumeData != nil } == [false, true, false])
      #expect(try fixture.record().resumeData == nil)
      fixture.finish(third)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY39", "ZY40", "ZY41", "ZY43", "ZY44", "ZY45"))
  func `after a lost connection the download continues from the copied temporary file`()
    async throws
  {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    let lost = TaskFailure(code: .connectionLost, message: "and the system has nothing")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(50, first)
      // It leaves resume data and goes on from it, so that its file is known. The engine does not
      // notice.
      fixture.session.advance(first)
      #expect(fixture.session.network.requests.map(\.offset) == [0, 50])
      #expect(fixture.session.requests.count == 1)
      #expect(try fixture.record().attempts.isEmpty)
      fixture.session.advance(first)
      for _ in 0..<6 { fixture.session.advance(first, atMost: 100) }
      fixture.session.leavesResumeData = false
      fixture.session.network.end(
        try #require(fixture.session.network.tasks.first?.id),
        .failed(lost)
      )
      let second = try await fixture.task(2)
      #expect(fixture.session.network.requests.map(\.offset) == [0, 50, 650])
      fixture.finish(second)
      try await fixture.reached(.completed)
    }
    #expect(try fixture.record().attempts.map(\.failure.code) == [.connectionLost])
    #expect(fixture.body.matches(try fixture.file()))
    #expect(try fixture.sessionFiles().isEmpty)
    #expect(try fixture.folder.names(in: "session-copies").isEmpty)
  }

  @Test(.requirements("ZY34", "ZY36", "ZY40", "ZY45"), arguments: [true, false])
  func `a connection lost without the app costs none of the copied bytes`(
    isOfflineAtLaunch: Bool
  ) async throws {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    let task = try fixture.leave(0, as: .running)
    // The application runs until 650 bytes are there: it asks for resume data, and copies.
    _ = await fixture.session.liveTasks()
    for _ in 0..<3 { fixture.session.advance(task, atMost: 50) }
    for _ in 0..<6 { fixture.session.advance(task, atMost: 100) }
    let copied = 650 as Int64
    #expect(fixture.session.tasks.map(\.bytesReceived) == [copied])
    fixture.session.crash()
    fixture.session.leavesResumeData = false
    let lost = TaskFailure(code: .connectionLost, message: "and the system has nothing")
    fixture.session.network.end(
      try #require(fixture.session.network.tasks.first?.id),
      .failed(lost)
    )
    #expect(try fixture.sessionFiles().isEmpty)
    if isOfflineAtLaunch {
      let offline = TaskFailure(code: .cannotFindHost, message: "there is no network")
      fixture.session.network.interrupt(fixture.url("a"), afterBytes: -1, with: offline)
    }
    try await fixture.running(try fixture.engine()) {
      let number = isOfflineAtLaunch ? 3 : 2 as UInt64
      if isOfflineAtLaunch { fixture.finish(try await fixture.task(2)) }
      fixture.finish(try await fixture.task(number))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.dropFirst(2).allSatisfy { $0.offset == copied })
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `copies of a removed download are deleted at the next launch`() async throws {
    let fixture = try BackgroundFixture(copyInterval: 100)
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(50, first)
      for _ in 0..<6 { fixture.session.advance(first, atMost: 100) }
    }
    #expect(try !fixture.folder.names(in: "session-copies").isEmpty)
    try fixture.store.remove(.all)
    try await fixture.running(try fixture.engine()) {
      try await waitUntil("the copies to go") {
        try fixture.folder.names(in: "session-copies").isEmpty
      }
    }
  }

  @Test(
    .requirements("ZY47", "ZY48", "ZY52", "FK33"),
    arguments: [ResumeData.Consumer.iOS10, .iOS11]
  )
  func `resume data is repaired for the system version that resumes it`(
    system: ResumeData.Consumer
  ) async throws {
    let fixture = try BackgroundFixture(system: system)
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    // A newer system may have written it.
    let stored = try #require(try fixture.resumeData())
    let newer = try stored.converted(to: .keyedArchive)
    #expect(try newer.needsRepair(for: system))
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, url) { $0.resumeData = Data(newer.bytes) }
    }
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400])
    #expect(try fixture.record().attempts.isEmpty)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `unreadable resume data is dropped and the download restarts`()
    async throws
  {
    try fixture.add("a")
    try fixture.store.pause(.all)
    // Valid for the rules, which do not read the requests, and broken for the system.
    let draft = ResumeData.Draft(
      url: fixture.url("a"),
      received: 400,
      file: .temporaryName("CFNetworkDownload_gone00.tmp"),
      entityTag: "\"1\""
    )
    let blob = Data(try ResumeData(draft, form: .xml).bytes)
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, url) { $0.resumeData = blob }
    }
    try fixture.store.resume(.all)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.map { $0.resumeData != nil } == [true, false])
    #expect(fixture.body.matches(try fixture.file()))
  }

  // MARK: Deliveries

  @Test func `a file delivered right before a kill is delivered again at the next launch`()
    async throws
  {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: .running))
    // An application hears of it, and dies before an engine does.
    #expect(await fixture.session.liveTasks().map(\.isDelivered) == [true])
    fixture.session.crash()
    try await fixture.running(try fixture.engine()) { try await fixture.reached(.completed) }
    #expect(fixture.session.network.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
    #expect(fixture.session.keptDeliveries.isEmpty)
    #expect(try fixture.record().attempts.isEmpty)
  }

  @Test func `a delivered file half read before a kill is read again from its first byte`()
    async throws
  {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: .running))
    _ = await fixture.session.liveTasks()
    fixture.session.crash()
    let layout = try fixture.store.roots().layout(of: try fixture.record())
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(fixture.body[0..<300]).write(to: URL(filePath: layout.partialPath))
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, url) { record in
        record.received = 300
        record.expected = 1_000
        record.entityTag = "\"1\""
      }
    }
    // The record counts no byte when the file is begun again.
    let counted = Mutex<[Int64?]>([])
    let (store, url) = (fixture.store, fixture.url("a"))
    let engine = try DownloadEngine(
      store: store,
      transport: fixture.session,
      options: EngineOptions(),
      now: { Date() },
      environment: .live(
        EffectHook { effect in
          guard case .open = effect else { return nil }
          let received = try? store.record(named: url).received
          counted.withLock { $0.append(received) }
          return nil
        }
      )
    )
    try await fixture.running(engine) { try await fixture.reached(.completed) }
    #expect(counted.withLock { $0 } == [0])
    #expect(fixture.session.network.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
    #expect(fixture.session.keptDeliveries.isEmpty)
  }

  @Test func `a delivered file whose record is deleted or completed is deleted`() async throws {
    try fixture.add("a", "b")
    for name in ["a", "b"] { fixture.finish(try fixture.leave(400, name, as: .running)) }
    _ = await fixture.session.liveTasks()
    fixture.session.crash()
    let (gone, complete) = (fixture.url("a"), fixture.url("b"))
    try fixture.store.objects.writeNow { tx in
      try tx.delete(DownloadRecord.self, gone)
      _ = try tx.update(DownloadRecord.self, complete) { record in
        record.state = .completed
        record.received = 1_000
        record.completedAt = record.createdAt
      }
    }
    try await fixture.running(try fixture.engine()) {
      try await waitUntil("the bodies to go") { fixture.session.keptDeliveries.isEmpty }
    }
    #expect(fixture.session.network.requests.count == 2)
  }

  @Test(.requirements("SC4"), arguments: [200, 416])
  func `a resource that changed on the server is downloaded again from the first byte`(
    status: Int
  ) async throws {
    try await pauseWithResumeData()
    let new = SimulatedBody(seed: 8, byteCount: status == 200 ? 900 : 300)
    var resource = SimulatedResource(new, entityTag: "\"2\"")
    // Without a look at the validator, a file that has got too short is what is noticed.
    resource.heedsIfRange = status == 200
    fixture.session.network.serve(resource, at: fixture.url("a"))
    try fixture.store.resume(.all)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      if status == 416 { fixture.finish(try await fixture.task(3)) }
      try await fixture.reached(.completed)
    }
    #expect(new.matches(try fixture.file()))
  }

  @Test func `stopping the engine stores resume data for the next run`() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    #expect(try fixture.record().state == .waiting)
    #expect(try fixture.resumeData()?.received == 400)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests[1].offset == 400)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("FK31"))
  func `a task without a record is cancelled, and of two tasks the one with more bytes wins`()
    async throws
  {
    try fixture.add("a", "b")
    let less = try fixture.leave(100, "a", as: .running)
    let more = try fixture.leave(400, "a", as: .running)
    let nobodys = try fixture.leave(100, "b", as: .running)
    try fixture.store.objects.writeNow { [url = fixture.url("b")] tx in
      try tx.delete(DownloadRecord.self, url)
    }
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(less)
      try await fixture.endCancelled(nobodys)
      fixture.finish(more)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 3)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY25", "FK17"))
  func `a download removed without the app is deleted when its task has ended`()
    async throws
  {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    try fixture.store.remove(.all, withFile: true)
    try await fixture.running(try fixture.engine()) {
      #expect(throws: Never.self) { try fixture.record() }
      try await fixture.endCancelled(task)
      try await waitUntil("the record to go") {
        try fixture.store.records(DownloadRecord.all).isEmpty
      }
    }
    #expect(try fixture.folder.names(in: "store/files").isEmpty)
  }

  @Test func `a launch waits for a task that is already being cancelled`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.session.cancel(task)
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(task)
      // Its bytes are not asked for again.
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400])
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `adopting a live task marks its record running and drops the old resume data`()
    async throws
  {
    try fixture.add("a", "b")
    let left = try fixture.leave(400, as: .running)
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, url) { record in
        record.resumeData = Data([1])
        record.unresolvedStarts = 2
      }
    }
    try await fixture.running(try fixture.engine()) {
      // It starts when the launch is over.
      let other = try await fixture.task(2)
      let record = try fixture.record()
      #expect(record.state == .running)
      #expect(record.resumeData == nil && record.unresolvedStarts == 0)
      for task in [left, other] { fixture.finish(task) }
      for name in ["a", "b"] { try await fixture.reached(.completed, name) }
    }
    #expect(fixture.session.requests.count == 2)
  }

  @Test func `a suspended task of an active download is resumed`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.session.suspend(task)
    try await fixture.running(try fixture.engine()) {
      let adopted = try await fixture.task(1)
      fixture.finish(adopted)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("FK34"))
  func `stalled background tasks continue when the app enters the foreground`()
    async throws
  {
    try fixture.add("a")
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      let task = try await fixture.task(1)
      fixture.receive(400, task)
      fixture.session.fallSilent()
      #expect(!fixture.session.advance(task))
      engine.wakeTasks()
      fixture.finish(task)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 1)
  }

  /// Has a download stand still with 400 bytes that the session has.
  private func pauseWithResumeData() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.store.pause(.all)
      try await fixture.endCancelled(first)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
    }
  }
}
