import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// States, commands and the queue of an engine, with tasks that the test controls.
@Suite(.timeLimit(.minutes(10)))
struct EngineCommandTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  // MARK: States

  @Test(.requirements("ZY7", "FK11"))
  func `another process reads each state that the engine stores`() async throws {
    let other = try RecordStore(at: fixture.store.path)
    func state(_ name: String) throws -> DownloadState {
      try other.record(matching: fixture.url(name)).state
    }
    try fixture.add("a", "b")
    #expect(try state("a") == .waiting)
    try await fixture.running(try fixture.engine(1)) {
      try await fixture.started(1)
      #expect(try state("a") == .running && state("b") == .waiting)
      try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
      try await fixture.endCancelled("a")
      try await fixture.reached(.paused, "a")
      #expect(try state("a") == .paused)
      try await fixture.started(2)
      try fixture.task("b").sink.finish(.failed(DownloadFailure(.insecure, "no")))
      try await fixture.reached(.failedPermanent, "b")
      try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
      try await fixture.started(3)
      try fixture.task("a").complete()
      try await fixture.reached(.completed, "a")
      try fixture.store.apply(.cancel, to: .matching(fixture.url("b")))
      try await fixture.reached(.cancelled, "b")
      try fixture.store.apply(.remove(withFile: false), to: .matching(fixture.url("b")))
      try await waitUntil("b to be deleted") { (try? fixture.record("b")) == nil }
      #expect(try other.records(DownloadRecord.all).map(\.state) == [.completed])
    }
  }

  @Test(.requirements("MO1"))
  func `a download starts, pauses, resumes, reports isDownloading and calls back`() async throws {
    let engine = try fixture.engine()
    let seen = Mutex<[DownloadProgress]>([])
    let (ends, end) = AsyncStream<Result<FinishedDownload, any Error>>.makeStream()
    try await fixture.running(engine) {
      let handle = try await engine.download(DownloadRequest(url: fixture.url("a")))
      #expect(handle.url == fixture.url("a"))
      engine.follow(
        handle,
        every: .milliseconds(1),
        progress: { progress in seen.withLock { $0.append(progress) } },
        end: { result in
          end.yield(result)
          end.finish()
        }
      )
      try await fixture.started(1)
      #expect(try fixture.record("a").state.isDownloading)
      try fixture.task("a").receive([1], of: 3)
      try await waitUntil("progress") { seen.withLock { $0.contains { $0.received == 1 } } }
      try await engine.store.pause(.matching(handle.url))
      try await fixture.endCancelled("a")
      try await fixture.reached(.paused, "a")
      #expect(try !fixture.record("a").state.isDownloading)
      try await engine.store.resume(.matching(handle.url))
      try await fixture.started(2)
      #expect(try fixture.record("a").state.isDownloading)
      try fixture.task("a").sink.finish(.failed(DownloadFailure(.insecure, "no")))
      for await result in ends {
        #expect(throws: DownloadFailure.self) { try result.get() }
      }
    }
  }

  // MARK: Selections

  @Test(.requirements("FK12"))
  func `restarting a cancelled or failed download begins at the first byte`() async throws {
    try fixture.add("cancelled", "failed")
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(2)
      try fixture.task("failed").receive([9, 9], of: 3)
      try fixture.task("failed").sink.finish(.failed(DownloadFailure(.insecure, "no")))
      try await fixture.reached(.failedPermanent, "failed")
      try fixture.store.apply(.cancel, to: .matching(fixture.url("cancelled")))
      try await fixture.endCancelled("cancelled")
      try await fixture.reached(.cancelled, "cancelled")
      try fixture.store.apply(.restart, to: .all)
      try await fixture.started(4)
      for name in ["cancelled", "failed"] {
        #expect(try fixture.task(name).request.offset == 0)
        try fixture.task(name).complete()
        try await fixture.reached(.completed, name)
        let file = try Data(contentsOf: URL(filePath: fixture.layout(name).finalPath))
        #expect(Array(file) == [1, 2, 3])
      }
    }
  }

  @Test(.requirements("FK16", "MO5"))
  func `one download, a tag or all downloads are paused, resumed and cancelled while running`()
    async throws
  {
    for name in ["a", "b", "c"] {
      var request = DownloadRequest(url: fixture.url(name))
      request.tags = name == "c" ? [] : ["set"]
      try fixture.store.addNow([request])
    }
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(3)
      try await engine.store.pause(.tagged("set"))
      for name in ["a", "b"] {
        try await fixture.endCancelled(name)
        try await fixture.reached(.paused, name)
      }
      #expect(try fixture.record("c").state == .running)
      try await engine.store.resume(.matching(fixture.url("a")))
      try await fixture.started(4)
      #expect(fixture.startedNames.last == "a")
      #expect(try fixture.record("b").state == .paused)
      try await engine.store.pause(.all)
      for name in ["a", "c"] {
        try await fixture.endCancelled(name)
        try await fixture.reached(.paused, name)
      }
      try await engine.store.resume(.all)
      try await fixture.started(7)
      #expect(Set(fixture.startedNames.suffix(3)) == ["a", "b", "c"])
      try await engine.store.cancel(.all)
      for name in ["a", "b", "c"] {
        try await fixture.endCancelled(name)
        try await fixture.reached(.cancelled, name)
        #expect(FileIdentity(ofFileAt: try fixture.layout(name).partialPath) == nil)
      }
      async let file = engine.download(DownloadRequest(url: fixture.url("d"))).value()
      try await fixture.started(8)
      try fixture.task("d").complete()
      #expect(try await file.filePath == fixture.layout("d").finalPath)
      #expect(try engine.store.records().count == 4)
    }
  }

  // MARK: The queue

  @Test(.requirements("ZY59"))
  func `free slots are filled immediately, in order, and no download starts twice`() async throws {
    try await fixture.running(try fixture.engine(2)) {
      for name in ["a", "b", "c", "d", "e"] { try fixture.add(name) }
      try await fixture.started(2)
      #expect(Set(fixture.startedNames) == ["a", "b"])
      // Adding a waiting or running URL again adds no download.
      try fixture.add("a", "c")
      try await fixture.settle()
      #expect(fixture.transport.started.count == 2)
      for (count, name) in ["a", "b", "c", "d", "e"].enumerated() {
        try await waitUntil("\(name) to start") { fixture.startedNames.contains(name) }
        try fixture.task(name).complete()
        try await fixture.reached(.completed, name)
        try await fixture.started(min(5, count + 3))
      }
      #expect(fixture.startedNames.dropFirst(2) == ["c", "d", "e"])
      #expect(fixture.startedNames.count == 5)
    }
  }

  @Test(.requirements("ZY24", "ZY66"))
  func `completed, paused and removed downloads leave the queue and do not start`() async throws {
    try await fixture.running(try fixture.engine(1)) {
      try fixture.add("first")
      try await fixture.started(1)
      try fixture.add("held", "removed", "last")
      try fixture.store.apply(.pause, to: .matching(fixture.url("held")))
      try fixture.store.apply(.remove(withFile: false), to: .matching(fixture.url("removed")))
      try await fixture.reached(.paused, "held")
      try await waitUntil("the record to be deleted") { (try? fixture.record("removed")) == nil }
      #expect(fixture.startedNames == ["first"])
      try fixture.task("first").complete()
      try await fixture.started(2)
      #expect(fixture.startedNames == ["first", "last"])
      // A paused unfinished download waits again after a resume.
      try fixture.store.apply(.pause, to: .matching(fixture.url("last")))
      try await fixture.endCancelled("last")
      try await fixture.reached(.paused, "last")
      try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("last")))
      try await fixture.started(3)
      try fixture.task("last").complete()
      try await fixture.reached(.completed, "last")
      try await fixture.settle()
      #expect(fixture.startedNames == ["first", "last", "last"])
    }
  }
}
