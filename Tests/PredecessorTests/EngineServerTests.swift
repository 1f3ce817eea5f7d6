import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Requirements of several predecessors, with an engine and a server.
@Suite(.timeLimit(.minutes(10)))
struct EngineServerTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test(.requirements("FK6")) func `commands issued before the engine runs send no request`()
    async throws
  {
    fixture.server.route("/a", Resource(.text("abc")))
    let engine = try fixture.engine()
    let handle = try await engine.download(DownloadRequest(url: fixture.server.url("/a")))
    try await engine.store.resume(.all, immediately: true)
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").state == .waiting)
    #expect(try await engine.run(until: .idle) == RunSummary(completed: 1))
    #expect(try await handle.value().record.state == .completed)
    #expect(fixture.server.requests.count == 1)
  }

  @Test(.requirements("FK27"))
  func `a complete file is not requested again, and a replaced one is not trusted`() async throws {
    let body = Body.generated(byteCount: 10_000, seed: 5)
    fixture.server.route("/a", Resource(body))
    try fixture.add("/a")
    try await fixture.run()
    #expect(fixture.server.requests.count == 1)
    try fixture.add("/a")
    try await fixture.run()
    #expect(fixture.server.requests.count == 1)
    #expect(try fixture.record("/a").state == .completed)
    // Replace the file by another one of the same size.
    let theirs = Data(repeating: 7, count: 10_000)
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    try theirs.write(to: URL(filePath: fixture.file("a")))
    try fixture.store.apply(.restart, to: .all)
    try await fixture.run()
    #expect(fixture.server.requests.count == 2)
    #expect(try Data(contentsOf: URL(filePath: fixture.file("a"))) == theirs)
    let layout = try fixture.store.roots().layout(of: fixture.record("/a"))
    #expect(layout.finalPath != fixture.file("a"))
    #expect(body.matches(file: layout.finalPath))
  }

  @Test(.requirements("FK36"))
  func `a group has names, checksums, totals and time remaining, and can be purged`() async throws {
    let body = Body.generated(byteCount: 2_000_000, seed: 6)
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    let digest = hasher.digest
    var resource = Resource(body)
    // The transfer lasts until a speed was measured, however busy this machine is. There is none
    // while no bytes arrive, for example when only the last one is missing.
    resource.bytesPerSecond = 4_000
    let gate = Gate()
    resource.rateGate = gate
    for path in ["/a", "/b"] {
      fixture.server.route(path, resource)
      try fixture.add(path) { request in
        request.filename = "mine\(path.dropFirst())"
        request.digest = digest
        request.tags = ["set"]
      }
    }
    // Both are requested, although their bytes are equal.
    let engine = try fixture.engine { $0.equalFiles = .download }
    let run = Task { try await engine.run(until: .idle) }
    var hasTimeLeft = false
    for try await group in engine.progress(of: .group("set")) {
      if let seconds = group.estimate.remaining, group.bytesPerSecond != nil {
        hasTimeLeft = hasTimeLeft || seconds > .zero
      }
      if hasTimeLeft { gate.open() }
      if group.completed == 2 {
        #expect(group.received == 4_000_000 && group.expected == 4_000_000)
        break
      }
    }
    _ = try await run.value
    #expect(hasTimeLeft)
    for name in ["minea", "mineb"] { #expect(body.matches(file: fixture.file(name))) }
    for path in ["/a", "/b"] {
      #expect(try fixture.record(path).verifiedDigest == digest.text)
    }
    let plan = try fixture.store.purgePlan(
      try fixture.store.records(DownloadRecord.all),
      withFiles: true
    )
    #expect(plan.freedBytes == 4_000_000)
    #expect(try fixture.store.purge(plan).keptFiles.isEmpty)
    #expect(try fixture.store.records(DownloadRecord.all).isEmpty)
    #expect(FileIdentity(ofFileAt: fixture.file("minea")) == nil)
  }
}
