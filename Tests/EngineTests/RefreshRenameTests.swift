import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// A refresh whose newer version is complete, and does not get the name of the finished file.
@Suite(.timeLimit(.minutes(10)))
struct RefreshRenameTests {
  private let fixture: EngineFixture
  private let old = Body.generated(byteCount: 30_000, seed: 81)
  private let new = Body.generated(byteCount: 40_000, seed: 82)

  /// Downloads the old version of a file.
  init() async throws {
    fixture = try EngineFixture()
    fixture.server.route("/a", Resource(old, etag: "\"1\""))
    try fixture.add("/a")
    try await fixture.run()
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
  }

  /// Refreshes with an engine whose attempts to rename call `rename`, and returns its summary.
  ///
  /// If it does not notice commits, it is on a machine so busy that their signals come too late.
  private func refresh(
    by command: DownloadCommand = .refresh,
    noticesCommits: Bool = true,
    _ rename: @escaping @Sendable () -> Int32?
  ) async throws -> RunSummary {
    try fixture.store.apply(command, to: .all)
    let hook = EffectHook { effect in
      if case .rename = effect { rename() } else { nil }
    }
    var environment = EngineEnvironment.live(hook)
    if !noticesCommits { environment.wake = { _, _ in {} } }
    let engine = try fixture.engine(environment: environment) { options in
      options.retry = RetryPolicy(maximumAttempts: 1)
    }
    return try await engine.run(until: .idle)
  }

