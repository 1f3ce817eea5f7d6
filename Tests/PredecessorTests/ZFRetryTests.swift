import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import TestSupport
import Testing
import URLSessionTransport

/// What ZFRetryDownloader promises, and what it does wrong.
@Suite(.timeLimit(.minutes(2)))
struct ZFRetryTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test func `ZF2 MO9 every callback may be left out`() async throws {
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(of: fixture.server.url("/a"))
    let (ends, end) = AsyncStream.makeStream(of: String?.self)
    let (amounts, amount) = AsyncStream.makeStream(of: Int64.self)
    let observations = [
      handle.observe(),
      handle.observe(progress: { amount.yield($0.received) }),
      handle.observe(end: { end.yield((try? $0.get())?.filePath) }),
    ]
    _ = try await engine.run(until: .idle)
    #expect(await ends.first { _ in true } == fixture.file("a"))
    #expect(await amounts.first { $0 == 3 } == 3)
    for observation in observations { observation.cancel() }
  }

  @Test func `ZF4 ZF5 a list stops at its first success and ends once`() async throws {
    fixture.server.route("/a", Resource(.text("a"), faults: .status(404), then: .repeatLast))
    fixture.server.route("/b", Resource(.text("abc")))
    fixture.server.route("/c", Resource(.text("abc")))
    try fixture.add("/a") { $0.mirrors = ["/b", "/c"].map(fixture.server.url) }
    let (summary, events) = try await fixture.run()
    #expect(events.map(\.word) == ["started", "retrying", "started", "completed"])
    #expect(summary == RunSummary(completed: 1))
    #expect(fixture.server.requests.map(\.target) == ["/a", "/b"])
  }

  @Test func `ZF3 ZF5 a list that is used up fails once, and says which entries did`() async throws
  {
    for path in ["/a", "/b", "/c"] {
      fixture.server.route(path, Resource(.text("a"), faults: .status(404), then: .repeatLast))
    }
    try fixture.add("/a") { $0.mirrors = ["/b", "/c"].map(fixture.server.url) }
    let (summary, events) = try await fixture.run()
    #expect(events.filter(\.isEnd).map(\.word) == ["failed"])
    #expect(summary == RunSummary(failed: 1))
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.map(\.url) == ["/a", "/b", "/c"].map(fixture.server.url))
    #expect(attempts.map(\.failure.code) == [.notFound, .notFound, .notFound])
  }

  @Test func `ZF7 what takes longer than the idle time-out and never idles is no time-out`()
    async throws
  {
    let body = Body.generated(byteCount: 500_000, seed: 7)
    var resource = Resource(body)
    resource.bytesPerSecond = 100_000
    fixture.server.route("/a", resource)
    let record = try fixture.add("/a")
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: URLSessionTransport(idleTimeout: .seconds(4))
    )
    let begin = ContinuousClock.now
    _ = try await engine.run(until: .idle)
    #expect(begin.duration(to: .now) > .seconds(4))
    #expect(try fixture.store.record(named: record.url).attempts.isEmpty)
    #expect(fixture.server.requests.count == 1)
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `ZF10 a destination that cannot be a folder is one failure, and nothing else`()
    async throws
  {
    fixture.server.route("/a", Resource(.text("abc")))
    let files = fixture.folder.appending(path: "store/files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try Data("theirs".utf8).write(to: files.appending(path: "sub"))
    try fixture.add("/a") { $0.folder = "sub" }
    let (summary, events) = try await fixture.run()
    #expect(events.filter(\.isEnd).map(\.word) == ["failed"])
    #expect(summary == RunSummary(failed: 1))
    #expect(try fixture.record("/a").attempts.last?.failure.code == .fileSystem)
    #expect(try String(contentsOfFile: fixture.file("sub"), encoding: .utf8) == "theirs")
  }

  @Test(
    arguments: [
      (FileNaming.fromURL, nil, "get"), (.fromURL, "report.pdf", "report.pdf"),
      (.fromResponse, nil, "naïve.pdf"), (.fromResponse, "report.pdf", "report.pdf"),
    ] as [(FileNaming, String?, String)]
  )
  func `ZF12 a name is the one that was given, or comes from where the policy says`(
    naming: FileNaming,
    given: String?,
    name: String
  ) async throws {
    var resource = Resource(.text("abc"))
    resource.fields = [
      Field(
        "Content-Disposition",
        "attachment; filename=\"x.bin\"; filename*=UTF-8''na%C3%AFve.pdf"
      )
    ]
    fixture.server.route("/get", resource)
    try fixture.add("/get") { $0.filename = given }
    _ = try await fixture.run { $0.naming = naming }
    let record = try fixture.record("/get")
    #expect(record.filename == name)
    #expect(try fixture.store.localPath(of: record) == fixture.file(name))
    #expect(try String(contentsOfFile: fixture.file(name), encoding: .utf8) == "abc")
  }

  @Test func `ZF12 a name from a response leads nowhere else and replaces nothing`() async throws {
    var resource = Resource(.text("abc"))
    resource.fields = [Field("Content-Disposition", "attachment; filename=\"../../a.txt\"")]
    fixture.server.route("/get", resource)
    let files = fixture.folder.appending(path: "store/files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try Data("theirs".utf8).write(to: files.appending(path: "a.txt"))
    try fixture.add("/get")
    _ = try await fixture.run { $0.naming = .fromResponse }
    #expect(try fixture.record("/get").filename == "a (2).txt")
    #expect(try String(contentsOfFile: fixture.file("a.txt"), encoding: .utf8) == "theirs")
    #expect(try String(contentsOfFile: fixture.file("a (2).txt"), encoding: .utf8) == "abc")
  }

  @Test func `FK28 the type of a response gives a name an extension`() async throws {
    var resource = Resource(.text("abc"))
    resource.fields = [Field("Content-Type", "application/pdf; charset=binary")]
    fixture.server.route("/report", resource)
    try fixture.add("/report")
    _ = try await fixture.run { $0.naming = .fromResponse }
    #expect(try fixture.record("/report").filename == "report.pdf")
    #expect(try fixture.record("/report").type == "pdf")
    #expect(try String(contentsOfFile: fixture.file("report.pdf"), encoding: .utf8) == "abc")
  }

  @Test func `ZF13 a file that is to be replaced is there until the new one is`() async throws {
    let fixture = try HandFixture()
    let file = try fixture.folder.makeFile("store/files/a", "theirs")
    var request = DownloadRequest(url: fixture.url("a"))
    request.collision = .replace
    try fixture.store.add([request])
    let engine = try fixture.engine()
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    let task = fixture.transport.started[0]
    task.receive([0x6E, 0x65], of: 3)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
    _ = task.sink.receive([0x77].span)
    task.sink.finish(.completed)
    #expect(try await summary == RunSummary(completed: 1))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
    #expect(try fixture.folder.names(in: "store/files") == ["a"])
  }

  @Test func `ZF13 a file that has changed since is somebody's, and is not replaced`() async throws
  {
    let fixture = try HandFixture()
    let file = try fixture.folder.makeFile("store/files/a", "theirs")
    var request = DownloadRequest(url: fixture.url("a"))
    request.collision = .replace
    try fixture.store.add([request])
    try Data("theirs, and more".utf8).write(to: URL(filePath: file))
    let engine = try fixture.engine()
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    fixture.transport.started[0].complete()
    #expect(try await summary == RunSummary(completed: 1))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs, and more")
    #expect(try fixture.record("a").filename == "a (2)")
  }

  @MainActor
  private static func words(_ events: DownloadEvents) async -> [String] {
    var words: [String] = []
    for await event in events {
      MainActor.assertIsolated()
      words.append(event.word)
    }
    return words
  }

  @Test func `ZF16 a consumer hears on the actor that it is on`() async throws {
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let events = engine.events()
    async let words = Self.words(events)
    _ = try await engine.run(until: .idle)
    #expect(await words == ["started", "completed"])
  }
}
