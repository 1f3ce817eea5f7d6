import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// An engine in one process, and commands in another.
@Suite(.timeLimit(.minutes(10)))
struct TwoProcessTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer
  private let body = Body.generated(byteCount: 12_000_000, seed: 21)

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  /// Routes a file whose transfers stall after a megabyte, so that they run until a command ends them,
  /// however busy this machine is.
  private func stalling(_ path: String) {
    server.route(path, Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast))
  }

  private func fast(_ path: String) {
    server.route(path, Resource(body))
  }

  private func dlstore(
    _ arguments: String...
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    return (try await process.status(), process.output, process.messages)
  }

  private func records() throws -> RecordStore {
    try RecordStore(at: store, access: .readOnly)
  }

  private func record(_ path: String) throws -> DownloadRecord {
    try records().record(matching: server.url(path))
  }

  private func waitUntil(_ condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }

  /// Runs an engine in another process while `body` runs.
  private func running(
    _ options: String...,
    body: (DLStoreProcess) async throws -> Void
  ) async throws {
    let engine = try DLStoreProcess(["run"] + options, store: store, in: folder.path)
    do {
      try await body(engine)
    } catch {
      engine.send(SIGKILL)
      throw error
    }
    engine.send(SIGTERM)
    #expect(try await engine.status() == 0)
  }

  @Test func `a running download is paused, resumed and completed from another process`()
    async throws
  {
    stalling("/a")
    _ = try await dlstore("add", server.url("/a"))
    try await running { engine in
      try await engine.message("started a")
      try await waitUntil { try record("/a").received > 100_000 }
      #expect(try await dlstore("pause", server.url("/a")).status == 0)
      try await engine.message("stopped ")
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
    try await running("--max-concurrent", "2") { engine in
      try await engine.message("started a")
      try await engine.message("started b")
      _ = try await dlstore("add", server.url("/c"))
      #expect(try await dlstore("resume", "--now", server.url("/c")).status == 0)
      try await engine.message("completed \(folder.path("store/files/c"))")
      #expect(try record("/a").isHeld && record("/a").state == .waiting)
      #expect(try record("/b").state == .running)
      let inspected = try await dlstore("inspect", server.url("/a"))
      #expect(inspected.output.contains("resume it to continue"))
      fast("/a")
      #expect(try await dlstore("resume", server.url("/a")).status == 0)
      try await engine.message("completed \(folder.path("store/files/a"))")
    }
    #expect(body.matches(file: folder.path("store/files/a")))
  }

  @Test func `set --url makes a running engine continue from the new URL`() async throws {
    let expired = Resource(
      body,
      faults: .resetAfter(bytes: 4_000_000),
      .status(403),
      then: .repeatLast
    )
    server.route("/a", expired)
    fast("/new")
    _ = try await dlstore("add", server.url("/a"))
    try await running { engine in
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
    try await running { engine in
      for name in ["started a", "started b", "completed \(folder.path("store/files/done"))"] {
        try await engine.message(name)
      }
      let gone = [server.url("/a"), server.url("/done")]
      let removed = try DLStoreProcess(
        ["remove", "--with-file", "--yes"] + gone,
        store: store,
        in: folder.path
      )
      #expect(try await removed.status() == 0)
      // The engine has carried out the command when the process exits.
      #expect(try records().records(DownloadRecord.all).map(\.url) == [server.url("/b")])
      #expect(try await dlstore("cancel", server.url("/b")).status == 0)
      #expect(try record("/b").state == .cancelled)
      let files = try FileManager.default.contentsOfDirectory(
        atPath: folder.path("store/files")
      )
      #expect(files == [])
    }
  }

  /// With a poll once per second the median delay would be half a second.
  ///
  /// A busy machine may delay everything, so the median of one of five rounds suffices, and the limit
  /// grows with the time that a commit takes: before its request the engine commits, too.
  @Test(.requirements("FK6"))
  func `an engine notices another process's command immediately, without polling`() async throws {
    server.route("/first", Resource(.text("x")))
    _ = try await dlstore("add", server.url("/first"))
    try await running { engine in
      try await engine.message("completed \(folder.path("store/files/first"))")
      let store = try RecordStore(at: store)
      var rounds: [(delay: Duration, limit: Duration)] = []
      while rounds.count < 5, rounds.last.map({ $0.delay >= $0.limit }) ?? true {
        var delays: [Duration] = []
        var commits: [Duration] = []
        for number in 0..<21 {
          let sample = try await delay(of: "/n\(rounds.count)-\(number)", addedTo: store)
          delays.append(sample.delay)
          commits.append(sample.commit)
          // Avoid starting in step with the engine's clock.
          try await Task.sleep(for: .milliseconds(137))
        }
        let limit = .milliseconds(250) + commits.sorted()[10] * 4
        rounds.append((delays.sorted()[10], limit))
      }
      #expect(rounds.last.map { $0.delay < $0.limit } == true, "\(rounds)")
    }
  }

  /// Adds a download, and returns the time that this took and the time from then to its request.
  private func delay(
    of path: String,
    addedTo store: RecordStore
  ) async throws -> (commit: Duration, delay: Duration) {
    server.route(path, Resource(.text("x")))
    let begin = ContinuousClock.now
    try add(server.url(path), to: store)
    let start = ContinuousClock.now
    while !server.requests.contains(where: { $0.path == path }) {
      try await Task.sleep(for: .milliseconds(1))
    }
    return (begin.duration(to: start), start.duration(to: .now))
  }

  private func add(_ url: String, to store: RecordStore) throws {
    try store.addNow([DownloadRequest(url: url)])
  }
}
