import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import SystemInterface
import TestSupport
import Testing

/// Reconciliation without a network.
@Suite(.timeLimit(.minutes(10)))
struct ReconcileTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let transport = ManualTransport()

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  /// Adds a record, applies a change, and creates a partial file of the given size.
  private func add(
    _ name: String,
    partial: Int? = nil,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void
  ) throws -> FileLayout {
    let url = "https://example.com/\(name)"
    let record = try store.addNow([DownloadRequest(url: url)])[0].record
    let layout = try store.roots().layout(of: record)
    if let partial {
      try FileManager.default.createDirectory(
        atPath: layout.folderPath,
        withIntermediateDirectories: true
      )
      try Data(repeating: 1, count: partial).write(to: URL(filePath: layout.partialPath))
    }
    let fileIdentity = FileIdentity(ofFileAt: layout.partialPath)
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.fileIdentity = fileIdentity
        change(&record)
      }
    }
    return layout
  }

  private func record(_ name: String) throws -> DownloadRecord {
    try store.record(matching: "https://example.com/\(name)")
  }

  /// Reconciles, and returns the applied rules by filename.
  private func reconcile() async throws -> [String: String] {
    let engine = try DownloadEngine(store: store, transport: transport)
    let found = try await engine.reconcileRecords()
    #expect(transport.started.isEmpty)
    return Dictionary(
      uniqueKeysWithValues: found.map { ($0.record.filename, $0.decision.ruleNames) }
    )
  }

  private static func begun(_ record: inout DownloadRecord) {
    record.state = .running
    record.received = 40
    record.expected = 100
    record.entityTag = "\"1\""
  }

  @Test func `a logged rename is repeated`() async throws {
    let layout = try add("a", partial: 100) { record in
      Self.begun(&record)
      record.state = .finalizing
      record.received = 100
    }
    #expect(try await reconcile() == ["a": "F1"])
    #expect(try record("a").state == .completed)
    #expect(try Data(contentsOf: URL(filePath: layout.finalPath)).count == 100)
    #expect(!FileManager.default.fileExists(atPath: layout.partialPath))
  }

  @Test func `a logged rename does not replace a foreign file`() async throws {
    let layout = try add("a", partial: 100) { record in
      Self.begun(&record)
      record.state = .finalizing
      record.received = 100
    }
    try Data("theirs".utf8).write(to: URL(filePath: layout.finalPath))
    #expect(try await reconcile() == ["a": "A2+F1"])
    #expect(try Data(contentsOf: URL(filePath: layout.finalPath)) == Data("theirs".utf8))
    #expect(try record("a").filename == "a (2)")
    #expect(try record("a").state == .completed)
  }

  @Test func `a file that differs from the verified one is verified again, not renamed`()
    async throws
  {
    let layout = try add("a", partial: 100) { record in
      Self.begun(&record)
      record.state = .finalizing
      record.received = 100
      record.fileIdentity?.inode += 1
    }
    #expect(try await reconcile() == ["a": "F1"])
    #expect(try record("a").state == .waiting)
    #expect(!FileManager.default.fileExists(atPath: layout.finalPath))
  }

  @Test func `a partial file is truncated to the committed bytes`() async throws {
    let layout = try add("a", partial: 70) { Self.begun(&$0) }
    #expect(try await reconcile() == ["a": "Z1+P8"])
    #expect(try record("a").state == .waiting)
    #expect(try record("a").received == 40)
    #expect(FileIdentity(ofFileAt: layout.partialPath)?.size == 40)
  }

  @Test func `untrusted bytes are not counted`() async throws {
    let layout = try add("short", partial: 30) { Self.begun(&$0) }
    _ = try add("gone") { Self.begun(&$0) }
    #expect(try await reconcile() == ["short": "Z1+P9", "gone": "Z1+P6"])
    for name in ["short", "gone"] {
      #expect(try record(name).received == 0)
      #expect(try record(name).entityTag == nil)
    }
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `unreadable resume data is dropped, and readable resume data is kept`() async throws {
    _ = try add("a", partial: 40) { record in
      Self.begun(&record)
      record.resumeData = Data()
    }
    let draft = URLSessionResumeData.Draft(
      url: "https://example.com/b",
      received: 40,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp")
    )
    let blob = Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
    _ = try add("b", partial: 40) { record in
      Self.begun(&record)
      record.resumeData = blob
    }
    _ = try add("c", partial: 40) { record in
      Self.begun(&record)
      record.resumeData = Data([1])
    }
    #expect(try await reconcile() == ["a": "Z1+P3+P7", "b": "Z1+P7", "c": "Z1+P3+P7"])
    #expect(try record("a").resumeData == nil)
    #expect(try record("b").resumeData == blob)
    #expect(try record("c").resumeData == nil)
  }

  @Test func `stored commands are carried out`() async throws {
    let removed = try add("removed", partial: 40) { record in
      Self.begun(&record)
      record.intent = .remove
    }
    let kept = try add("kept", partial: 40) { record in
      Self.begun(&record)
      record.intent = .cancel
    }
    let held = try add("held", partial: 70) { record in
      Self.begun(&record)
      record.intent = .pause
    }
    #expect(try await reconcile() == ["removed": "X1", "kept": "X2", "held": "Z4"])
    #expect(throws: RecordStoreError.self) { try record("removed") }
    #expect(try record("kept").state == .cancelled)
    #expect(try record("kept").received == 0)
    #expect(try record("held").state == .paused)
    #expect(!FileManager.default.fileExists(atPath: removed.partialPath))
    #expect(!FileManager.default.fileExists(atPath: kept.partialPath))
    // A paused download is examined when it is resumed.
    #expect(FileIdentity(ofFileAt: held.partialPath)?.size == 70)
  }

  @Test(arguments: [DownloadCommand.cancel, .remove(withFile: false)], [true, false])
  func `a command that is given during a reconciliation is carried out by it`(
    command: DownloadCommand,
    isInScope: Bool
  ) async throws {
    let early = try add("early", partial: 40) { record in
      Self.begun(&record)
      record.intent = .remove
    }
    let late = try add("late", partial: 40) { record in
      Self.begun(&record)
      record.state = .waiting
    }
    // The records have been read before the first commit.
    let commitCount = Mutex(0)
    let hook = EffectHook { [store] effect in
      guard effect == .commit else { return nil }
      let number = commitCount.withLock { count in
        count += 1
        return count
      }
      if number == 1 {
        _ = try? store.apply(command, to: .matching("https://example.com/late"))
      }
      return nil
    }
    var options = EngineOptions()
    // As a command of another terminal, which runs an engine for its own downloads.
    if !isInScope { options.scope = ["https://example.com/early"] }
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
    try await engine.reconcile()
    #expect(!FileManager.default.fileExists(atPath: early.partialPath))
    #expect(!FileManager.default.fileExists(atPath: late.partialPath))
    #expect(try store.records().map(\.state) == (command == .cancel ? [.cancelled] : []))
  }

  @Test func `a second reconciliation changes nothing`() async throws {
    _ = try add("a", partial: 70) { Self.begun(&$0) }
    _ = try add("b") { $0.state = .failedRetryable }
    _ = try await reconcile()
    let first = [try record("a"), try record("b")]
    #expect(try await reconcile() == ["a": "Z2+P7", "b": "Z2+P6"])
    #expect([try record("a"), try record("b")] == first)
  }

  @Test func `interrupted downloads start before waiting ones`() async throws {
    for name in ["a", "c"] { _ = try add(name) { $0.state = .waiting } }
    _ = try add("b") { $0.state = .running }
    let found = try Reconciliation.ofActive(in: store, now: Date())
    #expect(found.first?.record.filename == "b")
    #expect(found.count == 3)
  }
}
