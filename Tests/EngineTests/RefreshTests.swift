import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import Testing

/// A refresh: asks the server for a newer version of a finished file.
@Suite(.timeLimit(.minutes(10)))
struct RefreshTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  private let fixture: EngineFixture
  private let old = Body.generated(byteCount: 300_000, seed: 71)
  private let new = Body.generated(byteCount: 400_000, seed: 72)

  init() throws {
    fixture = try EngineFixture()
  }

  /// Downloads the old version of a file.
  private func complete(_ resource: Resource) async throws {
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run()
    #expect(old.matches(file: fixture.file("a")))
  }

  /// Requests a refresh, and runs an engine until it has ended.
  private func refresh(
    _ change: (inout EngineOptions) -> Void = { $0.retry = RetryPolicy(maximumAttempts: 1) }
  ) async throws -> (summary: RunSummary, events: [DownloadEvent]) {
    let outcomes = try await fixture.store.refresh(.all)
    #expect(outcomes.allSatisfy { $0.isDone })
    return try await fixture.run(change)
  }

  /// Checks that the record is complete, and that no partial file is left.
  private func expectComplete(_ body: Body) throws {
    let record = try fixture.record("/a")
    #expect(record.state == .completed && record.refreshed == nil)
    #expect(record.received == body.byteCount && record.expected == body.byteCount)
    #expect(body.matches(file: fixture.file("a")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  @Test(
    arguments: [
      ("\"1\"", nil), ("W/\"1\"", nil), (nil, date), ("\"1\"", date),
    ] as [(String?, String?)]
  )
  func `a server without a newer version sends no body`(tag: String?, date: String?) async throws {
    try await complete(Resource(old, etag: tag, lastModified: date))
    let before = try fixture.record("/a")
    let (summary, events) = try await refresh()
    #expect(summary == RunSummary(unchanged: 1))
    #expect(events.contains { if case .unchanged = $0 { true } else { false } })
    try expectComplete(old)
    let record = try fixture.record("/a")
    #expect(record.checkedAt != nil && record.completedAt == before.completedAt)
    #expect(record.entityTag == before.entityTag && record.fileIdentity == before.fileIdentity)
    #expect(record.refreshFailure == nil)
    let request = try #require(fixture.server.requests.last)
    #expect(request["If-None-Match"] == tag && request["If-Modified-Since"] == date)
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `a refresh that gets another server's URL asks without a condition`() async throws {
    try await complete(Resource(old, etag: "\"1\""))
    let id = try fixture.record("/a").id
    let other = try FaultServer()
    defer { other.stop() }
    // This server would confirm the tag of the first one.
    other.route("/a", Resource(new, etag: "\"1\""))
    try await fixture.store.refresh(.all)
    try fixture.store.replaceURLNow(matching: id, with: other.url("/a"))
    #expect(try await fixture.run().summary == RunSummary(completed: 1))
    let request = try #require(other.requests.first)
    #expect(request["If-None-Match"] == nil && request["If-Modified-Since"] == nil)
    #expect(new.matches(file: fixture.file("a")))
  }

  @Test func `a newer version replaces the finished file when it is complete`() async throws {
    try await complete(Resource(old))
    let before = try fixture.record("/a")
    var resource = Resource(new, etag: "\"2\"")
    resource.faults = [.closeAfter(bytes: 200_000)]
    let gate = fixture.routeGated("/a", resource)
    try await fixture.store.refresh(.all)
    let engine = try fixture.engine { $0.retry = RetryPolicy(maximumAttempts: 2) }
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("half of the file") {
      await engine.currentProgress().first.map { $0.received >= 200_000 } ?? false
    }
    #expect(old.matches(file: fixture.file("a")))
    gate.open()
    #expect(try await run.value == RunSummary(completed: 1))
    try expectComplete(new)
    // The rest was requested, not the whole file.
    #expect(fixture.ranges("/a") == [nil, nil, "bytes=200000-"])
    let record = try fixture.record("/a")
    #expect(record.entityTag == "\"2\"" && record.checkedAt == nil)
    #expect(record.fileIdentity != before.fileIdentity)
  }

  @Test func `a server that ignores the condition is recognised by its validator`() async throws {
    var resource = Resource(old)
    resource.honoursConditions = false
    try await complete(resource)
    let (summary, _) = try await refresh()
    #expect(summary == RunSummary(unchanged: 1))
    try expectComplete(old)
  }

  @Test func `without a validator the file is downloaded again`() async throws {
    try await complete(Resource(old, etag: nil))
    fixture.server.route("/a", Resource(new, etag: nil))
    let (summary, _) = try await refresh()
    #expect(summary == RunSummary(completed: 1))
    try expectComplete(new)
  }

  @Test(arguments: [404, 410, 403, 500])
  func `a refresh that the server refuses leaves the finished file`(status: Int) async throws {
    try await complete(Resource(old))
    let before = try fixture.record("/a")
    fixture.server.route("/a", Resource(new, faults: .status(status), then: .repeatLast))
    let (summary, events) = try await refresh()
    #expect(summary == RunSummary(failed: 1))
    #expect(events.contains { if case .failed = $0 { true } else { false } })
    try expectComplete(old)
    let record = try fixture.record("/a")
    #expect(record.refreshFailure?.message.contains("\(status)") == true)
    #expect(record.entityTag == before.entityTag && record.completedAt == before.completedAt)
    // The next one asks with the same condition.
    fixture.server.route("/a", Resource(old))
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    #expect(try fixture.record("/a").refreshFailure == nil)
  }

  @Test func `a newer version that breaks off for good leaves the finished file`() async throws {
    try await complete(Resource(old))
    var resource = Resource(new, etag: "\"2\"")
    resource.faults = [.closeAfter(bytes: 100_000), .status(404)]
    resource.afterFaults = .repeatLast
    fixture.server.route("/a", resource)
    let (summary, _) = try await refresh { $0.retry = RetryPolicy(base: .milliseconds(1)) }
    #expect(summary == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").entityTag == "\"1\"")
  }

  @Test(arguments: [true, false])
  func `a file without the digest that is required since its refresh began is not complete`(
    isUnchanged: Bool
  ) async throws {
    try await complete(Resource(old))
    try await fixture.store.refresh(.all)
    let required = digest(new)
    var request = DownloadRequest(url: fixture.server.url("/a"))
    request.digest = required
    try fixture.store.addNow([request])
    fixture.server.route(
      "/a",
      isUnchanged ? Resource(old) : Resource(new, faults: .status(404), then: .repeatLast)
    )
    let (summary, _) = try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    #expect(summary == RunSummary(failed: 1))
    #expect(try fixture.record("/a").state == .failedPermanent)
    #expect(fixture.server.requests.last?["If-None-Match"] == nil)
    // The previous file stays until one with the digest replaces it.
    #expect(old.matches(file: fixture.file("a")))
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    try fixture.store.apply(.resume(immediately: false), to: .all)
    #expect(try await fixture.run().summary == RunSummary(completed: 1))
    #expect(new.matches(file: fixture.file("a")))
  }

  @Test(arguments: [404, 503])
  func `a mirror, which may have an older version, is not asked for a newer one`(
    status: Int
  ) async throws {
    fixture.server.route("/a", Resource(old))
    fixture.server.route("/mirror", Resource(new, etag: "\"0\""))
    let mirror = fixture.server.url("/mirror")
    try fixture.add("/a") { $0.mirrors = [mirror] }
    try await fixture.run()
    fixture.server.route("/a", Resource(old, faults: .status(status), then: .repeatLast))
    let (summary, _) = try await refresh {
      $0.retry = RetryPolicy(maximumAttempts: 2, base: .milliseconds(1))
    }
    #expect(summary == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(fixture.server.requests.allSatisfy { $0.target == "/a" })
  }

  @Test func `a 304 about another version is a failure`() async throws {
    try await complete(Resource(old))
    var resource = Resource(old)
    resource.faults = [.rawResponse("HTTP/1.1 304 Not Modified\r\nETag: \"9\"\r\n\r\n")]
    resource.afterFaults = .repeatLast
    fixture.server.route("/a", resource)
    #expect(try await refresh().summary == RunSummary(failed: 1))
    try expectComplete(old)
  }

  @Test(arguments: [nil, "\"1\""])
  func `a login page does not replace the finished file`(tag: String?) async throws {
    try fixture.add("/a.iso")
    fixture.server.route("/a.iso", Resource(old, etag: tag))
    try await fixture.run()
    var page = Resource(.text("<html>please log in</html>"), etag: nil)
    page.fields = [Field("Content-Type", "text/html")]
    fixture.server.route("/a.iso", page)
    #expect(try await refresh().summary == RunSummary(failed: 1))
    #expect(old.matches(file: fixture.file("a.iso")))
  }

  @Test(arguments: [
    "Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Connection: close\r\n\r\n",
  ])
  func `an answer without bytes and validator does not replace the finished file`(
    rest: String
  ) async throws {
    try await complete(Resource(old))
    func answer(_ fields: String) -> Resource {
      var resource = Resource(old)
      resource.faults = [.rawResponse("HTTP/1.1 200 OK\r\n\(fields)")]
      resource.afterFaults = .repeatLast
      return resource
    }
    fixture.server.route("/a", answer(rest))
    #expect(try await refresh().summary == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").refreshFailure?.code == .badResponse)
    // A file that has become empty has a validator.
    fixture.server.route("/a", answer("ETag: \"2\"\r\n" + rest))
    #expect(try await refresh().summary == RunSummary(completed: 1))
    #expect(FileIdentity(ofFileAt: fixture.file("a"))?.size == 0)
    // It may stay empty, and get bytes.
    fixture.server.route("/a", answer(rest))
    #expect(try await refresh().summary.failed == 0)
    fixture.server.route("/a", Resource(new, etag: "\"3\""))
    #expect(try await refresh().summary == RunSummary(completed: 1))
    try expectComplete(new)
  }

  @Test(arguments: [true, false])
  func `a cancelled refresh leaves the finished file`(hasStarted: Bool) async throws {
    try await complete(Resource(old))
    var resource = Resource(new, etag: "\"2\"")
    resource.faults = [.closeAfter(bytes: 100_000)]
    resource.afterFaults = .repeatLast
    fixture.server.route("/a", resource)
    try await fixture.store.refresh(.all)
    if hasStarted {
      let engine = try fixture.engine {
        $0.retry = RetryPolicy(maximumAttempts: 8, base: .seconds(3_600), cap: .seconds(3_600))
      }
      let run = Task { try await engine.run(until: .idle) }
      try await waitUntil("a failed attempt") {
        try fixture.record("/a").state == .failedRetryable
      }
      try await fixture.store.cancel(.all)
      _ = try await run.value
    } else {
      try await fixture.store.cancel(.all)
      try await fixture.run()
    }
    try expectComplete(old)
    #expect(try fixture.record("/a").entityTag == "\"1\"")
  }

  @Test(arguments: [true, false])
  func `the cancel of a refresh reports no failure, of it or of an earlier one`(
    isTransferred: Bool
  ) async throws {
    try await complete(Resource(old))
    fixture.server.route("/a", Resource(.text("no"), faults: .status(403)))
    #expect(try await refresh().summary == RunSummary(failed: 1))
    var resource = Resource(new, etag: "\"2\"")
    resource.faults = [isTransferred ? .stallAfter(bytes: 100_000) : .closeAfter(bytes: 100_000)]
    resource.afterFaults = .repeatLast
    fixture.server.route("/a", resource)
    try await fixture.store.refresh(.all)
    let engine = try fixture.engine {
      $0.retry = RetryPolicy(maximumAttempts: 8, base: .seconds(3_600), cap: .seconds(3_600))
    }
    let events = engine.events()
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("bytes") {
      let isReceiving = await engine.currentProgress().first.map { $0.received >= 100_000 } ?? false
      return try isTransferred ? isReceiving : fixture.record("/a").state == .failedRetryable
    }
    try await fixture.store.cancel(.all)
    #expect(try await run.value == RunSummary())
    for await event in events {
      if case .failed(_, let failure) = event { Issue.record("\(failure)") }
    }
    try expectComplete(old)
  }

  @Test(arguments: [true, false])
  func `a cancel ends in a folder that permits no changes, and empties the partial file`(
    isRefresh: Bool
  ) async throws {
    if isRefresh {
      try await complete(Resource(old))
      try await fixture.store.refresh(.all)
    } else {
      try fixture.add("/a")
    }
    var resource = Resource(new, etag: "\"2\"")
    resource.faults = [.stallAfter(bytes: 100_000)]
    fixture.server.route("/a", resource)
    let hook = EffectHook { effect in
      if case .remove = effect { EPERM } else { nil }
    }
    let engine = try fixture.engine(environment: .live(hook))
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("bytes") {
      await engine.currentProgress().first.map { $0.received >= 100_000 } ?? false
    }
    try await fixture.store.cancel(.all)
    #expect(try await run.value.failed == 0)
    let record = try fixture.record("/a")
    #expect(record.state == (isRefresh ? .completed : .cancelled))
    let layout = try fixture.store.roots().layout(of: record)
    #expect(FileIdentity(ofFileAt: layout.partialPath)?.size == 0)
    if isRefresh { #expect(old.matches(file: layout.finalPath)) }
    // The bytes that were there are requested again.
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    if isRefresh {
      try await fixture.store.refresh(.all)
    } else {
      try fixture.add("/a")
    }
    #expect(try await fixture.run().summary == RunSummary(completed: 1))
    try expectComplete(new)
  }

  @Test func `a required digest refuses another version before its body`() async throws {
    fixture.server.route("/a", Resource(old))
    let required = digest(old)
    try fixture.add("/a") { $0.digest = required }
    try await fixture.run()
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    #expect(try await refresh().summary == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").refreshFailure?.code == .digestMismatch)
  }

  @Test(arguments: [true, false])
  func `without a validator, bytes of the same size are compared with the required digest`(
    isSame: Bool
  ) async throws {
    let required = digest(old)
    try fixture.add("/a") { $0.digest = required }
    try await complete(Resource(old, etag: nil))
    let other = Body.generated(byteCount: old.byteCount, seed: 73)
    fixture.server.route("/a", Resource(isSame ? old : other, etag: "\"2\""))
    let (summary, _) = try await refresh()
    #expect(summary == (isSame ? RunSummary(completed: 1) : RunSummary(failed: 1)))
    try expectComplete(old)
    let record = try fixture.record("/a")
    #expect(record.refreshFailure?.code == (isSame ? nil : .digestMismatch))
    // The next refresh is conditional.
    #expect(record.entityTag == (isSame ? "\"2\"" : nil))
  }

  /// The digest of a body, as a checksum file states it.
  private func digest(_ body: Body, _ algorithm: Digest.Algorithm = .sha256) -> Digest {
    var hasher = DigestHasher(algorithm)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest
  }

  /// Refreshes with the digest of a changed checksum file, and runs an engine until it has ended.
  private func refresh(requiring digest: Digest) async throws -> RunSummary {
    let outcomes = try await fixture.store.refresh(.all) { _ in digest }
    #expect(outcomes.allSatisfy { $0.isDone && $0.record?.expectedDigest == digest.text })
    return try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }.0
  }

  @Test(arguments: [true, false])
  func `the digest of a changed checksum file is required of the newer version`(
    hadDigest: Bool
  ) async throws {
    let (first, second) = (digest(old), digest(new))
    try fixture.add("/a") { if hadDigest { $0.digest = first } }
    try await complete(Resource(old))
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    #expect(try await refresh(requiring: second) == RunSummary(completed: 1))
    try expectComplete(new)
    let record = try fixture.record("/a")
    #expect(record.expectedDigest == second.text && record.verifiedDigest == second.text)
  }

  @Test func `a server without the version of a changed checksum file fails the refresh`()
    async throws
  {
    let (first, second) = (digest(old), digest(new))
    try fixture.add("/a") { $0.digest = first }
    try await complete(Resource(old))
    #expect(try await refresh(requiring: second) == RunSummary(failed: 1))
    try expectComplete(old)
    let record = try fixture.record("/a")
    #expect(record.expectedDigest == first.text && record.verifiedDigest == first.text)
    #expect(record.refreshFailure?.code == .digestMismatch)
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    #expect(try await refresh(requiring: second) == RunSummary(completed: 1))
    try expectComplete(new)
  }

  @Test(arguments: [true, false])
  func `a newer version without the digest of the checksum file leaves the finished file`(
    hadDigest: Bool
  ) async throws {
    let first = digest(old)
    try fixture.add("/a") { if hadDigest { $0.digest = first } }
    try await complete(Resource(old))
    let other = Body.generated(byteCount: 400_000, seed: 73)
    fixture.server.route("/a", Resource(other, etag: "\"2\""))
    #expect(try await refresh(requiring: digest(new)) == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").expectedDigest == (hadDigest ? first.text : nil))
    #expect(try fixture.record("/a").refreshFailure?.code == .digestMismatch)
  }

  @Test(arguments: [Digest.Algorithm.sha256, .sha512], [true, false])
  func `a checksum file that has not changed leaves the file`(
    algorithm: Digest.Algorithm,
    hadDigest: Bool
  ) async throws {
    let first = digest(old)
    try fixture.add("/a") { if hadDigest { $0.digest = first } }
    try await complete(Resource(old))
    #expect(try await refresh(requiring: digest(old, algorithm)) == RunSummary(unchanged: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").expectedDigest == (hadDigest ? first.text : nil))
  }

  @Test(arguments: [false, true])
  func
    `a finished file that is not the listed one is received again, although the server says unchanged`(
      hadOtherAlgorithm: Bool
    ) async throws
  {
    let listed = digest(new, .sha512)
    try fixture.add("/a") { if hadOtherAlgorithm { $0.digest = digest(old) } }
    try await complete(Resource(old))
    // The server has changed the file, and not its validator.
    fixture.server.route("/a", Resource(new))
    #expect(try await refresh(requiring: listed) == RunSummary(completed: 1))
    #expect(fixture.server.requests.last?["If-None-Match"] == nil)
    try expectComplete(new)
    #expect(try fixture.record("/a").verifiedDigest == listed.text)
  }

  @Test func `a listed version that the server does not have leaves the finished file`()
    async throws
  {
    try await complete(Resource(old))
    #expect(try await refresh(requiring: digest(new)) == RunSummary(failed: 1))
    try expectComplete(old)
    #expect(try fixture.record("/a").refreshFailure?.code == .digestMismatch)
  }

  @Test func `a missing file is downloaded again, whatever its validator`() async throws {
    try await complete(Resource(old))
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    #expect(try await refresh().summary == RunSummary(completed: 1))
    try expectComplete(old)
  }

  @Test(arguments: [true, false])
  func `a file that is gone when its refresh starts is downloaded again`(
    isReplaced: Bool
  ) async throws {
    try await complete(Resource(old))
    try await fixture.store.refresh(.all)
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    if isReplaced { try Data("mine".utf8).write(to: URL(fileURLWithPath: fixture.file("a"))) }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1))
    let record = try fixture.record("/a")
    #expect(record.filename == (isReplaced ? "a (2)" : "a"))
    #expect(old.matches(file: fixture.file(record.filename)))
    #expect(record.refreshed == nil && record.checkedAt == nil)
    #expect(fixture.server.requests.last?["If-None-Match"] == nil)
  }

  @Test func `a file that is gone when its refresh starts is missed if the server refuses it`()
    async throws
  {
    try await complete(Resource(old))
    try await fixture.store.refresh(.all)
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    fixture.server.route("/a", Resource(old, faults: .status(404), then: .repeatLast))
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(failed: 1))
    #expect(try fixture.record("/a").state == .failedPermanent)
  }

  @Test func `a file in a folder that is missing is not downloaded again`() async throws {
    try await complete(Resource(old))
    let before = try fixture.record("/a")
    let requests = fixture.server.requests.count
    let folder = fixture.folder.appending(path: "store/files")
    let away = fixture.folder.appending(path: "away")
    try FileManager.default.moveItem(at: folder, to: away)
    let (summary, _) = try await refresh()
    #expect(summary == RunSummary(failed: 1))
    let record = try fixture.record("/a")
    #expect(record.state == .completed && record.fileIdentity == before.fileIdentity)
    let failure = try #require(record.refreshFailure)
    #expect(failure.message.contains(" is missing, and with it the finished file"))
    #expect(fixture.server.requests.count == requests)
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    try FileManager.default.moveItem(at: away, to: folder)
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    try expectComplete(old)
  }

  @Test func `a file in a folder that cannot be searched is not downloaded again`() async throws {
    try await complete(Resource(old))
    let requests = fixture.server.requests.count
    let folder = fixture.folder.appending(path: "store/files")
    let away = fixture.folder.appending(path: "away")
    try FileManager.default.moveItem(at: folder, to: away)
    // A link to itself, which also root cannot follow.
    try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: folder)
    #expect(try await refresh().summary == RunSummary(failed: 1))
    let record = try fixture.record("/a")
    #expect(record.state == .completed)
    #expect(record.refreshFailure?.message.contains("cannot be examined") == true)
    #expect(fixture.server.requests.count == requests)
    try FileManager.default.removeItem(at: folder)
    try FileManager.default.moveItem(at: away, to: folder)
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    try expectComplete(old)
  }

  @Test func `a changed file is not replaced`() async throws {
    try await complete(Resource(old))
    try Data("mine".utf8).write(to: URL(filePath: fixture.file("a")))
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    #expect(try await refresh().summary == RunSummary(completed: 1))
    #expect(try String(contentsOfFile: fixture.file("a"), encoding: .utf8) == "mine")
    #expect(new.matches(file: fixture.file(try fixture.record("/a").filename)))
  }

  @Test func `the validator of a redirect's target is told to that server only`() async throws {
    let mirror = try FaultServer()
    defer { mirror.stop() }
    mirror.route("/b", Resource(old))
    fixture.server.route("/a", Resource(redirectTo: mirror.url("/b")))
    try fixture.add("/a")
    try await fixture.run()
    #expect(try await refresh().summary == RunSummary(unchanged: 1))
    #expect(fixture.server.requests.allSatisfy { $0["If-None-Match"] == nil })
    #expect(mirror.requests.last?["If-None-Match"] == "\"1\"")
  }
}
