import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Partial files that another program changes while the engine writes them.
@Suite(.timeLimit(.minutes(10)))
struct InterferenceTests {
  private static let length: Int64 = 100_000
  private static let size: Int64 = 1_050_000
  private static let body = Body.generated(byteCount: size, seed: 91)
  private static let theirs = Data("the file of another program".utf8)

  /// What another program does to the file.
  enum Deed: String, CaseIterable {
    case overwrite, truncate, delete, replace, extend
    /// Truncates and extends the file, so that it is longer than before.
    case refill

    /// Changes the file at a path.
    func perform(on path: String) throws {
      switch self {
      case .overwrite:
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        let before = FileIdentity(ofFileAt: path)
        // Within the resolution of the file's times, no program can notice a change.
        repeat {
          try handle.seek(toOffset: 150_000)
          try handle.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
        } while FileIdentity(ofFileAt: path) == before
        try handle.close()
      case .truncate:
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 420_000)
        try handle.close()
      case .delete: try FileManager.default.removeItem(atPath: path)
      case .replace:
        try InterferenceTests.theirs.write(to: URL(filePath: path + "-theirs"))
        guard rename(path + "-theirs", path) == 0 else { throw POSIXError(.EIO) }
      case .refill:
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 420_000)
        try handle.truncate(atOffset: UInt64(InterferenceTests.size))
        try handle.close()
      case .extend:
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seek(toOffset: UInt64(InterferenceTests.size))
        try handle.write(contentsOf: InterferenceTests.theirs)
        try handle.close()
      }
    }
  }

  private let fixture: EngineFixture

  init() throws { fixture = try EngineFixture() }

  private static var digest: Digest {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(size)).span)
    return hasher.digest
  }

  /// Runs a download, and lets another program change its file once, before an effect.
  private func run(
    _ deed: Deed,
    connections: Int,
    pieceLength: Int64 = length,
    before isMoment: @escaping @Sendable (Effect) -> Bool
  ) async throws -> DownloadRecord {
    let done = Mutex(false)
    let path = try fixture.store.roots().layout(of: try fixture.record("/a")).partialPath
    let hook = EffectHook { effect in
      guard isMoment(effect),
        done.withLock({ done in
          defer { done = true }
          return !done
        })
      else {
        return nil
      }
      do {
        try deed.perform(on: path)
      } catch {
        Issue.record(error)
      }
      return nil
    }
    let engine = try fixture.engine(environment: .live(hook)) { options in
      options.pieceLength = pieceLength
      options.checkpointBytes = 100_000
      options.split = SplitOptions(maximumConnections: connections, minimumLength: 100_000)
      options.split.measuringTime = .zero
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8)
      options.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1))
    }
    _ = try await engine.run(until: .idle)
    #expect(done.withLock { $0 })
    return try fixture.record("/a")
  }

  private func expectComplete(_ record: DownloadRecord) throws {
    #expect(record.state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  private func add(withDigest: Bool) throws {
    var resource = Resource(Self.body)
    resource.bytesPerSecond = 4_000_000
    fixture.server.route("/a", resource)
    try fixture.add("/a") { request in
      if withDigest { request.digest = Self.digest }
      // Under a limit each write is short. Otherwise, on a busy machine, a single write may contain all
      // that arrives after the first bytes, and no write begins where the other program is to act.
      request.bytesPerSecond = 1 << 30
    }
  }

  @Test(arguments: Deed.allCases, [1, 8])
  func `a partial file that another program changes becomes no finished file`(
    deed: Deed,
    connections: Int
  ) async throws {
    try add(withDigest: true)
    let record = try await run(deed, connections: connections) { effect in
      if case .write(_, let offset, _) = effect { offset >= 600_000 } else { false }
    }
    try expectComplete(record)
    #expect(record.verifiedDigest == Self.digest.text)
  }

  @Test(arguments: [Deed.truncate, .delete, .replace, .extend], [1, 8])
  func `a lost or longer partial file is noticed without a digest`(
    deed: Deed,
    connections: Int
  ) async throws {
    try add(withDigest: false)
    let record = try await run(deed, connections: connections) { effect in
      if case .write(_, let offset, _) = effect { offset >= 600_000 } else { false }
    }
    try expectComplete(record)
  }

  @Test(arguments: Deed.allCases)
  func `a file of one piece is downloaded again`(deed: Deed) async throws {
    try add(withDigest: true)
    let record = try await run(deed, connections: 1, pieceLength: 2 * Self.size) { effect in
      if case .write(_, let offset, _) = effect { offset >= 600_000 } else { false }
    }
    try expectComplete(record)
  }

  @Test(arguments: [Deed.delete, .replace, .truncate, .extend], [true, false])
  func `a change after the last byte is noticed before the rename`(
    deed: Deed,
    hasDigest: Bool
  ) async throws {
    try add(withDigest: hasDigest)
    let last = Mutex(false)
    let record = try await run(deed, connections: 1) { effect in
      switch effect {
      case .write(_, let offset, let count):
        last.withLock { $0 = $0 || offset + Int64(count) == Self.size }
        return false
      case .synchronize: return last.withLock { $0 }
      default: return false
      }
    }
    try expectComplete(record)
  }

  @Test(arguments: [true, false])
  func `bytes after the end of a file of one piece are cut off before the rename`(
    hasDigest: Bool
  ) async throws {
    try add(withDigest: hasDigest)
    let record = try await run(.extend, connections: 1, pieceLength: 2 * Self.size) { effect in
      if case .write(_, let offset, _) = effect { offset >= 600_000 } else { false }
    }
    try expectComplete(record)
    #expect(record.expected == Self.size && record.fileIdentity?.size == Self.size)
    // With a digest no byte of the file is lost. Without one, nothing shows that the other program
    // has not truncated the file first.
    #expect(fixture.ranges("/a") == (hasDigest ? [nil] : [nil, nil]))
  }

  @Test func `a file of one piece that was truncated and extended between two looks is not kept`()
    async throws
  {
    try add(withDigest: false)
    let record = try await run(.refill, connections: 1, pieceLength: 2 * Self.size) { effect in
      if case .write(_, let offset, _) = effect { offset >= 600_000 } else { false }
    }
    try expectComplete(record)
  }

  @Test(arguments: [Deed.extend, .replace, .overwrite])
  func `a file that changes after it was examined and before it is opened is not continued`(
    deed: Deed
  ) async throws {
    let part = try fixture.store.roots()
      .layout(
        of: try await fixture.breakOff("/a", Self.body, after: 500_000, pieceLength: 2 * Self.size)
      )
      .partialPath
    try fixture.add("/a")
    let record = try await run(deed, connections: 1, pieceLength: 2 * Self.size) { effect in
      effect == .open(path: part)
    }
    try expectComplete(record)
    #expect(record.attempts.last?.failure.code == .fileInUse)
  }

  /// Lets another program change the file when its first 900,000 bytes have arrived.
  ///
  /// - Parameters:
  ///   - deed: The change.
  ///   - step: The length of the parts in which the bytes arrive.
  ///   - awaitsCheckpoint: Whether a checkpoint has counted 500,000 of them then, or none.
  /// - Returns: The range that the engine requests afterwards.
  /// - Throws: An error of the fixture, or of a step that did not happen.
  private func rangeAfter(
    _ deed: Deed,
    inPartsOf step: Int = 900_000,
    awaitingCheckpoint awaitsCheckpoint: Bool = true
  ) async throws -> Range<Int64> {
    let manual = try ManualFixture()
    try manual.add("a")
    var options = EngineOptions()
    options.pieceLength = Self.length
    options.checkpointBytes = awaitsCheckpoint ? 100_000 : 950_000
    if !awaitsCheckpoint { options.checkpointInterval = .seconds(86_400) }
    options.split.maximumConnections = 1
    options.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1))
    let transport = manual.transport
    let engine = try DownloadEngine(store: manual.store, transport: transport, options: options)
    let body = Self.body
    var range: Range<Int64> = 0..<0
    try await manual.running(engine) {
      try await manual.started(1)
      let first = transport.started[0]
      first.receive(body.bytes(at: 0, count: step), of: Int(Self.size))
      for start in stride(from: step, to: 900_000, by: step) {
        _ = first.sink.receive(body.bytes(at: Int64(start), count: step).span)
      }
      if awaitsCheckpoint {
        try await waitUntil("a checkpoint") { try manual.record("a").received >= 500_000 }
      }
      try deed.perform(on: try manual.layout("a").partialPath)
      _ = first.sink.receive(body.bytes(at: 900_000, count: 150_000).span)
      first.sink.finish(.completed)
      try await manual.started(2)
      let second = transport.started[1]
      range = second.request.offset..<(second.request.end ?? Self.size)
      let fields = [
        HeaderField(name: "ETag", value: "\"1\""),
        HeaderField(
          name: "Content-Range",
          value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.size)"
        ),
      ]
      #expect(second.sink.receive(ResponseHead(status: 206, fields: fields)) == .proceed)
      let rest = body.bytes(at: range.lowerBound, count: range.count)
      _ = second.sink.receive(rest.span)
      second.sink.finish(.completed)
      try await manual.reached(.completed, "a")
    }
    let record = try manual.record("a")
    #expect(record.attempts.map(\.failure.code) == [.fileInUse])
    #expect(body.matches(file: try manual.layout("a").finalPath))
    return range
  }

  @Test func `a piece that another program overwrites is noticed without a required digest`()
    async throws
  {
    #expect(try await rangeAfter(.overwrite) == 100_000..<200_000)
  }

  @Test func `a piece of small parts that is overwritten before a checkpoint is noticed`()
    async throws
  {
    // The checkpoint reads the file after the change.
    let range = try await rangeAfter(.overwrite, inPartsOf: 3_000, awaitingCheckpoint: false)
    #expect(range == 100_000..<200_000)
  }

  @Test func `pieces that are intact stay after a truncation`() async throws {
    // The last whole piece before the end of the truncated file.
    #expect(try await rangeAfter(.truncate) == 400_000..<Self.size)
  }
}
