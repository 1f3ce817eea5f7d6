import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// The ends of the connections of one file, in an order that the test determines.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionEndTests {
  let fixture: ManualFixture
  var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Creates an engine that opens two connections without measuring, and splits 60 bytes or more.
  func engine(
    environment: EngineEnvironment = .live,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) throws -> DownloadEngine {
    var options = EngineOptions(maximumRunning: 8, maximumPerHost: 8)
    options.removeTimeLimits()
    options.split = SplitOptions(maximumConnections: 2, minimumLength: 30)
    options.split.measuringTime = .zero
    options.split.stallTime = .seconds(600)
    options.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1), cap: .seconds(1))
    change(&options)
    return try DownloadEngine(
      store: fixture.store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: environment
    )
  }

  func head(_ status: Int, range: String? = nil, tag: String = "\"1\"") -> ResponseHead {
    var fields = [HeaderField(name: "ETag", value: tag)]
    if let range { fields.append(HeaderField(name: "Content-Range", value: range)) }
    return ResponseHead(status: status, fields: fields)
  }

  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

  /// Delivers 10 of 100 bytes, and returns the two connections: the second one has the last 45 bytes.
  func split() async throws -> (
    first: ManualTransport.Started, second: ManualTransport.Started
  ) {
    try await fixture.started(1)
    transport.started[0].receive(bytes(10), of: 100)
    try await fixture.started(2)
    let (first, second) = (transport.started[0], transport.started[1])
    #expect(second.request.offset == 55 && second.request.end == 100)
    return (first, second)
  }

  @Test func `the first connection fetches the range of a refused one`() async throws {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(503)) == .cancel)
      second.sink.finish(.cancelled)
      try await fixture.settle()
      #expect(first.sink.receive(bytes(90).span) == .proceed)
      first.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
      #expect(transport.started.count == 2)
    }
  }

  @Test func `the first connection fetches the range of one that a response check refuses`()
    async throws
  {
    let engine = try engine { options in
      options.responseChecks = [
        { head, _ in
          if head.status == 206 { throw DownloadFailure(.badResponse, "another version") }
        }
      ]
    }
    try await fixture.running(engine) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .cancel)
      second.sink.finish(.cancelled)
      try await fixture.settle()
      #expect(first.sink.receive(bytes(90).span) == .proceed)
      first.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
      #expect(transport.started.count == 2)
    }
  }

  @Test func `a complete file waits for the end of its last connection`() async throws {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      #expect(first.sink.receive(bytes(45).span) == .cancel)
      #expect(second.sink.receive(bytes(45).span) == .proceed)
      second.sink.finish(.completed)
      try await waitUntil("the cancel") { transport.cancelled == [TaskID(rawValue: 1)] }
      try await fixture.settle()
      #expect(try fixture.record("a").state == .running)
      first.sink.finish(.cancelled)
      try await fixture.reached(.completed, "a")
    }
  }

  @Test func `a connection that ends while the engine stops starts no other one`() async throws {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    var request = DownloadRequest(url: fixture.url("m"))
    request.mirrors = [fixture.url("n")]
    try fixture.store.addNow([request])
    // A stop waits for the tasks for ten seconds of this clock, which stands still.
    let engine = try engine(environment: ManualClocks().environment)
    let run = Task { try await engine.run(until: .stopped) }
    let (first, second) = try await split()
    #expect(second.request.url == fixture.url("n"))
    #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
    #expect(first.sink.receive(bytes(45).span) == .cancel)
    first.sink.finish(.cancelled)
    try await fixture.settle()
    #expect(transport.started.count == 2)
    engine.stop()
    try await waitUntil("the cancel") { transport.cancelled.contains(TaskID(rawValue: 2)) }
    #expect(second.sink.receive(bytes(5).span) == .proceed)
    // While the engine runs, the failure of a mirror starts the next connection.
    second.sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
    _ = try await run.value
    #expect(transport.started.count == 2)
    #expect(try fixture.record("m").committed == ByteRanges(upTo: 60))
  }

  @Test func `a file whose further connection got another version is completed by the first one`()
    async throws
  {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(200, tag: "\"2\"")) == .cancel)
      second.sink.finish(.cancelled)
      try await fixture.settle()
      #expect(transport.cancelled.isEmpty)
      #expect(first.sink.receive(bytes(90).span) == .proceed)
      first.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
      #expect(transport.started.count == 2)
    }
  }

  @Test func `a response with fewer bytes than requested leaves the others to the first one`()
    async throws
  {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-59/100")) == .proceed)
      #expect(first.sink.receive(bytes(45).span) == .proceed)
      #expect(second.sink.receive(bytes(5).span) == .proceed)
      second.sink.finish(.completed)
      try await fixture.settle()
      #expect(first.sink.receive(bytes(45).span) == .proceed)
      first.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
      #expect(transport.started.count == 2)
    }
    #expect(try fixture.record("a").attempts.isEmpty)
  }

  @Test func `a connection that is lost after the first one has ended costs no byte`() async throws
  {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      #expect(first.sink.receive(bytes(45).span) == .cancel)
      first.sink.finish(.cancelled)
      #expect(second.sink.receive(bytes(5).span) == .proceed)
      try await fixture.settle()
      second.sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      try await fixture.started(3)
      let third = transport.started[2]
      #expect(third.request.offset == 60 && third.request.validator == "\"1\"")
      #expect(third.sink.receive(head(206, range: "bytes 60-99/100")) == .proceed)
      #expect(third.sink.receive(bytes(40).span) == .proceed)
      third.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
    #expect(try fixture.record("a").attempts.map(\.failure.code) == [.connectionLost])
  }

  @Test func `the gaps of a file wait for the first response`() async throws {
    try fixture.change("a", partial: 60) {
      $0.checkpoint(
        ByteRanges([0..<10, 50..<60]),
        total: 100,
        entityTag: "\"1\"",
        lastModified: nil,
        at: Date()
      )
    }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      try await fixture.settle()
      #expect(transport.started.count == 1)
      let first = transport.started[0]
      #expect(first.request.offset == 10 && first.request.end == 50)
      #expect(first.sink.receive(head(206, range: "bytes 10-49/100")) == .proceed)
      #expect(first.sink.receive(bytes(1).span) == .proceed)
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 60)
    }
  }

  @Test func `without a strong entity tag no mirror serves a gap`() async throws {
    let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    let mirror = fixture.url("n")
    try fixture.change("a", partial: 60) {
      $0.mirrors = [mirror]
      $0.checkpoint(
        ByteRanges([0..<10, 50..<60]),
        total: 100,
        entityTag: nil,
        lastModified: date,
        at: Date()
      )
    }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let fields = [("Last-Modified", date), ("Content-Range", "bytes 10-49/100")]
      let head = ResponseHead(
        status: 206,
        fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
      )
      #expect(transport.started[0].sink.receive(head) == .proceed)
      #expect(transport.started[0].sink.receive(bytes(1).span) == .proceed)
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 60)
      #expect(transport.started[1].request.url == fixture.url("a"))
    }
  }

  @Test func `a server that accepts no ranges has one connection`() async throws {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let fields = [("ETag", "\"1\""), ("Content-Length", "100"), ("Accept-Ranges", "none")]
      let head = ResponseHead(
        status: 200,
        fields: fields.map { HeaderField(name: $0.0, value: $0.1) }
      )
      #expect(transport.started[0].sink.receive(head) == .proceed)
      #expect(transport.started[0].sink.receive(bytes(10).span) == .proceed)
      try await fixture.settle()
      #expect(transport.started.count == 1)
    }
  }

  @Test func `after versions that do not fit together, an attempt continues one version`()
    async throws
  {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    var hasher = DigestHasher(.sha256)
    hasher.update(bytes(100).span)
    var request = DownloadRequest(url: fixture.url("d"))
    request.digest = hasher.digest
    try fixture.store.addNow([request])
    try await fixture.running(try engine { $0.split.maximumConnections = 1 }) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 100)
      transport.started[0].sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      try await fixture.started(2)
      let second = transport.started[1]
      #expect(second.request.offset == 10 && second.request.validator == nil)
      #expect(second.sink.receive(head(206, range: "bytes 10-99/100", tag: "\"2\"")) == .proceed)
      _ = second.sink.receive([UInt8](repeating: 8, count: 90).span)
      second.sink.finish(.completed)
      try await fixture.started(3)
      transport.started[2].receive(bytes(10), of: 100)
      transport.started[2].sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      try await fixture.started(4)
      #expect(transport.started[3].request.offset == 10)
      #expect(transport.started[3].request.validator == "\"1\"")
    }
  }

  @Test func `a file in many ranges is not split any further`() async throws {
    // As many ranges as this are half of those that a record stores.
    try fixture.change("a", partial: 259) {
      $0.checkpoint(
        ByteRanges((0..<130).map { 2 * $0..<2 * $0 + 1 }),
        total: 1_259,
        entityTag: "\"1\"",
        lastModified: nil,
        at: Date()
      )
    }
    let engine = try engine {
      $0.limits = ConcurrencyLimits(maximumRunning: 300, maximumPerHost: 300)
      $0.split.maximumConnections = 200
    }
    try await fixture.running(engine) {
      try await fixture.started(1)
      let first = transport.started[0]
      #expect(first.sink.receive(head(206, range: "bytes 1-1/1259")) == .proceed)
      _ = first.sink.receive(bytes(1).span)
      try await fixture.started(130)
      first.sink.finish(.completed)
      try await fixture.settle()
      #expect(transport.started.count == 130)
    }
  }

  @Test func `a download that is paused opens no connection`() async throws {
    try await fixture.running(try engine()) {
      let (_, second) = try await split()
      try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
      try await waitUntil("the cancels") { transport.cancelled.count == 2 }
      second.sink.finish(.cancelled)
      try await fixture.settle()
      #expect(transport.started.count == 2)
    }
  }

  @Test func `a file with a limited rate has one connection`() async throws {
    try fixture.change("a") { $0.bytesPerSecond = 1 << 30 }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 100)
      try await fixture.settle()
      #expect(transport.started.count == 1)
    }
  }

  @Test func `a file with gaps and a limited rate has one connection at a time`() async throws {
    try fixture.change("a", partial: 60) {
      $0.checkpoint(
        ByteRanges([0..<10, 50..<60]),
        total: 100,
        entityTag: "\"1\"",
        lastModified: nil,
        at: Date()
      )
      $0.bytesPerSecond = 1 << 30
    }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      #expect(first.request.offset == 10 && first.request.end == 50)
      #expect(first.sink.receive(head(206, range: "bytes 10-49/100")) == .proceed)
      #expect(first.sink.receive(bytes(1).span) == .proceed)
      try await fixture.settle()
      #expect(transport.started.count == 1)
      _ = first.sink.receive(bytes(39).span)
      first.sink.finish(.completed)
      try await fixture.started(2)
      let second = transport.started[1]
      #expect(second.request.offset == 60)
      #expect(second.sink.receive(head(206, range: "bytes 60-99/100")) == .proceed)
      #expect(second.sink.receive(bytes(40).span) == .proceed)
      second.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
  }

  @Test func `a rate limit ends the further connections of a running download`() async throws {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      try fixture.change("a") { $0.bytesPerSecond = 1 << 30 }
      try await waitUntil("the cancel") { transport.cancelled == [TaskID(rawValue: 2)] }
      second.sink.finish(.cancelled)
      try await fixture.settle()
      #expect(first.sink.receive(bytes(90).span) == .proceed)
      first.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
      #expect(transport.started.count == 2)
    }
  }

  @Test func `a lower limit never ends the last connection of a file`() async throws {
    let engine = try engine()
    try await fixture.running(engine) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      #expect(first.sink.receive(bytes(45).span) == .cancel)
      first.sink.finish(.cancelled)
      try fixture.add("b")
      try await fixture.started(3)
      await engine.setLimits(ConcurrencyLimits(maximumRunning: 1, maximumPerHost: 8))
      try await fixture.settle()
      #expect(transport.cancelled.isEmpty)
    }
  }

  /// Adds a file of 400 bytes with a mirror, of which every second piece has a digest that no server
  /// fulfils.
  private func addWithPieces() throws {
    let digests = ([7, 8, 7, 8] as [UInt8]).map { byte -> Digest in
      var hasher = DigestHasher(.sha256)
      hasher.update([UInt8](repeating: byte, count: 100).span)
      return hasher.digest
    }
    var request = DownloadRequest(url: fixture.url("p"))
    request.mirrors = ["https://mirror.example.com/p"]
    request.pieces = RequiredPieces(byteCount: 400, pieceLength: 100, digests: digests)
    try fixture.store.addNow([request])
  }

  @Test func `after a damaged piece, another server's entity tag does not drop the good ones`()
    async throws
  {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    try addWithPieces()
    let engine = try engine { $0.checkpointInterval = .seconds(600) }
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 400)
      try await fixture.started(2)
      let (first, second) = (transport.started[0], transport.started[1])
      #expect(second.sink.receive(head(206, range: "bytes 205-399/400")) == .proceed)
      #expect(first.sink.receive(bytes(195).span) == .cancel)
      // Before the end of the first one, after which another connection could take a part of it.
      #expect(second.sink.receive(bytes(195).span) == .proceed)
      first.sink.finish(.cancelled)
      second.sink.finish(.completed)
      try await fixture.started(3)
      let third = transport.started[2]
      #expect(third.request.url != first.request.url)
      let other = head(206, range: "bytes 100-199/400", tag: "\"2\"")
      #expect(third.sink.receive(other) == .proceed)
      #expect(third.sink.receive([UInt8](repeating: 8, count: 10).span) == .proceed)
      try await fixture.started(4)
      #expect(transport.started[3].request.offset == 300)
    }
  }

  @Test func `after a damaged piece of a mirror, an attempt uses one server`() async throws {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    try addWithPieces()
    let engine = try engine { $0.checkpointInterval = .seconds(600) }
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 400)
      try await fixture.started(2)
      let (first, second) = (transport.started[0], transport.started[1])
      #expect(second.request.url == "https://mirror.example.com/p")
      #expect(second.sink.receive(head(206, range: "bytes 205-399/400")) == .proceed)
      #expect(first.sink.receive(bytes(195).span) == .cancel)
      // Before the end of the first one, after which another connection could take a part of it.
      #expect(second.sink.receive(bytes(195).span) == .proceed)
      first.sink.finish(.cancelled)
      second.sink.finish(.completed)
      try await fixture.started(3)
      #expect(try fixture.record("p").committed == ByteRanges([0..<100, 200..<300]))
      let third = transport.started[2]
      #expect(third.request.offset == 100 && third.request.end == 200)
      #expect(third.sink.receive(head(206, range: "bytes 100-199/400")) == .proceed)
      #expect(third.sink.receive(bytes(10).span) == .proceed)
      try await fixture.started(4)
      #expect(transport.started[3].request.offset == 300)
      #expect(transport.started[3].request.url == third.request.url)
    }
  }
}
