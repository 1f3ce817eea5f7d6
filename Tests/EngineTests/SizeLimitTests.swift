import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import TestSupport
import Testing

/// Files that are larger than the engine's options allow.
@Suite(.timeLimit(.minutes(10)))
struct SizeLimitTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let transport = SimulatedTransport()
  private let url = "https://example.com/a"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  private var record: DownloadRecord { get throws { try store.record(matching: url) } }

  private func serve(_ byteCount: Int64, seed: UInt64 = 1, saysLength: Bool = true) {
    var resource = SimulatedResource(
      SimulatedBody(seed: seed, byteCount: byteCount),
      entityTag: "\"\(seed)\""
    )
    resource.saysLength = saysLength
    transport.serve(resource, at: url)
  }

  @discardableResult
  private func run(upTo maximum: Int64?) async throws -> RunSummary {
    var options = EngineOptions()
    options.maximumFileSize = maximum
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    return try await engine.run(until: .idle)
  }

  @Test(arguments: [true, false])
  func `a file of the largest size is downloaded`(_ saysLength: Bool) async throws {
    serve(100_000, saysLength: saysLength)
    #expect(try await run(upTo: 100_000) == RunSummary(completed: 1))
  }

  @Test func `a file whose declared size is larger fails for good without a byte`() async throws {
    serve(100_001)
    #expect(try await run(upTo: 100_000) == RunSummary(failed: 1))
    let record = try record
    #expect(record.attempts.map(\.failure.code) == [.tooLarge])
    #expect(record.state == .failedPermanent && record.received == 0)
    #expect(record.attempts.last?.failure.message.contains("100001 bytes") == true)
  }

  @Test func `a body without a declared size ends at the limit, and a higher limit continues it`()
    async throws
  {
    serve(1_000_000, saysLength: false)
    #expect(try await run(upTo: 600_000) == RunSummary(failed: 1))
    let failed = try record
    #expect(failed.attempts.map(\.failure.code) == [.tooLarge])
    #expect(failed.received <= 600_000)
    let partial = try store.roots().layout(of: failed).partialPath
    #expect(FileIdentity(ofFileAt: partial).map { $0.size <= 600_000 } ?? true)
    try store.apply(.resume(immediately: false), to: .all)
    #expect(try await run(upTo: nil) == RunSummary(completed: 1))
    #expect(try record.received == 1_000_000)
  }

  @Test func `a refresh to a larger version fails and keeps the finished file`() async throws {
    serve(1_000)
    try await run(upTo: 10_000)
    let finished = try #require(try record.fileIdentity)
    serve(20_000, seed: 2)
    try store.apply(.refresh, to: .all)
    try await run(upTo: 10_000)
    let record = try record
    #expect(record.state == .completed && record.fileIdentity == finished)
    #expect(record.refreshFailure?.code == .tooLarge)
    #expect(FileIdentity(ofFileAt: try store.roots().layout(of: record).finalPath) == finished)
  }
}
