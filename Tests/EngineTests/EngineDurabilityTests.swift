import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// The order of syncs and commits, which makes a power failure in between harmless.
@Suite struct EngineDurabilityTests {
  /// Allows every effect except some, and records them.
  private final class Recorder: FaultInjector {
    private let effects = Mutex<[Effect]>([])
    private let refuses: @Sendable (Effect) -> Bool

    init(refuses: @escaping @Sendable (Effect) -> Bool = { _ in false }) {
      self.refuses = refuses
    }

    var all: [Effect] { effects.withLock { $0 } }

    func refusal(of effect: Effect) -> Int32? { refuses(effect) ? 5 : nil }

    func didPerform(_ effect: Effect) {
      effects.withLock { $0.append(effect) }
    }
  }

  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "https://example.com/a"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  private func layout() throws -> FileLayout {
    try store.roots().layout(of: try store.record(matching: url))
  }

  private func engine(_ faultInjector: Recorder, overlap: Int64 = 0) throws -> DownloadEngine {
    let transport = SimulatedTransport()
    let body = SimulatedBody(seed: 1, byteCount: 1_000)
    var resource = SimulatedResource(body, entityTag: "\"1\"")
    resource.overlap = overlap
    transport.serve(resource, at: url)
    var environment = EngineEnvironment.live
    environment.faultInjector = faultInjector
    return try DownloadEngine(
      store: store,
      transport: transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
  }

  @Test func `a file renamed right before a kill is synced before its record is complete`()
    async throws
  {
    // The state after a kill between the rename and the sync of the folder.
    let layout = try layout()
    try folder.makeFile("store/files/a", "abc")
    let fileIdentity = try #require(FileIdentity(ofFileAt: layout.finalPath))
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.state = .finalizing
        record.received = 3
        record.expected = 3
        record.fileIdentity = fileIdentity
      }
    }
    let faultInjector = Recorder()
    _ = try await engine(faultInjector).reconcileRecords()
    #expect(try store.record(matching: url).state == .completed)
    #expect(faultInjector.all.first == .synchronizeFolder(path: layout.folderPath))
  }

  @Test func `the deletion of a partial file is synced before its record is deleted`() async throws
  {
    let layout = try layout()
    try folder.makeFile("store/files/\(layout.partialPath.split(separator: "/").last ?? "")", "abc")
    try store.apply(.remove(withFile: false), to: .matching(url))
    // The commit is not reached.
    let faultInjector = Recorder { $0 == .commit }
    await #expect(throws: CommitRefusal.self) {
      _ = try await engine(faultInjector).reconcileRecords()
    }
    #expect(
      faultInjector.all == [
        .remove(path: layout.partialPath), .synchronizeFolder(path: layout.folderPath),
      ]
    )
    #expect(try store.record(matching: url).state == .removed)
  }

  @Test func `a partial file deleted right before a kill is synced before its record is deleted`()
    async throws
  {
    let folder = try layout().folderPath
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try store.apply(.remove(withFile: false), to: .matching(url))
    // The commit is not reached.
    let faultInjector = Recorder { $0 == .commit }
    await #expect(throws: CommitRefusal.self) {
      _ = try await engine(faultInjector).reconcileRecords()
    }
    #expect(faultInjector.all == [.synchronizeFolder(path: folder)])
    #expect(try store.record(matching: url).state == .removed)
  }

  @Test func `a folder that cannot be synced fails the download and not the engine`() async throws {
    let broken = Recorder { effect in
      if case .synchronizeFolder = effect { true } else { false }
    }
    let summary = try await engine(broken).run(until: .idle)
    #expect(summary == RunSummary(failed: 1))
    let record = try store.record(matching: url)
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.last?.failure.code == .fileSystem)
    // The file is there, so resuming needs no network.
    try store.apply(.resume(immediately: false), to: .all)
    #expect(try await engine(Recorder()).run(until: .idle) == RunSummary(completed: 1))
    #expect(FileIdentity(ofFileAt: try layout().finalPath) != nil)
  }

  @Test
  func `counted bytes are kept when a server begins before them and writing fails`() async throws {
    let layout = try layout()
    let bytes = SimulatedBody(seed: 1, byteCount: 1_000)[0..<300]
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: URL(filePath: layout.partialPath))
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.received = 300
        record.expected = 1_000
        record.entityTag = "\"1\""
      }
    }
    let broken = Recorder { effect in
      if case .write = effect { true } else { false }
    }
    let summary = try await engine(broken, overlap: 300).run(until: .idle)
    #expect(summary == RunSummary(failed: 1))
    #expect(try Data(contentsOf: URL(filePath: layout.partialPath)) == Data(bytes))
    try store.apply(.resume(immediately: false), to: .all)
    #expect(try await engine(Recorder()).run(until: .idle) == RunSummary(completed: 1))
  }
}
