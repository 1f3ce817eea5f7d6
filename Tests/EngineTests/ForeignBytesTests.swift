import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Partial files whose records know neither their last write nor their digests, because another
/// program has begun them.
@Suite(.timeLimit(.minutes(10)))
struct ForeignBytesTests {
  private let folder: TemporaryFolder
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
  }

  @Test func `bytes of another program are completed over several connections, with digests`()
    async throws
  {
    let body = Body.generated(byteCount: 4_000_000, seed: 8)
    // The first connection stalls, so that others fetch the rest.
    var resource = Resource(body)
    resource.faults = [.stallAfter(bytes: 100_000)]
    server.route("/a", resource)
    let urls = [server.url("/a"), "https://example.com/paused"]
    let store = try RecordStore(at: folder.path("store"))
    var old = try store.addNow(urls.map(DownloadRequest.init)).map(\.record)
    old[0].received = 1_000_000
    old[0].expected = body.byteCount
    old[0].entityTag = "\"1\""
    old[1].state = .paused
    old[1].intent = .pause
    try await store.objects.write { [old] tx in for record in old { try tx.upsert(record) } }
    let layout = try store.roots().layout(of: old[0])
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(body.bytes(at: 0, count: 1_000_000)).write(to: URL(filePath: layout.partialPath))
    var options = EngineOptions(maximumRunning: 8, maximumPerHost: 8)
    options.split = SplitOptions(maximumConnections: 4, minimumLength: 100_000)
    options.split.measuringTime = .zero
    options.pieceLength = 500_000
    let engine = try DownloadEngine(
      store: store,
      transport: TransportUnderTest.make(idleTimeout: .seconds(300)),
      options: options
    )
    #expect(try await engine.run(until: .idle) == RunSummary(completed: 1, failed: 0))

    #expect(body.matches(file: layout.finalPath))
    let ranges = server.requests.map { $0["Range"] }
    #expect(ranges.count > 1 && ranges[0] == "bytes=1000000-", "\(ranges)")
    #expect(try store.record(matching: urls[1]) == old[1])
    // The bytes of the other program have digests, too.
    let check = try store.checkFile(of: store.record(matching: urls[0]))
    #expect(check.finding == .correct)
  }
}
