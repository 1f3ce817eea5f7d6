import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import ObjectStore
import TestSupport
import Testing

/// Following the downloads of an engine by its commits.
@Suite(.timeLimit(.minutes(10)))
struct DownloadUpdatesTests {
  @Test func `without an engine the sequence ends after the current records`() async throws {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try await store.add([DownloadRequest(url: "http://h/a")])
    var states: [[DownloadState]] = []
    for try await records in store.updates(of: ["http://h/a", "http://h/none"]) {
      states.append(records.map(\.state))
    }
    #expect(states == [[.waiting]])
  }

  @Test func `the records of a running engine are followed to their ends`() async throws {
    let folder = try TemporaryFolder()
    let server = try FaultServer()
    let gate = Gate()
    var resource = Resource(.generated(byteCount: 500_000, seed: 1))
    (resource.bytesPerSecond, resource.rateGate) = (1_000, gate)
    server.route("/a", resource)
    let urls = [server.url("/a"), server.url("/none")]
    let store = try RecordStore(at: folder.path("store"))
    try await store.add(urls.map { DownloadRequest(url: $0) })
    // Another process would open the store by itself.
    let reader = try RecordStore(at: folder.path("store"), access: .readOnly)
    let engine = try DownloadEngine(store: store, transport: TransportUnderTest.make())
    let run = Task { try await engine.run(until: .stopped) }
    var last: [DownloadState] = []
    for try await records in reader.updates(of: urls, every: .milliseconds(10)) {
      last = records.map(\.state)
      if last.contains(.running), last.contains(.failedPermanent) { gate.open() }
    }
    #expect(last == [.completed, .failedPermanent])
    engine.stop()
    _ = try await run.value
  }

  @Test func `the sequence ends with the engine, and with a pause or the reading task`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try FaultServer()
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1), then: .repeatLast))
    let url = server.url("/a")
    let store = try RecordStore(at: folder.path("store"))
    try await store.add([DownloadRequest(url: url)])
    let engine = try DownloadEngine(store: store, transport: TransportUnderTest.make())
    let run = Task { try await engine.run(until: .stopped) }
    let cancelled = Task {
      for try await _ in store.updates(of: [url]) {}
    }
    cancelled.cancel()
    try await cancelled.value
    var isPaused = false
    for try await records in store.updates(of: [url], every: .milliseconds(10)) {
      if records[0].state == .running, !isPaused {
        isPaused = true
        try await store.pause(.matching(url))
      }
    }
    #expect(try store.record(matching: url).state == .paused)
    try await store.resume(.matching(url))
    var isStopped = false
    for try await records in store.updates(of: [url], every: .milliseconds(10)) {
      if records[0].state == .running, !isStopped {
        isStopped = true
        engine.stop()
      }
    }
    #expect(isStopped)
    _ = try await run.value
  }

  @Test func `a reader of the whole store sees a download until its record is deleted`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try FaultServer()
    server.route("/a", Resource(.text("abc")))
    let url = server.url("/a")
    let store = try RecordStore(at: folder.path("store"))
    let reader = try RecordStore(at: folder.path("store"), access: .readOnly)
    #expect(!reader.hasEngine)
    let engine = try DownloadEngine(store: store, transport: TransportUnderTest.make())
    let run = Task { try await engine.run(until: .stopped) }
    var position = try await reader.objects.read { tx in try tx.historyToken() }
    try await store.add([DownloadRequest(url: url)])
    var seen: [DownloadState] = []
    commits: for try await _ in reader.objects.commits {
      switch try reader.objects.changes(since: position, of: DownloadRecord.self) {
      case .changes(let changes):
        position = changes.token
        for record in changes.inserted + changes.updated.map(\.object) {
          if record.state == .completed, !seen.contains(.completed) {
            #expect(reader.hasEngine)
            try await store.remove(.matching(url))
          }
          seen.append(record.state)
        }
        if changes.deleted.contains(url) { break commits }
      case .expired:
        Issue.record("the history does not reach back")
        break commits
      }
    }
    #expect(seen.contains(.completed))
    #expect(Set(seen.drop { $0 != .completed }).isSubset(of: [.completed, .removed]))
    engine.stop()
    _ = try await run.value
    #expect(!reader.hasEngine)
  }
}
