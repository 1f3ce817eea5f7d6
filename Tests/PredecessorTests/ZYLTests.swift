import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import TestSupport
import TestTraits
import Testing

/// Requirements of ZYLDownloader for records, files and the queue.
@Suite(.timeLimit(.minutes(10)))
struct ZYLTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  @Test(.requirements("ZY6", "SC6"))
  func `partial file names have a fixed length and contain no path separator`() throws {
    let urls = [
      fixture.url("a"), fixture.url("a/b/c?d=/e"),
      fixture.url(String(repeating: "x", count: 9_000)),
    ]
    let names = try store.addNow(urls.map(DownloadRequest.init)).map { added in
      let layout = try store.roots().layout(of: added.record)
      #expect(added.record.filename.utf8.count <= 255)
      #expect(layout.partialPath.hasPrefix(layout.folderPath + "/"))
      return String(layout.partialPath.dropFirst(layout.folderPath.count + 1))
    }
    #expect(Set(names).count == 3)
    #expect(Set(names.map(\.utf8.count)) == [33 + PartialName.suffix.utf8.count])
    #expect(!names.contains { $0.contains("/") })
  }

  /// Returns the file status and the local path of a record.
  private func answer(_ name: String) throws -> (FileStatus, String?) {
    let record = try fixture.record(name)
    let facts = FileInspection(of: record, in: try store.roots().layout(of: record))
    return (FileStatus(of: record, files: facts), try store.localPath(of: record))
  }

  @Test(.requirements("ZY11", "ZY12", "ZY13", "ZY14"))
  func `only a complete file that exists has a local path`() throws {
    try fixture.add("a")
    #expect(try answer("a") == (.absent, nil))
    try fixture.change("a", partial: 40) { record in
      record.received = 40
      record.expected = 100
    }
    #expect(try answer("a") == (.partial, nil))
    let layout = try fixture.layout("a")
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") { record in
      record.state = .completed
      record.received = 40
      record.expected = 40
      record.fileIdentity = fileIdentity
    }
    #expect(try answer("a") == (.present, layout.finalPath))
    // The folder moves with its root, and the path follows.
    let moved = fixture.folder.path("moved")
    try FileManager.default.moveItem(atPath: layout.rootPath, toPath: moved)
    try store.setRoot(moved)
    #expect(try answer("a") == (.present, "\(moved)/a"))
    try FileManager.default.removeItem(atPath: "\(moved)/a")
    #expect(try answer("a") == (.missing, nil))
    #expect(try fixture.record("a").state == .completed)
  }

  @Test(.requirements("ZY15")) func `an engine returns the records in every state`() async throws {
    let states = DownloadState.allCases.filter { $0 != .removed }
    for state in states {
      try fixture.add(state.rawValue)
      try fixture.change(state.rawValue) { $0.state = state }
    }
    let engine = try fixture.engine()
    #expect(try engine.store.records().map(\.filename).sorted() == states.map(\.rawValue).sorted())
  }

  @Test(.requirements("ZY26", "ZY27"))
  func `removing a running download frees its slot and ends its events`() async throws {
    try fixture.add("a", "b")
    let engine = try fixture.engine(1)
    let events = engine.handle(forURL: fixture.url("a")).events()
    try await fixture.running(engine) {
      try await fixture.started(1)
      let task = fixture.transport.started[0]
      task.receive([1, 2, 3], of: 100)
      try await engine.store.remove(.matching(fixture.url("a")))
      try await waitUntil("a to end") { !fixture.transport.cancelled.isEmpty }
      _ = task.sink.receive([UInt8](repeating: 4, count: 50).span)
      task.sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.url == fixture.url("b"))
      try await waitUntil("a to be deleted") { (try? fixture.record("a")) == nil }
    }
    let words = await events.reduce(into: [String]()) { $0.append($1.word) }
    #expect(words == ["started", "released"])
  }

  @Test(.requirements("ZY28"), arguments: [nil, [], [1, 2, 3]] as [[UInt8]?])
  func `removing a download deletes its partial file whatever its resume data`(
    blob: [UInt8]?
  ) async throws {
    try fixture.add("a")
    try fixture.change("a", partial: 40) { record in
      record.state = .running
      record.received = 40
      record.resumeData = blob.map { Data($0) }
    }
    let partial = try fixture.layout("a").partialPath
    try store.apply(.remove(withFile: false), to: .matching(fixture.url("a")))
    _ = try await fixture.engine().reconcileRecords()
    #expect(!FileManager.default.fileExists(atPath: partial))
    #expect(throws: RecordStoreError.self) { try fixture.record("a") }
  }

  @Test(.requirements("ZY29"))
  func `removing all downloads deletes their records, partial files and finished files`()
    async throws
  {
    try fixture.add("done", "paused", "waiting", "failed")
    try fixture.change("done", partial: 3) { _ in }
    let layout = try fixture.layout("done")
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("done") { record in
      record.state = .completed
      record.fileIdentity = fileIdentity
    }
    try fixture.change("paused", partial: 40) { $0.state = .paused }
    try fixture.change("failed", partial: 40) { $0.state = .failedPermanent }
    try store.apply(.remove(withFile: true), to: .all)
    let engine = try fixture.engine()
    _ = try await engine.reconcileRecords()
    #expect(try engine.store.records().isEmpty)
    #expect(try fixture.folder.names(in: "store/files") == [])
  }

  @Test(.requirements("ZY36", "SC11"))
  func `a launch without a network keeps the bytes and the resume data`() async throws {
    try fixture.add("a")
    let blob = try resumeData(of: "a")
    try fixture.change("a", partial: 40) { record in
      record.state = .running
      record.received = 40
      record.expected = 100
      record.entityTag = "\"1\""
      record.resumeData = blob
    }
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let task = fixture.transport.started[0]
      #expect(task.request.offset == 40)
      task.sink.finish(.failed(DownloadFailure(.cannotFindHost, "offline")))
      try await waitUntil("the failure") { try !fixture.record("a").attempts.isEmpty }
      let record = try fixture.record("a")
      #expect(record.received == 40)
      #expect(record.entityTag == "\"1\"")
      #expect(record.attempts.map(\.failure.code) == [.cannotFindHost])
    }
    #expect(try fixture.record("a").received == 40)
    #expect(try fixture.record("a").resumeData == blob)
    #expect(FileIdentity(ofFileAt: try fixture.layout("a").partialPath)?.size == 40)
  }

  @Test(.requirements("ZY37"))
  func `resuming starts a download with no bytes and leaves a complete one unchanged`() async throws
  {
    try fixture.add("a")
    try fixture.store.apply(.pause, to: .all)
    let engine = try fixture.engineWithLateRetries()
    try await fixture.running(engine) {
      try await fixture.settle()
      #expect(fixture.transport.started.isEmpty)
      try await engine.store.resume(.matching(fixture.url("a")))
      try await fixture.started(1)
      #expect(fixture.transport.started[0].request.offset == 0)
      // Resuming a running download starts nothing.
      try await engine.store.resume(.matching(fixture.url("a")))
      // Without a network, the resume is stored and nothing is lost.
      fixture.transport.started[0].sink.finish(
        .failed(DownloadFailure(.cannotFindHost, "offline"))
      )
      try await fixture.reached(.failedRetryable, "a")
      try await engine.store.resume(.matching(fixture.url("a")), immediately: true)
      try await fixture.started(2)
      fixture.transport.started[1].complete()
      try await fixture.reached(.completed, "a")
      let complete = try fixture.record("a")
      for immediately in [false, true] {
        let outcome = try await engine.store.resume(
          .matching(fixture.url("a")),
          immediately: immediately
        )
        #expect(outcome.map(\.isDone) == [false])
      }
      try await engine.store.pause(.matching(fixture.url("a")))
      try await fixture.settle()
      #expect(try fixture.record("a") == complete)
    }
    #expect(fixture.transport.started.count == 2)
  }

  @Test(.requirements("ZY38", "ZY63", "FK14"))
  func `a preempted download resumes from its bytes when a slot is free`() async throws {
    try fixture.add("a")
    let engine = try fixture.engine(1)
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([UInt8](repeating: 7, count: 40), of: 100)
      try fixture.add("b")
      try await engine.store.resume(.matching(fixture.url("b")), immediately: true)
      try await waitUntil("a to end") { !fixture.transport.cancelled.isEmpty }
      fixture.transport.started[0].sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.url == fixture.url("b"))
      // Resuming does not exceed the limit.
      try await engine.store.resume(.matching(fixture.url("a")))
      try await fixture.settle()
      #expect(fixture.transport.started.count == 2)
      #expect(try fixture.record("a").state == .waiting)
      fixture.transport.started[1].complete()
      try await fixture.started(3)
      let request = fixture.transport.started[2].request
      #expect(request.url == fixture.url("a"))
      #expect(request.offset == 40)
      #expect(request.validator == "\"1\"")
    }
  }

  @Test(.requirements("ZY57", "SC15"))
  func `completion leaves the finished file, and no partial file or resume data`() async throws {
    try fixture.add("a")
    let blob = try resumeData(of: "a")
    try fixture.change("a") { $0.resumeData = blob }
    let engine = try fixture.engine()
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    fixture.transport.started[0].complete()
    #expect(try await summary == RunSummary(completed: 1))
    let record = try fixture.record("a")
    #expect(record.state == .completed)
    #expect(record.received == 3 && record.expected == 3)
    #expect(record.resumeData == nil)
    #expect(try fixture.folder.names(in: "store/files") == ["a"])
  }

  @Test(.requirements("ZY68")) func `a task that the system delays is not cancelled`() async throws
  {
    try fixture.add("a", "b", "c")
    let engine = try fixture.engine(3)
    try await fixture.running(engine) {
      try await fixture.started(3)
      // Only the last task makes progress; the system delays the others.
      fixture.transport.started[2].complete()
      try await waitUntil("one to end") { await engine.currentProgress().count == 2 }
      try await fixture.settle()
      #expect(fixture.transport.cancelled.isEmpty)
      for task in fixture.transport.started[..<2] { task.complete() }
      for name in ["a", "b", "c"] { try await fixture.reached(.completed, name) }
    }
    #expect(try ["a", "b", "c"].allSatisfy { try fixture.record($0).attempts.isEmpty })
    #expect(fixture.transport.started.count == 3)
  }

  private var store: RecordStore { fixture.store }

  /// Returns resume data that a session on another system has written.
  private func resumeData(of name: String) throws -> Data {
    let draft = URLSessionResumeData.Draft(
      url: fixture.url(name),
      received: 1,
      file: .temporaryName("CFNetworkDownload_aaaaaa.tmp")
    )
    return Data(try URLSessionResumeData(draft, form: .xml).bytes)
  }
}
