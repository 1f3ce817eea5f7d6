import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Partial files of other stores, other processes or unknown origin in the engine's folder.
@Suite(.timeLimit(.minutes(10)))
struct PartialFileOwnershipTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func `two stores download the same URL into one folder without sharing bytes`() async throws
  {
    let folder = try TemporaryFolder()
    let url = "https://example.com/x"
    let fixtures = try [ManualFixture(), ManualFixture()]
    var engines: [DownloadEngine] = []
    for fixture in fixtures {
      try fixture.store.setRoot(folder.path("shared"))
      try fixture.store.addNow([DownloadRequest(url: url)])
      engines.append(try fixture.engine())
    }
    try await fixtures[0].running(engines[0]) {
      try await fixtures[1].running(engines[1]) {
        for fixture in fixtures { try await fixture.started(1) }
        let tasks = fixtures.map { $0.transport.started[0] }
        tasks[0].receive(Array("one".utf8), of: 6)
        tasks[1].receive(Array("two".utf8), of: 6)
        _ = tasks[0].sink.receive(Array("ONE".utf8).span)
        _ = tasks[1].sink.receive(Array("TWO".utf8).span)
        for (fixture, task) in zip(fixtures, tasks) {
          task.sink.finish(.completed)
          try await fixture.reached(.completed, "x")
        }
      }
    }
    let files = try fixtures.map { fixture in
      try text(try #require(try fixture.store.localPath(of: try fixture.record("x"))))
    }
    #expect(files == ["oneONE", "twoTWO"])
  }

  @Test func `a download whose partial file is in use is retried`() async throws {
    let fixture = try ManualFixture()
    try fixture.add("a")
    try fixture.change("a", partial: 5) { record in
      record.received = 5
      record.entityTag = "\"1\""
    }
    var options = EngineOptions()
    // The engine tries again until the test unlocks the file, however late that is.
    options.retry = RetryPolicy(maximumAttempts: .max, base: .milliseconds(1), cap: .seconds(1))
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options
    )
    let lock = try LockedFile(try fixture.layout("a").partialPath, for: .writing)
    let events = engine.handle(forURL: fixture.url("a")).events()
    try await fixture.running(engine) {
      let retry = await events.first { if case .retrying = $0 { true } else { false } }
      guard case .retrying(_, let failure, _) = retry else {
        Issue.record("no retry")
        return
      }
      #expect(failure.code == .fileInUse)
      #expect(failure.message.contains("another process is using it"))
      lock.unlock()
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 5)
    }
  }

  @Test func `a child process that is just being started does not keep a partial file in use`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("part", "abc")
    let copies: DescriptorCopies
    do {
      let file = try LockedFile(path, for: .writing)
      copies = DescriptorCopies(ofFileAt: path)
      #expect(copies.count == 1)
      withExtendedLifetime(file) {}
    }
    _ = try LockedFile(path, for: .writing)
    withExtendedLifetime(copies) {}
  }

  @Test func `a removed download keeps its record while its partial file is in use`() async throws {
    let fixture = try ManualFixture()
    try fixture.add("a")
    try fixture.change("a", partial: 5) { $0.received = 5 }
    let path = try fixture.layout("a").partialPath
    try fixture.store.apply(.remove(withFile: false), to: .matching(fixture.url("a")))
    let lock = try LockedFile(path, for: .writing)
    let found = try await fixture.engine().reconcileRecords()
    #expect(found.map(\.isPartialInUse) == [true])
    #expect(try fixture.record("a").state == .removed)
    #expect(FileIdentity(ofFileAt: path)?.size == 5)
    lock.unlock()
    let again = try await fixture.engine().reconcileRecords()
    #expect(again.map(\.isPartialInUse) == [false])
    #expect(try fixture.store.records(DownloadRecord.all) == [])
    #expect(FileIdentity(ofFileAt: path) == nil)
  }

  @Test(arguments: [0, 5] as [Int64])
  func `a download begins with a new file if a link has the name of its partial file`(
    received: Int64
  ) async throws {
    let fixture = try ManualFixture()
    try fixture.add("a")
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { $0.received = received }
    let target = try fixture.folder.makeFile("target", "precious")
    try FileManager.default.removeItem(atPath: layout.partialPath)
    try FileManager.default.createSymbolicLink(
      atPath: layout.partialPath,
      withDestinationPath: target
    )
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let task = fixture.transport.started[0]
      #expect(task.request.offset == 0)
      task.receive(Array("new".utf8), of: 3)
      task.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
    #expect(try text(layout.finalPath) == "new")
    #expect(FileIdentity(ofFileAt: layout.finalPath)?.size == 3)
    #expect(try text(target) == "precious")
  }

  @Test func `a cancelled download leaves no link with the name of its partial file`()
    async throws
  {
    let fixture = try ManualFixture()
    try fixture.add("a")
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { $0.received = 5 }
    let target = try fixture.folder.makeFile("target", "precious")
    try FileManager.default.removeItem(atPath: layout.partialPath)
    try FileManager.default.createSymbolicLink(
      atPath: layout.partialPath,
      withDestinationPath: target
    )
    try fixture.store.apply(.cancel, to: .matching(fixture.url("a")))
    _ = try await fixture.engine().reconcileRecords()
    #expect(try fixture.record("a").state == .cancelled)
    #expect(throws: (any Error).self) {
      try FileManager.default.destinationOfSymbolicLink(atPath: layout.partialPath)
    }
    #expect(try text(target) == "precious")
  }

  /// A kill between the two steps of a rename leaves one file under both names.
  @Test func `restarting does not damage a finished file that still has its partial name`()
    async throws
  {
    let fixture = try ManualFixture()
    try fixture.add("a")
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { $0.received = 5 }
    try FileManager.default.linkItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = try #require(FileIdentity(ofFileAt: layout.finalPath))
    try fixture.change("a") { record in
      record.state = .finalizing
      record.expected = 5
      record.fileIdentity = fileIdentity
    }
    try fixture.store.apply(.restart, to: .matching(fixture.url("a")))
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([1], of: 3)
      #expect(FileIdentity(ofFileAt: layout.finalPath) == fileIdentity)
      _ = fixture.transport.started[0].sink.receive([2, 3].span)
      fixture.transport.started[0].sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
    #expect(try Data(contentsOf: URL(filePath: layout.finalPath)) == Data([1, 2, 3]))
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `reconciliation completes a finished file that still has its partial name`()
    async throws
  {
    let fixture = try ManualFixture()
    try fixture.add("a")
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 5) { $0.received = 5 }
    try FileManager.default.linkItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = try #require(FileIdentity(ofFileAt: layout.finalPath))
    try fixture.change("a") { record in
      record.state = .finalizing
      record.expected = 5
      record.fileIdentity = fileIdentity
    }
    _ = try await fixture.engine().reconcileRecords()
    #expect(try fixture.record("a").state == .completed)
    #expect(FileIdentity(ofFileAt: layout.finalPath) == fileIdentity)
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }
}