  private func expectComplete(_ body: Body, tag: String) throws {
    let record = try fixture.record("/a")
    #expect(record.state == .completed && record.intent == .run && record.refreshed == nil)
    #expect(record.received == body.byteCount && record.entityTag == tag)
    #expect(record.fileIdentity == FileIdentity(ofFileAt: fixture.file("a")))
    #expect(body.matches(file: fixture.file("a")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  @Test(arguments: [EACCES, EPERM, EIO, EROFS])
  func `a rename that is refused for good leaves the finished file`(code: Int32) async throws {
    #expect(try await refresh { code } == RunSummary(failed: 1))
    try expectComplete(old, tag: "\"1\"")
    let failure = try #require(try fixture.record("/a").refreshFailure)
    #expect(failure.code == .fileSystem)
    #expect(failure.message.hasSuffix("; the newer version is deleted"))
    // The next refresh downloads it again.
    try await fixture.store.refresh(.all)
    #expect(try await fixture.run().summary == RunSummary(completed: 1))
    try expectComplete(new, tag: "\"2\"")
  }

  @Test func `a newer version that can neither be renamed nor deleted takes no space`()
    async throws
  {
    try fixture.store.apply(.refresh, to: .all)
    // As a folder whose permissions are taken away during the transfer.
    let isReadOnly = Mutex(false)
    let hook = EffectHook { effect in
      switch effect {
      case .rename:
        isReadOnly.withLock { $0 = true }
        return EACCES
      case .remove: return isReadOnly.withLock { $0 } ? EACCES : nil
      default: return nil
      }
    }
    let engine = try fixture.engine(environment: .live(hook)) { options in
      options.retry = RetryPolicy(maximumAttempts: 1)
    }
    #expect(try await engine.run(until: .idle) == RunSummary(failed: 1))
    let record = try fixture.record("/a")
    #expect(record.state == .completed && record.refreshFailure?.code == .fileSystem)
    #expect(old.matches(file: fixture.file("a")))
    let partial = try fixture.store.roots().layout(of: record).partialPath
    #expect(FileIdentity(ofFileAt: partial)?.size == 0)
    try await fixture.store.refresh(.all)
    #expect(try await fixture.run().summary == RunSummary(completed: 1))
    try expectComplete(new, tag: "\"2\"")
  }

  @Test(arguments: [true, false])
  func `a cancel before a rename that fails returns to the finished file`(
    noticesCommits: Bool
  ) async throws {
    let store = fixture.store
    _ = try await refresh(noticesCommits: noticesCommits) {
      _ = try? store.apply(.cancel, to: .all)
      return EIO
    }
    try expectComplete(old, tag: "\"1\"")
  }

  @Test(arguments: [true, false])
  func `a cancel before a rename that succeeds comes too late`(
    noticesCommits: Bool
  ) async throws {
    let store = fixture.store
    _ = try await refresh(noticesCommits: noticesCommits) {
      _ = try? store.apply(.cancel, to: .all)
      return nil
    }
    try expectComplete(new, tag: "\"2\"")
  }

  @Test(arguments: [nil, EACCES, EIO], [true, false])
  func `a restart at the rename leaves one file, of the newer version`(
    code: Int32?,
    noticesCommits: Bool
  ) async throws {
    let store = fixture.store
    let isFirst = Mutex(true)
    _ = try await refresh(noticesCommits: noticesCommits) {
      let restarts = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if restarts { _ = try? store.apply(.restart, to: .all) }
      return restarts ? code : nil
    }
    try await fixture.run()
    try expectComplete(new, tag: "\"2\"")
  }

  @Test func `a restart after a rename that was refused for good leaves one file`() async throws {
    #expect(try await refresh(by: .restart) { EACCES } == RunSummary(failed: 1))
    #expect(try await refresh(by: .restart) { nil } == RunSummary(completed: 1))
    try expectComplete(new, tag: "\"2\"")
  }

  @Test(arguments: [nil, EIO], [true, false])
  func `a removal at the rename deletes the file, or keeps one of its versions`(
    code: Int32?,
    withFile: Bool
  ) async throws {
    let store = fixture.store
    _ = try await refresh(noticesCommits: false) {
      _ = try? store.apply(.remove(withFile: withFile), to: .all)
      return code
    }
    try await fixture.run()
    #expect(try store.records().isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.file(""))
    #expect(names == (withFile ? [] : ["a"]))
    if !withFile { #expect((code == nil ? new : old).matches(file: fixture.file("a"))) }
  }

  /// Leaves the store and the files as a kill does after the rename was logged.
  private func leaveRename(isRenamed: Bool) async throws {
    try await fixture.store.refresh(.all)
    let record = try fixture.record("/a")
    let partial = try fixture.store.roots().layout(of: record).partialPath
    try new.write(toFile: partial)
    let complete = try #require(FileIdentity(ofFileAt: partial))
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: record.url) { record in
        record.state = .finalizing
        record.received = complete.size
        record.expected = complete.size
        record.entityTag = "\"2\""
        record.fileIdentity = complete
        record.partialIdentity = complete
      }
    }
    if isRenamed {
      try FileManager.default.removeItem(atPath: fixture.file("a"))
      try FileManager.default.moveItem(atPath: partial, toPath: fixture.file("a"))
    }
  }

  @Test(arguments: [false, true])
  func `a cancel after a kill at the rename is decided by the file that has the name`(
    isRenamed: Bool
  ) async throws {
    try await leaveRename(isRenamed: isRenamed)
    try fixture.store.apply(.cancel, to: .all)
    try await fixture.run()
    try expectComplete(isRenamed ? new : old, tag: isRenamed ? "\"2\"" : "\"1\"")
  }

  @Test(arguments: [false, true], [false, true])
  func `a restart after a kill at the rename replaces the file that has the name`(
    isRenamed: Bool,
    isReconciled: Bool
  ) async throws {
    try await leaveRename(isRenamed: isRenamed)
    try fixture.store.apply(.restart, to: .all)
    if isReconciled { try await fixture.engine().reconcile() }
    try await fixture.run()
    try expectComplete(new, tag: "\"2\"")
  }

  @Test(arguments: [false, true])
  func `a removal after such a restart deletes the file that has the name`(
    isRenamed: Bool
  ) async throws {
    try await leaveRename(isRenamed: isRenamed)
    try fixture.store.apply(.restart, to: .all)
    try fixture.store.apply(.remove(withFile: true), to: .all)
    try await fixture.run()
    #expect(try fixture.store.records().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == [])
  }
}
