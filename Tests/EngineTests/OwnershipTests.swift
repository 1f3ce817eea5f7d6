import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestTraits
import Testing

/// Files, engines and record changes of other owners.
@Suite(.timeLimit(.minutes(10)))
struct OwnershipTests {
  @Test func `a file that appears under the final name during the download is not replaced`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a.txt", Resource(.text("ours")))
    try fixture.add("/a.txt")
    let path = fixture.file("a.txt")
    try FileManager.default.createDirectory(
      atPath: fixture.file(""),
      withIntermediateDirectories: true
    )
    try Data("theirs".utf8).write(to: URL(filePath: path))
    try await fixture.run()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
    let record = try fixture.record("/a.txt")
    #expect(record.filename == "a (2).txt")
    #expect(try String(contentsOfFile: fixture.file("a (2).txt"), encoding: .utf8) == "ours")
  }

  /// Adds a download that is to replace a file of the user, and returns the path of both.
  private func addReplacing(in fixture: EngineFixture) throws -> String {
    let path = fixture.file("a")
    try FileManager.default.createDirectory(
      atPath: fixture.file(""),
      withIntermediateDirectories: true
    )
    try Data("theirs".utf8).write(to: URL(filePath: path))
    try fixture.add("/a") { $0.collision = .replace }
    return path
  }

  @Test(arguments: [false, true])
  func `a removal after a kill at the rename deletes the new file, and not the user's`(
    isRenamed: Bool
  ) async throws {
    let fixture = try EngineFixture()
    let path = try addReplacing(in: fixture)
    var record = try fixture.record("/a")
    let partial = try fixture.store.roots().layout(of: record).partialPath
    try Data("ours".utf8).write(to: URL(filePath: partial))
    let complete = try #require(FileIdentity(ofFileAt: partial))
    try record.apply(.fileComplete(.init(complete)), at: Date())
    try fixture.store.objects.writeNow { tx in try tx.upsert(record) }
    if isRenamed {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: partial, toPath: path)
    }
    try fixture.store.apply(.remove(withFile: true), to: .all)
    try await fixture.engine().reconcile()
    #expect(try fixture.store.records().isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.file(""))
    #expect(names == (isRenamed ? [] : ["a"]))
    if !isRenamed { #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs") }
  }

  @Test(arguments: [false, true])
  func `a new name or a removal after a refused rename leaves the user's file`(
    changesName: Bool
  ) async throws {
    let fixture = try EngineFixture()
    let path = try addReplacing(in: fixture)
    fixture.server.route("/a", Resource(.text("ours")))
    let hook = EffectHook { effect in
      if case .rename = effect { EACCES } else { nil }
    }
    let engine = try fixture.engine(environment: .live(hook)) { options in
      options.retry = RetryPolicy(maximumAttempts: 1)
    }
    #expect(try await engine.run(until: .idle) == RunSummary(failed: 1))
    if changesName {
      var update = RecordUpdate()
      update.filename = "b"
      _ = try fixture.store.updateNow(matching: fixture.server.url("/a"), with: update)
    } else {
      try fixture.store.apply(.remove(withFile: true), to: .all)
      _ = try await fixture.run()
      #expect(try fixture.store.records().isEmpty)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
  }

  @Test(.requirements("ZF1"))
  func `a second engine on the same store is refused with the first one's process id`() throws {
    let fixture = try EngineFixture()
    let first = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    let error = #expect(throws: EngineError.self) {
      _ = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    }
    #expect(error?.code == .alreadyRunning)
    #expect(error?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
    withExtendedLifetime(first) {}
  }

  @Test func `a second engine is refused after the lock file was deleted`() async throws {
    let fixture = try EngineFixture()
    let first = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    try FileManager.default.removeItem(atPath: fixture.store.path + "/engine.lock")
    let error = #expect(throws: EngineError.self) {
      _ = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    }
    #expect(error?.code == .alreadyRunning)
    _ = try await first.run(until: .idle)
    _ = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
  }

  /// As in a container whose user is root, with a mounted folder of another user.
  @Test(.enabled(if: geteuid() == 0, "changing the owner of a file needs root"))
  func `what root downloads belongs to the owner of the folder, who can continue it`() async throws
  {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 3)
    fixture.server.route("/a", Resource(body, faults: .closeAfter(bytes: 1_200_000)))
    try fixture.add("/a") { $0.folder = "in/deep" }
    let owner: uid_t = 65_533
    #expect(unsafe chown(fixture.store.path, owner, owner) == 0)
    try await fixture.run()
    // The second attempt has opened a file that is not root's.
    let file = fixture.file("in/deep/a")
    #expect(body.matches(file: file))
    #expect(fixture.server.requests.count > 1)
    for path in [file, fixture.file("in/deep"), fixture.file("in"), fixture.file("")] {
      var status = stat()
      #expect(lstat(path, &status) == 0 && status.st_uid == owner, "\(path)")
      #expect(status.st_gid == owner)
    }
    // A file of a third user is not continued.
    let partial = try fixture.store.roots().layout(of: fixture.record("/a")).partialPath
    try Data("x".utf8).write(to: URL(filePath: partial))
    #expect(unsafe chown(partial, 65_532, 65_532) == 0)
    #expect(throws: LockedFile.Refusal.notOurs(.otherOwner)) {
      _ = try LockedFile(partial, for: .writing)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "changing the owner of a file needs root"), arguments: [0, 1])
  func `a newer version that root downloads has the owner of the file that it replaces`(
    keeping versions: Int32
  ) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("old"), etag: "\"1\""))
    try fixture.add("/a") { if versions > 0 { $0.keepVersions = versions } }
    try await fixture.run()
    let path = fixture.file("a")
    #expect(unsafe chown(path, 65_533, 65_532) == 0)
    fixture.server.route("/a", Resource(.text("newer"), etag: "\"2\""))
    try await fixture.store.refresh(.all)
    try await fixture.run()
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_uid == 65_533 && status.st_gid == 65_532)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "newer")
    #expect(try fixture.record("/a").fileIdentity == FileIdentity(ofFileAt: path))
  }

  @Test func `an engine that has run is not run again, because it has released the lock`()
    async throws
  {
    let fixture = try EngineFixture()
    let engine = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    _ = try await engine.run(until: .idle)
    let error = await #expect(throws: EngineError.self) { try await engine.run(until: .idle) }
    #expect(error?.code == .stopped)
    let reconciled = await #expect(throws: EngineError.self) { try await engine.reconcile() }
    #expect(reconciled?.code == .stopped)
  }

  @Test func `a record added while the engine runs is downloaded`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("a")))
    let engine = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    let events = engine.events()
    let run = Task { try await engine.run(until: .stopped) }
    try fixture.add("/a")
    for await event in events {
      if case .completed(let record) = event, record.url == fixture.server.url("/a") {
        engine.stop()
      }
    }
    #expect(try await run.value.completed == 1)
  }

  @Test func `a record purged during its download leaves no file behind`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 3)
    fixture.server.route(
      "/a",
      Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast)
    )
    try fixture.add("/a")
    let engine = try DownloadEngine(store: fixture.store, transport: TransportUnderTest.make())
    let events = engine.events()
    let run = Task { try await engine.run(until: .stopped) }
    for await event in events {
      switch event {
      case .started:
        // Purge the transfer that has just started.
        let record = try fixture.record("/a")
        try fixture.store.purge(try fixture.store.purgePlan([record], withFiles: true))
      case .released:
        engine.stop()
      default:
        break
      }
    }
    _ = try await run.value
    #expect(throws: RecordStoreError.self) { try fixture.record("/a") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == [])
  }

  @Test(.requirements("ZY69"))
  func `stopping the engine keeps the received bytes, and the next run resumes there`() async throws
  {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 4)
    fixture.server.route("/a", Resource(body, faults: .stallAfter(bytes: 1_000_000)))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .stopped) }
    while await engine.currentProgress().first.map({ $0.received < 500_000 }) ?? true {
      try await Task.sleep(for: .milliseconds(1))
    }
    engine.stop()
    _ = try await run.value
    let stopped = try fixture.record("/a")
    #expect(stopped.state == .waiting)
    #expect(stopped.received >= 500_000)
    fixture.server.route("/a", Resource(body))
    try await fixture.run()
    #expect(fixture.ranges("/a") == [nil, "bytes=\(stopped.received)-"])
    #expect(body.matches(file: fixture.file("a")))
  }
}
