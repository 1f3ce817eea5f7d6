import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing
import TransportTesting

/// A record as schema version 1 stored it.
private struct RecordOfVersion1: Model {
  struct Columns {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: DownloadRecord.schema.name,
    fields: DownloadRecord.schema.fields.filter { $0.id <= 40 },
    indexes: [
      IndexSchema(
        on: "state",
        "intent",
        "isHeld",
        "startsImmediately",
        "priority",
        "notBefore",
        "nextRetryAt"
      )
    ]
  )

  private let record: DownloadRecord
  var primaryKey: String { record.url }

  init(_ record: DownloadRecord) {
    self.record = record
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    preconditionFailure("RecordOfVersion1 is only written")
  }

  func encode(to encoder: inout RecordEncoder) {
    encoder.encode(record.url)
    encoder.encode(record.id)
    encoder.encode(record.filename)
    encoder.encode(record.folder)
    encoder.encode(record.root)
    encoder.encode(record.destination)
    encoder.encode(record.type)
    encoder.encode(record.state)
    encoder.encode(record.intent)
    encoder.encode(record.tags)
    encoder.encode(record.priority)
    encoder.encode(record.received)
    encoder.encode(record.expected)
    encoder.encode(record.entityTag)
    encoder.encode(record.lastModified)
    encoder.encode(record.resumeData)
    encoder.encode(record.mirrors)
    encoder.encode(record.expectedDigest)
    encoder.encode(record.verifiedDigest)
    encoder.encode(record.isHeld)
    encoder.encode(record.failedAttempts)
    encoder.encode(record.attempts)
    encoder.encode(record.nextRetryAt)
    encoder.encode(record.generation)
    encoder.encode(record.createdAt)
    encoder.encode(record.updatedAt)
    encoder.encode(record.completedAt)
    encoder.encode(record.hasHeaders)
    encoder.encode(record.unresolvedStarts)
    encoder.encode(record.resolvedBytes)
    encoder.encode(record.fileIdentity)
    encoder.encode(record.startsImmediately)
    encoder.encode(record.removesFile)
    encoder.encode(record.replacedFileIdentity)
    encoder.encode(record.isNameGiven)
    encoder.encode(record.allowsCellular)
    encoder.encode(record.prefersBackground)
    encoder.encode(record.pendingHooks)
    encoder.encode(record.bytesPerSecond)
    encoder.encode(record.notBefore)
  }
}

/// Stores that an earlier version has written.
@Suite(.timeLimit(.minutes(10)))
struct EarlierVersionTests {
  private let folder: TemporaryFolder
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
  }

  /// Creates a store of version 1 with some records.
  private func makeStore(_ records: [DownloadRecord]) throws {
    let store = try Store(
      at: folder.path("store"),
      models: [RecordOfVersion1.self, Root.self, RequestHeaders.self],
      options: StoreOptions(access: .create, schemaVersion: 1)
    )
    try store.writeNow { tx in
      for record in records { try tx.insert(RecordOfVersion1(record)) }
    }
  }

  /// Returns records that a store of this version would have.
  private func records(_ urls: [String]) throws -> [DownloadRecord] {
    let store = try RecordStore(at: folder.path("template"))
    return try store.addNow(urls.map(DownloadRequest.init)).map(\.record)
  }

  @Test func `a download that an earlier version has begun is completed over several connections`()
    async throws
  {
    let body = Body.generated(byteCount: 4_000_000, seed: 8)
    // The first connection stalls, so that others fetch the rest.
    var resource = Resource(body)
    resource.faults = [.stallAfter(bytes: 100_000)]
    server.route("/a", resource)
    let urls = [server.url("/a"), "https://example.com/paused"]
    var old = try records(urls)
    old[0].received = 1_000_000
    old[0].expected = body.byteCount
    old[0].entityTag = "\"1\""
    old[1].state = .paused
    old[1].intent = .pause
    try makeStore(old)

    let store = try RecordStore(at: folder.path("store"))
    #expect(try urls.map { try store.record(matching: $0) } == old)
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
    // The bytes of the earlier version have digests, too.
    let check = try store.checkFile(of: store.record(matching: urls[0]))
    #expect(check.finding == .correct)
  }

  @Test func `a program of an earlier version cannot write to the store`() async throws {
    let urls = ["https://example.com/a"]
    _ = try RecordStore(at: folder.path("store")).addNow(urls.map(DownloadRequest.init))
    #expect(throws: StoreError.self) { try makeStore(try records(["https://example.com/b"])) }
  }
}
