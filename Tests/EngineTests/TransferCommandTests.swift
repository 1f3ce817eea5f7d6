import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// The engine's commands against a real server.
@Suite(.timeLimit(.minutes(10)))
struct TransferCommandTests {
  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 8_000_000, seed: 11)

  init() throws {
    fixture = try EngineFixture()
  }

  /// Routes a file whose transfers stall after a megabyte, so that they run until a command ends them,
  /// however busy this machine is.
  private func stalling(_ path: String) {
    fixture.server.route(
      path,
      Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast)
    )
  }

  /// Routes a file whose transfers are slow until the gate is opened.
  private func slow(_ path: String, etag: String = "\"1\"") -> Gate {
    var resource = Resource(body, etag: etag)
    resource.bytesPerSecond = 100_000
    let gate = Gate()
    resource.rateGate = gate
    fixture.server.route(path, resource)
    return gate
  }

  private func fast(_ path: String) {
    fixture.server.route(path, Resource(body))
  }

  private func running(
    _ change: (inout EngineOptions) -> Void = { _ in },
    _ act: (DownloadEngine) async throws -> Void
  ) async throws {
    var options = EngineOptions()
    options.removeTimeLimits()
    options.retry = RetryPolicy(maximumAttempts: 4, base: .milliseconds(1), cap: .seconds(1))
    options.checkpointInterval = .milliseconds(50)
    options.split.maximumConnections = 1
    change(&options)
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: TransportUnderTest.make(idleTimeout: .seconds(300)),
      options: options
    )
    let run = Task { try await engine.run(until: .stopped) }
    do {
      try await act(engine)
    } catch {
      engine.stop()
      _ = try? await run.value
      throw error
    }
    engine.stop()
    _ = try await run.value
  }

  private func url(_ path: String) -> String { fixture.server.url(path) }

  private func received(_ engine: DownloadEngine, _ bytes: Int64) async throws {
    try await waitUntil("\(bytes) bytes") {
      await engine.currentProgress().first.map { $0.received >= bytes } ?? false
    }
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.file("")).sorted()
  }

  @Test
  func `waiting for a download returns the record and the path of the file once it is complete`()
    async throws
  {
    fixture.server.route("/a", Resource(.text("abc")))
    try await running { engine in
      let file = try await engine.download(DownloadRequest(url: url("/a"))).value()
      #expect(file.record.state == .completed)
      #expect(try String(contentsOfFile: file.filePath, encoding: .utf8) == "abc")
      // A second call returns immediately.
      #expect(try await engine.download(DownloadRequest(url: url("/a"))).value() == file)
    }
    #expect(fixture.server.requests.count == 1)
  }

  @Test(.requirements("ZF15"))
  func `waiting for a download throws its failure, or cancelled when the user cancels`()
    async throws
  {
    stalling("/slow")
    try await running { engine in
      let failure = await #expect(throws: DownloadFailure.self) {
        _ = try await engine.download(DownloadRequest(url: url("/none"))).value()
      }
      #expect(failure?.code == .notFound)
      let request = DownloadRequest(url: url("/slow"))
      let slow = Task { try await engine.download(request).value() }
      try await received(engine, 1)
      try await engine.store.cancel(.matching(url("/slow")))
      let error = await #expect(throws: EngineError.self) { _ = try await slow.value }
      #expect(error?.code == .cancelled)
    }
  }

  @Test(.requirements("SC1", "MO10"))
  func `pausing keeps the received bytes, and resuming continues after them`() async throws {
    stalling("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 200_000)
      #expect(try await engine.store.pause(.all).count == 1)
      try await waitUntil("the end of the transfer") { await engine.currentProgress().isEmpty }
      let paused = try fixture.record("/a")
      #expect(paused.state == .paused && paused.received >= 200_000)
      fast("/a")
      try await engine.store.resume(.matching(paused.id))
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
      #expect(fixture.ranges("/a") == [nil, "bytes=\(paused.received)-"])
    }
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a pause followed immediately by a resume leaves one running transfer`() async throws {
    let gate = slow("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 1)
      for _ in 0..<20 {
        try await engine.store.pause(.all)
        try await engine.store.resume(.all)
      }
      fast("/a")
      gate.open()
      try await engine.store.pause(.all)
      try await engine.store.resume(.all)
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
      #expect(try fixture.record("/a").attempts.isEmpty)
    }
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test(.requirements("FK12", "FK15"))
  func `cancelling deletes the partial file, keeps the record and allows a restart`() async throws {
    stalling("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 200_000)
      try await engine.store.cancel(.matching(url("/a")))
      try await waitUntil("the cancelled state") {
        try fixture.record("/a").state == .cancelled
      }
      #expect(try files() == [])
      #expect(try fixture.record("/a").received == 0)
      fast("/a")
      try await engine.store.restart(.matching(url("/a")))
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
    }
    #expect(fixture.ranges("/a") == [nil, nil])
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a restart during the transfer requests the first byte again`() async throws {
    stalling("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 300_000)
      let before = try fixture.record("/a").generation
      fast("/a")
      try await engine.store.restart(.matching(url("/a")))
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
      #expect(try fixture.record("/a").generation == before + 2)
    }
    #expect(fixture.ranges("/a") == [nil, nil])
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a finished file stays until the restarted download replaces it`() async throws {
    fixture.server.route("/a", Resource(.text("old"), etag: "\"1\""))
    try await running { engine in
      _ = try await engine.download(DownloadRequest(url: url("/a"))).value()
      let gate = slow("/a", etag: "\"2\"")
      try await engine.store.restart(.matching(url("/a")))
      try await received(engine, 100_000)
      #expect(try String(contentsOfFile: fixture.file("a"), encoding: .utf8) == "old")
      try await engine.store.pause(.all)
      fast("/a")
      gate.open()
      try await engine.store.resume(.all)
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
    }
    #expect(body.matches(file: fixture.file("a")))
    #expect(try files() == ["a"])
  }

  @Test func `a foreign file in place of the finished one is not replaced`() async throws {
    fixture.server.route("/a", Resource(.text("ours")))
    try await running { engine in
      _ = try await engine.download(DownloadRequest(url: url("/a"))).value()
      try FileManager.default.removeItem(atPath: fixture.file("a"))
      try Data("theirs".utf8).write(to: URL(filePath: fixture.file("a")))
      try await engine.store.restart(.matching(url("/a")))
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
    }
    #expect(try String(contentsOfFile: fixture.file("a"), encoding: .utf8) == "theirs")
    #expect(try String(contentsOfFile: fixture.file("a (2)"), encoding: .utf8) == "ours")
  }

  @Test(.requirements("ZY25", "FK17"), arguments: [false, true])
  func `removing deletes records and partial files, and finished files on request`(
    withFile: Bool
  )
    async throws
  {
    fixture.server.route("/done", Resource(.text("abc")))
    stalling("/slow")
    try await running { engine in
      _ = try await engine.download(DownloadRequest(url: url("/done"))).value()
      try await engine.store.add([DownloadRequest(url: url("/slow"))])
      try await received(engine, 100_000)
      try await engine.store.remove(.all, withFile: withFile)
      try await waitUntil("the records to be deleted") { try engine.store.records().isEmpty }
      try await waitUntil("the transfer to end") { await engine.currentProgress().isEmpty }
      #expect(try files() == (withFile ? [] : ["done"]))
    }
  }

  @Test func `a download renamed during its transfer completes under the new name`() async throws {
    let gate = slow("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 100_000)
      var update = RecordUpdate()
      update.filename = "b.bin"
      try await engine.store.update(matching: url("/a"), with: update)
      try await engine.store.pause(.all)
      fast("/a")
      gate.open()
      try await engine.store.resume(.all)
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
    }
    #expect(try files() == ["b.bin"])
    #expect(body.matches(file: fixture.file("b.bin")))
  }

  @Test func `a download renamed while the engine is idle completes under the new name`()
    async throws
  {
    let gate = slow("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      try await received(engine, 1)
      var update = RecordUpdate()
      update.filename = "b.bin"
      try await engine.store.update(matching: url("/a"), with: update)
      gate.open()
      try await waitUntil("completion") { try fixture.record("/a").state == .completed }
    }
    #expect(try files() == ["b.bin"])
    #expect(fixture.server.requests.count == 1)
  }

  // MARK: Expiring links

  @Test func `an expired link is reported as such, and a new link resumes the download`()
    async throws
  {
    let expired = Resource(
      body,
      faults: .resetAfter(bytes: 3_000_000),
      .status(403),
      then: .repeatLast
    )
    let gate = fixture.routeGated("/signed-old", expired)
    fast("/signed-new")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/signed-old"))])
      try await received(engine, 3_000_000)
      gate.open()
      try await waitUntil("the failure") {
        try fixture.record("/signed-old").state == .failedPermanent
      }
      let failed = try fixture.record("/signed-old")
      #expect(failed.attempts.last?.failure.code == .needsURL)
      #expect(failed.received > 0)
      try await engine.store.replaceURL(matching: failed.id, with: url("/signed-new"))
      try await waitUntil("completion") {
        try fixture.record("/signed-new").state == .completed
      }
      #expect(try fixture.record("/signed-new").id == failed.id)
      #expect(fixture.ranges("/signed-new") == ["bytes=\(failed.received)-"])
    }
    #expect(body.matches(file: fixture.file("signed-old")))
    #expect(try files() == ["signed-old"])
  }

  @Test func `replacing a URL during the transfer keeps the received bytes`() async throws {
    stalling("/old")
    fast("/new")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/old"))])
      try await received(engine, 500_000)
      try await waitUntil("a checkpoint") { try fixture.record("/old").received > 0 }
      let kept = try fixture.record("/old").received
      try await engine.store.replaceURL(matching: url("/old"), with: url("/new"))
      try await waitUntil("completion") { try fixture.record("/new").state == .completed }
      let range = try #require(fixture.ranges("/new").first ?? nil)
      let from = try #require(Int64(range.dropFirst("bytes=".count).dropLast()))
      #expect(from >= kept)
    }
    #expect(body.matches(file: fixture.file("old")))
    #expect(try files() == ["old"])
  }

  @Test func `a link that never worked is reported as refused`() async throws {
    fixture.server.route("/a", Resource(body, faults: .status(403), then: .repeatLast))
    try await running { engine in
      let failure = await #expect(throws: DownloadFailure.self) {
        _ = try await engine.download(DownloadRequest(url: url("/a"))).value()
      }
      #expect(failure?.code == .refused)
    }
  }

  // MARK: Mirrors

  @Test(.requirements("ZF3", "ZF6"))
  func `mirrors are tried in order, one at a time, then the first URL again`() async throws {
    let busy = Resource(body, faults: .status(503), then: .repeatLast)
    fixture.server.route("/m1", busy)
    fixture.server.route("/m2", Resource(body, faults: .status(404), then: .repeatLast))
    fixture.server.route("/a", Resource(body, faults: .status(503)))
    try await running { engine in
      var request = DownloadRequest(url: url("/a"))
      request.mirrors = [url("/m1"), url("/m2")]
      let record = try await engine.download(request).value().record
      #expect(record.attempts.map(\.url) == [url("/a"), url("/m1"), url("/m2")])
    }
    #expect(fixture.server.requests.map(\.path) == ["/a", "/m1", "/m2", "/a"])
    #expect(body.matches(file: fixture.file("a")))
  }

  // MARK: Progress

  @Test(.requirements("FK23")) func `the progress sequence ends with the run`() async throws {
    stalling("/a")
    try await running { engine in
      try await engine.store.add([DownloadRequest(url: url("/a"))])
      var last: Int64 = 0
      for await progress in engine.progress(of: .active, every: .milliseconds(20)) {
        guard let download = progress.first else { continue }
        #expect(download.received >= last)
        last = download.received
        if last > 300_000 { engine.stop() }
      }
      #expect(last > 300_000)
    }
  }
}
