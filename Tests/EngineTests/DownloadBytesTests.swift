import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// The bytes of a download while they arrive.
@Suite(.timeLimit(.minutes(10)))
struct DownloadBytesTests {
  private static let body = Body.generated(byteCount: 2_000_000, seed: 41)
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  private static func expected(_ range: Range<Int64>) -> Data {
    Data(body.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound)))
  }

  /// Runs the engine while `read` reads, with frequent checkpoints.
  private func running<Value>(
    connections: Int = 1,
    attempts: Int32 = 8,
    _ read: () async throws -> Value
  ) async throws -> Value {
    let engine = try fixture.engine {
      $0.checkpointInterval = .milliseconds(10)
      $0.split.maximumConnections = connections
      $0.retry.maximumAttempts = attempts
    }
    let run = Task { try await engine.run(until: .stopped) }
    let result: Result<Value, any Error>
    do {
      result = .success(try await read())
    } catch {
      result = .failure(error)
    }
    run.cancel()
    // Another engine may start only after this one.
    _ = await run.result
    return try result.get()
  }

  @Test(arguments: [1, 4])
  func `bytes arrive in order while the download lasts`(_ connections: Int) async throws {
    var resource = Resource(Self.body, faults: .closeAfter(bytes: 500_000))
    let gate = Gate()
    resource.endGate = gate
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let read = try await running(connections: connections) {
      var data = Data()
      for try await chunk in bytes {
        data += chunk
        // The server ends the first response only now.
        gate.open()
      }
      return data
    }
    #expect(read == Self.expected(0..<2_000_000))
    #expect(try fixture.record("/a").state == .completed)
  }

  @Test(arguments: [0, 700_000, 1_500_000, 2_000_000, 3_000_000] as [Int64])
  func `reading begins at an offset, also of a half and of a complete file`(
    _ offset: Int64
  ) async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.interrupted("/a", Self.body)
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"), from: offset)
    let wanted = Self.expected(min(offset, 2_000_000)..<2_000_000)
    #expect(try await running { try await all(bytes) } == wanted)
    #expect(try await all(bytes) == wanted)
  }

  @Test func `reading goes on in the engine of the next run`() async throws {
    let gate = fixture.routeGated("/a", Resource(Self.body, faults: .closeAfter(bytes: 500_000)))
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let (chunks, continuation) = AsyncStream<Int>.makeStream()
    let reader = Task {
      var data = Data()
      for try await chunk in bytes {
        data += chunk
        continuation.yield(data.count)
      }
      return data
    }
    try await running { for await count in chunks where count > 0 { break } }
    gate.open()
    let read = try await running { try await reader.value }
    #expect(read == Self.expected(0..<2_000_000))
  }

  @Test func `a file that changes after some bytes were read is an error`() async throws {
    let gate = fixture.routeGated("/a", Resource(Self.body, faults: .closeAfter(bytes: 500_000)))
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let server = fixture.server
    let failure = await #expect(throws: DownloadFailure.self) {
      try await running {
        for try await _ in bytes {
          var other = Resource(.generated(byteCount: 2_000_000, seed: 42))
          other.etag = "\"2\""
          server.route("/a", other)
          gate.open()
        }
      }
    }
    #expect(failure?.code == .entityChanged)
  }

  /// How a download begins again with another version of its file.
  enum Beginning: CaseIterable {
    case failedAttempt
    case restart
    case refresh
  }

  @Test(arguments: Beginning.allCases, [nil, "\"1\""] as [String?])
  func `a reader that missed the loss of its bytes does not go on with those of another version`(
    _ beginning: Beginning,
    tag: String?
  ) async throws {
    var old = Resource(Self.body, etag: tag)
    if beginning == .failedAttempt { old.faults = [.closeAfter(bytes: 500_000)] }
    let gate = fixture.routeGated("/a", old)
    try fixture.add("/a")
    let (store, url) = (fixture.store, fixture.server.url("/a"))
    let failure = await #expect(throws: DownloadFailure.self) {
      try await running {
        var bytes = store.bytes(of: url).makeAsyncIterator()
        _ = try await bytes.next()
        if beginning != .failedAttempt {
          try await waitUntil("the old version") { try fixture.record("/a").state == .completed }
        }
        // Of the same size, and without a validator.
        let new = Body.generated(byteCount: 2_000_000, seed: 42)
        fixture.server.route("/a", Resource(new, etag: nil))
        switch beginning {
        case .failedAttempt: gate.open()
        case .restart: _ = try store.apply(.restart, to: .matching(url))
        case .refresh: _ = try store.apply(.refresh, to: .matching(url))
        }
        try await waitUntil("the new version") { try fixture.record("/a").state == .completed }
        #expect(new.matches(file: fixture.file("a")))
        _ = try await bytes.next()
      }
    }
    #expect(failure?.code == .entityChanged)
    let message = failure?.message ?? ""
    #expect(message.contains("the download began again"), "\(message)")
  }

  @Test func `a reader goes on after a continued attempt of a server without validators`()
    async throws
  {
    var resource = Resource(Self.body, etag: nil)
    resource.faults = [.closeAfter(bytes: 500_000), .closeAfter(bytes: 500_000)]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let engine = try fixture.engine {
      $0.checkpointInterval = .milliseconds(10)
      $0.continuesUnvalidated = true
    }
    let reader = Task { try await all(bytes) }
    _ = try await engine.run(until: .idle)
    #expect(try await reader.value == Self.expected(0..<2_000_000))
  }

  @Test(arguments: [false, true])
  func `reading goes on if a mirror with another entity tag continues a file with a digest`(
    ofPieces: Bool
  ) async throws {
    let gate = fixture.routeGated("/a", Resource(Self.body, faults: .closeAfter(bytes: 500_000)))
    fixture.server.route("/m", Resource(Self.body, etag: "\"2\""))
    let (mirror, all) = (fixture.server.url("/m"), Self.expected(0..<2_000_000))
    let digest = try Digest("sha256:" + Self.digest(all))
    let pieces = try Self.pieces()
    try fixture.add("/a") {
      $0.mirrors = [mirror]
      if ofPieces { $0.pieces = pieces } else { $0.digest = digest }
    }
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let read = try await running {
      var data = Data()
      for try await chunk in bytes {
        data += chunk
        // The server ends the first response only now.
        gate.open()
      }
      return data
    }
    #expect(read == all)
    #expect(fixture.ranges("/m").map { $0 != nil } == [true])
  }

  /// The digests of the body's pieces of 100 000 bytes.
  private static func pieces() throws -> RequiredPieces {
    let length: Int64 = 100_000
    let digests = try (0..<20).map { number in
      try Digest("sha256:" + digest(expected(number * length..<(number + 1) * length)))
    }
    return RequiredPieces(byteCount: 2_000_000, pieceLength: length, digests: digests)
  }

  @Test func `a wrong digest of the whole file is an error, and not the end`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/a") { $0.digest = try? Digest("md5:9e107d9d372bb6826bd81d3542a419d6") }
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let failure = await #expect(throws: DownloadFailure.self) {
      try await running(attempts: 1) { try await all(bytes) }
    }
    #expect([.digestMismatch, .entityChanged].contains(failure?.code))
  }

  @Test func `a damaged piece with a required digest is not given out`() async throws {
    fixture.server.route("/a", Resource(Self.body, faults: .damage(at: 950_000)))
    let pieces = try Self.pieces()
    try fixture.add("/a") { $0.pieces = pieces }
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    #expect(try await running { try await all(bytes) } == Self.expected(0..<2_000_000))
    #expect(fixture.ranges("/a").count > 1)
  }

  private static func digest(_ data: Data) -> String {
    var hasher = DigestHasher(.sha256)
    hasher.update(data.span)
    return hasher.digest.hexadecimal
  }

  @Test func `a failed download throws its failure`() async throws {
    fixture.server.route("/a", Resource(.text("x"), faults: .status(404)))
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let failure = await #expect(throws: DownloadFailure.self) {
      try await running { try await all(bytes) }
    }
    #expect(failure?.code == .notFound)
  }

  @Test func `a cancelled download, and one whose file was deleted, are errors`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/a")
    let url = fixture.server.url("/a")
    let bytes = fixture.store.bytes(of: url)
    _ = try await running { try await all(bytes) }
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    let missing = await #expect(throws: EngineError.self) { try await all(bytes) }
    #expect(missing?.code == .fileMissing)
    try fixture.add("/b")
    let other = fixture.store.bytes(of: fixture.server.url("/b"))
    _ = try await fixture.store.cancel(.matching(fixture.server.url("/b")))
    let cancelled = await #expect(throws: EngineError.self) { try await all(other) }
    #expect(cancelled?.code == .cancelled)
  }

  @Test func `a finished file that is shorter than its record is an error, and not waited for`()
    async throws
  {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    _ = try await running { try await all(bytes) }
    // As if another program had truncated the file after its identity was compared.
    var record = try fixture.record("/a")
    record.received += 1
    try fixture.store.objects.writeNow { [record] tx in _ = try tx.upsert(record) }
    let failure = await #expect(throws: EngineError.self) { try await all(bytes) }
    #expect(failure?.code == .fileMissing)
  }

  @Test func `a reader that does not wait ends before the first missing byte`() async throws {
    try fixture.interrupted("/a", Self.body)
    var bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    bytes.waits = false
    let read = try await all(bytes)
    #expect(read.count == Int(try fixture.record("/a").received))
    #expect(read == Self.expected(0..<Int64(read.count)))
  }

  // MARK: Lost bytes

  /// Deletes the partial file, its folder or its content.
  private func lose(_ what: String) throws {
    let layout = try fixture.store.roots().layout(of: fixture.record("/a"))
    switch what {
    case "file": try FileManager.default.removeItem(atPath: layout.partialPath)
    case "folder": try FileManager.default.removeItem(atPath: layout.folderPath)
    default: try Data().write(to: URL(filePath: layout.partialPath))
    }
  }

  @Test(arguments: ["file", "folder", "content"], [true, false])
  func `bytes that are lost are an error if no engine runs the download`(
    what: String,
    waits: Bool
  ) async throws {
    try fixture.interrupted("/a", Self.body)
    try lose(what)
    var bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    bytes.waits = waits
    let error = await #expect(throws: EngineError.self) { try await all(bytes) }
    #expect(error?.code == .fileMissing)
    #expect(error?.message.contains(what == "folder" ? "the folder " : ".dlstore-part") == true)
  }

  @Test func `bytes that are lost are an error beside an engine of other downloads`() async throws {
    let other = Resource(Self.body, faults: .closeAfter(bytes: 500_000))
    let gate = fixture.routeGated("/other", other)
    try fixture.interrupted("/a", Self.body)
    try fixture.add("/other")
    try lose("file")
    let engine = try fixture.engine { $0.scope = [fixture.server.url("/other")] }
    let run = Task { try await engine.run(until: .stopped) }
    try await waitUntil("the start") { try fixture.record("/other").state == .running }
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let error = await #expect(throws: EngineError.self) { try await all(bytes) }
    #expect(error?.code == .fileMissing)
    gate.open()
    engine.stop()
    _ = try await run.value
  }

  @Test(arguments: ["file", "content"])
  func `bytes that are lost are awaited if an engine runs the download`(
    what: String
  ) async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.interrupted("/a", Self.body)
    try lose(what)
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    #expect(try await running { try await all(bytes) } == Self.expected(0..<2_000_000))
  }

  @Test func `bytes that are lost are awaited if the caller or another process runs the download`()
    async throws
  {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.interrupted("/a", Self.body)
    try lose("file")
    var bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let registration = try WaiterRegistration(
      of: [fixture.record("/a").id],
      storePath: fixture.store.path
    )
    let registered = Task { [bytes] in try await all(bytes) }
    bytes.isAwaited = true
    let awaited = Task { [bytes] in try await all(bytes) }
    let read = try await running { (try await registered.value, try await awaited.value) }
    withExtendedLifetime(registration) {}
    #expect(read.0 == Self.expected(0..<2_000_000) && read.1 == read.0)
  }

  @Test func `a damaged piece on disk is an error if no engine runs the download`() async throws {
    let pieces = try Self.pieces()
    try fixture.add("/a") { $0.pieces = pieces }
    // A known download keeps its pieces.
    try fixture.interrupted("/a", .generated(byteCount: 2_000_000, seed: 42))
    let record = try fixture.record("/a")
    let failure = await #expect(throws: DownloadFailure.self) {
      try await all(fixture.store.bytes(of: record.url))
    }
    #expect(failure?.code == .pieceMismatch)
  }

  /// Reads a download whose server is slow, calls `act` after the first bytes, and returns the error.
  ///
  /// The first response does not end before, and the next one brings no byte: a reader that is slow
  /// would find as many bytes as it has given out, and go on.
  private func failure(
    after act: @escaping @Sendable (FileLayout) throws -> Void
  ) async throws -> (any Error)? {
    var resource = Resource(Self.body, faults: .none, .stallBeforeHeader, then: .repeatLast)
    let gate = Gate()
    (resource.bytesPerSecond, resource.rateGate) = (50_000, gate)
    fixture.server.route("/a", resource)
    let layout = try fixture.store.roots().layout(of: try fixture.add("/a"))
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    return await #expect(throws: (any Error).self) {
      try await running {
        var hasActed = false
        for try await _ in bytes where !hasActed {
          hasActed = true
          try act(layout)
          gate.open()
        }
      }
    }
  }

  @Test func `a partial file that another program deletes is not a change on the server`()
    async throws
  {
    let error = try await failure { try FileManager.default.removeItem(atPath: $0.partialPath) }
    let failure = try #require(error as? DownloadFailure)
    #expect(failure.code == .fileInUse)
    #expect(failure.message.contains("another program has changed or deleted the partial file"))
  }

  @Test func `a restart by a command is not a change on the server`() async throws {
    let (store, url) = (fixture.store, fixture.server.url("/a"))
    let error = try await failure { _ in _ = try store.apply(.restart, to: .matching(url)) }
    let failure = try #require(error as? DownloadFailure)
    #expect(failure.message.contains("the download began again"), "\(failure.message)")
  }

  @Test func `a reader that waits can be cancelled, and an unknown download is an error`()
    async throws
  {
    try fixture.add("/a")
    let bytes = fixture.store.bytes(of: fixture.server.url("/a"))
    let reader = Task { try await all(bytes) }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    await #expect(throws: RecordStoreError.self) {
      try await all(fixture.store.bytes(of: "http://127.0.0.1/unknown"))
    }
  }
}

private func all(_ bytes: DownloadBytes) async throws -> Data {
  try await bytes.reduce(into: Data()) { $0 += $1 }
}
