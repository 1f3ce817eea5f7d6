import DownloadStore
import DownloadSync
import DownloadURLSession
import EngineTestSupport
import FaultServer
import Foundation
import TestSupport
import TestTraits
import Testing

/// Requirements of ZFRetryDownloader, including those that it implements incorrectly.
@Suite(.timeLimit(.minutes(10)))
struct ZFRetryTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test(.requirements("ZF2", "MO9"))
  func `following the progress and waiting for the end are optional`()
    async throws
  {
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let (ends, end) = AsyncStream.makeStream(of: String?.self)
    let (amounts, amount) = AsyncStream.makeStream(of: Int64.self)
    let observations = [
      engine.follow(handle),
      engine.follow(handle, progress: { amount.yield($0.received) }),
      engine.follow(handle, end: { end.yield((try? $0.get())?.filePath) }),
    ]
    _ = try await engine.run(until: .idle)
    #expect(await ends.first { _ in true } == fixture.file("a"))
    #expect(await amounts.first { $0 == 3 } == 3)
    for observation in observations { observation.cancel() }
  }

  @Test(.requirements("ZF4", "ZF5"))
  func `a download with mirrors stops at the first success and ends once`() async throws {
    fixture.server.route("/a", Resource(.text("a"), faults: .status(404), then: .repeatLast))
    fixture.server.route("/b", Resource(.text("abc")))
    fixture.server.route("/c", Resource(.text("abc")))
    try fixture.add("/a") { $0.mirrors = ["/b", "/c"].map(fixture.server.url) }
    let (summary, events) = try await fixture.run()
    #expect(events.map(\.word) == ["started", "retrying", "started", "completed"])
    #expect(summary == RunSummary(completed: 1))
    #expect(fixture.server.requests.map(\.target) == ["/a", "/b"])
  }

  @Test(.requirements("ZF3", "ZF5"))
  func `a download fails once after its last mirror and records each failed URL`() async throws {
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

  @Test(.requirements("ZF7")) func `a slow transfer that never goes idle does not time out`()
    async throws
  {
    let body = Body.generated(byteCount: 500_000, seed: 7)
    var resource = Resource(body)
    resource.bytesPerSecond = 6_600
    fixture.server.route("/a", resource)
    let record = try fixture.add("/a")
    let engine = try DownloadEngine(
      store: fixture.store,
      // Longer than a busy machine stops the server, and shorter than the transfer takes.
      transport: URLSessionTransport(idleTimeout: .seconds(70))
    )
    let begin = ContinuousClock.now
    _ = try await engine.run(until: .idle)
    #expect(begin.duration(to: .now) > .seconds(70))
    #expect(try fixture.store.record(matching: record.url).attempts.isEmpty)
    #expect(fixture.server.requests.count == 1)
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test(.requirements("ZF10"))
  func `a download whose folder cannot be created fails once with a file system error`()
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
    .requirements("ZF12"),
    arguments: [
      (FileNaming.fromURL, nil, "get"), (.fromURL, "report.pdf", "report.pdf"),
      (.fromResponse, nil, "naïve.pdf"), (.fromResponse, "report.pdf", "report.pdf"),
    ] as [(FileNaming, String?, String)]
  )
  func `the requested filename wins; otherwise the naming policy decides`(
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

  @Test(.requirements("ZF12"))
  func `a filename from a response cannot leave the folder or replace a file`() async throws {
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

  @Test(.requirements("FK28"))
  func `the response's media type supplies a missing filename extension`() async throws {
    var resource = Resource(.text("abc"))
    resource.fields = [Field("Content-Type", "application/pdf; charset=binary")]
    fixture.server.route("/report", resource)
    try fixture.add("/report")
    _ = try await fixture.run { $0.naming = .fromResponse }
    #expect(try fixture.record("/report").filename == "report.pdf")
    #expect(try fixture.record("/report").type == "pdf")
    #expect(try String(contentsOfFile: fixture.file("report.pdf"), encoding: .utf8) == "abc")
  }

  @Test(.requirements("ZF13"))
  func `the existing file stays in place until its replacement is complete`() async throws {
    let fixture = try ManualFixture()
    let file = try fixture.folder.makeFile("store/files/a", "theirs")
    var request = DownloadRequest(url: fixture.url("a"))
    request.collision = .replace
    try fixture.store.addNow([request])
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

  @Test(.requirements("ZF13")) func `a file modified after the replace request is not replaced`()
    async throws
  {
    let fixture = try ManualFixture()
    let file = try fixture.folder.makeFile("store/files/a", "theirs")
    var request = DownloadRequest(url: fixture.url("a"))
    request.collision = .replace
    try fixture.store.addNow([request])
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

  @Test(.requirements("ZF16")) func `events are delivered on the consumer's actor`() async throws {
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let events = engine.events()
    async let words = Self.words(events)
    _ = try await engine.run(until: .idle)
    #expect(await words == ["started", "completed"])
  }
}
