import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// Files that are deleted with their record in a folder that cannot be synced.
///
/// A power failure may bring such a file back, so the record stays until a sync succeeds.
@Suite(.timeLimit(.minutes(10)))
struct DeletionSyncTests {
  /// Refuses some syncs of folders, and records the states in the store at each sync.
  private final class FailingFolders: Sendable {
    private let store: RecordStore
    private let refused: Range<Int>
    private let observed = Mutex<[[DownloadState]]>([])

    /// The numbers of the syncs to refuse, counted from 0.
    init(_ refused: Range<Int>, _ store: RecordStore) {
      self.store = store
      self.refused = refused
    }

    /// The states of all records at each sync of a folder.
    var states: [[DownloadState]] { observed.withLock { $0 } }

    var hook: EffectHook {
      EffectHook { [self] effect in
        guard case .synchronizeFolder = effect else { return nil }
        let states = (try? store.records(DownloadRecord.all).map(\.state)) ?? []
        return observed.withLock { observed in
          observed.append(states)
          return refused.contains(observed.count - 1) ? EIO : nil
        }
      }
    }
  }

  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  private func engine(
    _ faultInjector: EffectHook,
    maximumAttempts: Int32 = 8
  ) throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = RetryPolicy(
      maximumAttempts: maximumAttempts,
      base: .milliseconds(1),
      cap: .milliseconds(10)
    )
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: .live(faultInjector)
    )
  }

  /// Completes the record and creates its file.
  private func complete() throws -> FileLayout {
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { _ in }
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") { record in
      record.state = .completed
      record.received = 5
      record.expected = 5
      record.fileIdentity = fileIdentity
    }
    return layout
  }

  @Test func `a record and its finished file are deleted once the folder is synced`() async throws {
    let layout = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let folders = FailingFolders(0..<2, fixture.store)
    let hook = folders.hook
    // The engine retries by itself.
    _ = try await engine(hook).run(until: .idle)
    #expect(
      hook.performed == [
        .remove(path: layout.finalPath), .synchronizeFolder(path: layout.folderPath),
      ]
    )
    #expect(folders.states == [[.removed], [.removed], [.removed]])
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test func `a record stays until its finished file is deleted`() async throws {
    let layout = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let isRefused = Mutex(true)
    let hook = EffectHook { effect in
      guard case .remove = effect, isRefused.withLock({ $0 }) else { return nil }
      return EACCES
    }
    let found = try await engine(hook).reconcileRecords()
    #expect(found.map(\.deletionFailure?.code) == [.fileSystem])
    #expect(found[0].deletionFailure?.message.contains("deleting") == true)
    #expect(try fixture.record("a").state == .removed)
    #expect(FileManager.default.fileExists(atPath: layout.finalPath))

    // The engine retries by itself, as often as it is refused.
    let engine = try engine(hook, maximumAttempts: .max)
    async let summary = engine.run(until: .idle)
    isRefused.withLock { $0 = false }
    _ = try await summary
    #expect(try fixture.store.records(DownloadRecord.all) == [])
    #expect(!FileManager.default.fileExists(atPath: layout.finalPath))
  }

  @Test func `a cancelled download stays active until its partial file is deleted`() async throws {
    try fixture.change("a", partial: 5) { $0.received = 5 }
    try fixture.store.apply(.cancel, to: .all)
    let hook = EffectHook { effect in if case .remove = effect { EIO } else { nil } }
    _ = try await engine(hook, maximumAttempts: 1).run(until: .idle)
    #expect(try fixture.record("a").state == .waiting)
    _ = try await engine(EffectHook()).run(until: .idle)
    #expect(try fixture.record("a").state == .cancelled)
  }

  @Test func `a download is cancelled if its folder is gone, which cannot be synced`() async throws
  {
    try fixture.change("a", partial: 5) { $0.received = 5 }
    try FileManager.default.removeItem(atPath: try fixture.layout("a").folderPath)
    try fixture.store.apply(.cancel, to: .all)
    _ = try await engine(EffectHook(), maximumAttempts: 1).run(until: .idle)
    #expect(try fixture.record("a").state == .cancelled)
  }

  @Test func `a download is cancelled once its folder is synced`() async throws {
    try fixture.change("a", partial: 5) { $0.received = 5 }
    try fixture.store.apply(.cancel, to: .all)
    let folders = FailingFolders(0..<1, fixture.store)
    _ = try await engine(folders.hook).run(until: .idle)
    #expect(folders.states == [[.waiting], [.waiting]])
    let record = try fixture.record("a")
    #expect(record.state == .cancelled)
    #expect(record.received == 0)
  }

  @Test func `reconciliation reports a folder that cannot be synced`() async throws {
    _ = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let found = try await engine(FailingFolders(0..<1, fixture.store).hook).reconcileRecords()
    #expect(found.map(\.deletionFailure?.code) == [.fileSystem])
    #expect(found[0].deletionFailure?.message.contains("syncing") == true)
    #expect(try fixture.record("a").state == .removed)
    let again = try await engine(EffectHook()).reconcileRecords()
    #expect(again.map(\.deletionFailure) == [nil])
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  /// A kill between the two steps of a rename leaves one file under both names.
  @Test func `a file with two names is complete once the deletion of the second is synced`()
    async throws
  {
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { _ in }
    try FileManager.default.linkItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") { record in
      record.state = .finalizing
      record.received = 5
      record.expected = 5
      record.fileIdentity = fileIdentity
    }
    let folders = FailingFolders(1..<2, fixture.store)
    let summary = try await engine(folders.hook).run(until: .idle)
    #expect(summary == RunSummary(failed: 1))
    #expect(folders.states == [[.finalizing], [.finalizing]])
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
    try fixture.store.apply(.resume(immediately: false), to: .all)
    #expect(try await engine(EffectHook()).run(until: .idle) == RunSummary(completed: 1))
    #expect(fixture.transport.started.isEmpty)
  }

  @Test func `a run until idle ends even if a folder can never be synced`() async throws {
    let layout = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let folders = FailingFolders(0..<Int.max, fixture.store)
    _ = try await engine(folders.hook, maximumAttempts: 3).run(until: .idle)
    #expect(folders.states.count == 3)
    // The next engine retries the deletion.
    #expect(try fixture.store.records(DownloadRecord.all).map(\.state) == [.removed])
    #expect(FileIdentity(ofFileAt: layout.finalPath) == nil)
    _ = try await engine(EffectHook()).run(until: .idle)
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test func `a record that is added again before the folder is synced is downloaded`() async throws
  {
    _ = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let folders = FailingFolders(0..<1, fixture.store)
    let engine = try engine(folders.hook)
    try await fixture.running(engine) {
      try await waitUntil("the sync to fail") { !folders.states.isEmpty }
      try fixture.add("a")
      try await fixture.started(1)
      try await fixture.settle()
      #expect(try fixture.record("a").state == .running)
    }
  }

  @Test func `a run until idle does not wait for a deletion that is no longer wanted`() async throws
  {
    _ = try complete()
    try fixture.store.apply(.remove(withFile: true), to: .all)
    let isRefused = Mutex(true)
    let hasFailed = Mutex(false)
    let hook = EffectHook { effect in
      guard case .synchronizeFolder = effect, isRefused.withLock({ $0 }) else { return nil }
      hasFailed.withLock { $0 = true }
      return EIO
    }
    // The engine retries until the download is added again, however late that is.
    let engine = try engine(hook, maximumAttempts: .max)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the sync to fail") { hasFailed.withLock { $0 } }
    try fixture.add("a")
    isRefused.withLock { $0 = false }
    try await fixture.started(1)
    fixture.transport.started[0].complete()
    #expect(try await run.value.completed == 1)
  }

  @Test func `a record whose folder was never created is deleted immediately`() async throws {
    #expect(!FileManager.default.fileExists(atPath: try fixture.layout("a").folderPath))
    try fixture.store.apply(.remove(withFile: false), to: .all)
    let found = try await engine(EffectHook()).reconcileRecords()
    #expect(found.map(\.deletionFailure) == [nil])
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }
}
