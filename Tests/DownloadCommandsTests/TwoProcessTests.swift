import CommandTestSupport
import DownloadStore
import DownloadSync
import DownloadURLSession
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands
@testable import ObjectStoreCore

/// An engine in one process, and commands in another.
@Suite(.timeLimit(.minutes(10)))
struct TwoProcessTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 12_000_000, seed: 21)

  init() throws {
    fixture = try ToolFixture()
  }

  /// Routes a file whose transfers stall after a megabyte, so that they run until a command ends them,
  /// however busy this machine is.
  private func stalling(_ path: String) {
    server.route(path, Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast))
  }

  private func fast(_ path: String) {
    server.route(path, Resource(body))
  }

  @Test func `a running download is paused, resumed and completed from another process`()
    async throws
  {
    stalling("/a")
    _ = try await dlstore("add", server.url("/a"))
    try await running("--connections", "1") { engine in
      try await engine.message("started a")
      try await waitUntil { try record("/a").received > 100_000 }
      #expect(try await dlstore("pause", server.url("/a")).status == 0)
      try await engine.message("stopped a: another command paused it")
      #expect(try record("/a").state == .paused)
      let kept = try record("/a").received
      fast("/a")
      #expect(try await dlstore("resume", server.url("/a")).status == 0)
      try await engine.message("completed \(folder.path("store/files/a"))")
      let last = try #require(server.requests.last)
      #expect(last["Range"] == "bytes=\(try max(kept, from(last)))-")
      #expect(try from(last) >= kept)
    }
    #expect(body.matches(file: folder.path("store/files/a")))
  }

  private func from(_ request: Request) throws -> Int64 {
    try #require(Int64(request["Range"]?.dropFirst("bytes=".count).dropLast() ?? ""))
  }

  @Test func `resume --now preempts the longest-running download, which is then held`() async throws
  {
    for path in ["/a", "/b"] { stalling(path) }
    fast("/c")
    _ = try await dlstore("add", server.url("/a"))
    _ = try await dlstore("add", server.url("/b"))
    try await running("--max-concurrent", "2", "--connections", "1") { engine in
      try await engine.message("started a")
      try await engine.message("started b")
      _ = try await dlstore("add", server.url("/c"))
      #expect(try await dlstore("resume", "--now", server.url("/c")).status == 0)
      try await engine.message("completed \(folder.path("store/files/c"))")
      let resume = "'dlstore resume \(try record("/a").id)'"
      try await engine.message(
        "stopped a for another download ('resume --now'); \(resume) continues it"
      )
      #expect(try record("/a").isHeld && record("/a").state == .waiting)
      #expect(try record("/b").state == .running)
      let inspected = try await dlstore("inspect", server.url("/a"))
      #expect(inspected.output.contains("of another download stopped it"))
      fast("/a")
      #expect(try await dlstore("resume", server.url("/a")).status == 0)
      try await engine.message("completed \(folder.path("store/files/a"))")
    }
    #expect(body.matches(file: folder.path("store/files/a")))
  }

  @Test func `set --url makes a running engine continue from the new URL`() async throws {
    var expired = Resource(
      body,
      faults: .resetAfter(bytes: 4_000_000),
      .status(403),
      then: .repeatLast
    )
    // A client that was slow would lose its bytes.
    let gate = Gate()
    expired.endGate = gate
    server.route("/a", expired)
    fast("/new")
    _ = try await dlstore("add", server.url("/a"))
    try await running("--connections", "1") { engine in
      try await waitUntil { try record("/a").received > 0 }
      gate.open()
      try await engine.message("the link may have expired")
      let failed = try record("/a")
      #expect(failed.received > 0)
      let result = try await dlstore("set", server.url("/a"), "--url", server.url("/new"))
      #expect(result.status == 0)
      try await engine.message("completed \(folder.path("store/files/a"))")
      #expect(try record("/new").id == failed.id)
      #expect(server.requests.last?["Range"] == "bytes=\(failed.received)-")
    }
    #expect(body.matches(file: folder.path("store/files/a")))
  }

  @Test func `a removed or cancelled download of a running engine leaves no file behind`()
    async throws
  {
    for path in ["/a", "/b", "/c"] { stalling(path) }
    server.route("/done", Resource(.text("abc")))
    for path in ["/a", "/b", "/done"] { _ = try await dlstore("add", server.url(path)) }
    try await running("--connections", "1") { engine in
      for name in ["started a", "started b", "completed \(folder.path("store/files/done"))"] {
        try await engine.message(name)
      }
      let gone = [server.url("/a"), server.url("/done")]
      let removed = try await dlstore("remove", "--with-file", "--yes", gone[0], gone[1])
      #expect(removed.status == 0)
      // The engine has carried out the command when the process exits, unless that says otherwise.
      let records = try RecordStore(at: store, access: .readOnly)
      func urls() throws -> [String] { try records.records(DownloadRecord.all).map(\.url) }
      if isLeft(removed.messages) { try await waitUntil { try urls().count == 1 } }
      #expect(try urls() == [server.url("/b")])
      let cancelled = try await dlstore("cancel", server.url("/b"))
      #expect(cancelled.status == 0)
      func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("store/files"))
      }
      if isLeft(cancelled.messages) {
        try await waitUntil { try record("/b").state == .cancelled && files().isEmpty }
      }
      #expect(try record("/b").state == .cancelled)
      #expect(try files() == [])
    }
  }

  /// Whether a command has waited two seconds in vain for an engine to delete files.
  private func isLeft(_ messages: String) -> Bool { messages.contains("are not deleted yet") }

  // The engine runs in a process in which a store is polled once in ten hours.
  @Test(.requirements("FK6"))
  func `an engine notices the commands of another process without polling`() async throws {
    let count = 20
    for number in 0..<count { server.route("/\(number)", Resource(.text("x"))) }
    let records = try RecordStore(at: store)
    async let engine: Void = {
      await #expect(processExitsWith: .success) { [path = store as String, count = count as Int] in
        ChangeWatcher.pollInterval.withLock { $0 = 36_000 }
        let engine = try DownloadEngine(
          store: RecordStore(at: path),
          transport: URLSessionTransport()
        )
        let events = engine.events()
        async let summary = engine.run(until: .stopped)
        var completed = 0
        for await event in events {
          if case .completed = event { completed += 1 }
          if completed == count { engine.stop() }
        }
        #expect(try await summary.completed == count)
      }
    }()
    for number in 0..<count {
      try await records.add([DownloadRequest(url: server.url("/\(number)"))])
      // The engine is idle then.
      try await waitUntil { try record("/\(number)").state == .completed }
    }
    await engine
  }
}
