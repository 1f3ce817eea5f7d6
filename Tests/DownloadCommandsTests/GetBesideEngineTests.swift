import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `get` while the engine of another process runs on the store.
@Suite(.timeLimit(.minutes(10)))
struct GetBesideEngineTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 3_000_000, seed: 33)

  init() throws {
    fixture = try ToolFixture()
  }

  /// The message of a `get` that becomes the engine, after the process of the previous one.
  private static let takeOver = ") has ended; this command continues the downloads\n"

  /// Routes a file whose transfer takes minutes, unless the gate is opened.
  private func gated(_ path: String) -> Gate {
    let gate = Gate()
    var resource = Resource(body)
    (resource.bytesPerSecond, resource.rateGate) = (10_000, gate)
    server.route(path, resource)
    return gate
  }

  /// Runs a service that has completed a download while `body` runs.
  private func serving(_ body: (DLStoreProcess) async throws -> Void) async throws {
    server.route("/first", Resource(.text("x")))
    #expect(try await dlstore("add", server.url("/first")).status == 0)
    try await running("--max-attempts", "1") { service in
      try await service.message("completed ")
      try await body(service)
    }
  }

  @Test func `get waits for the engine of a service, and ends with the results`() async throws {
    try await serving { service in
      // Not complete before the command looks at it.
      let gate = gated("/a")
      let get = try start("get", server.url("/a"), server.url("/none"))
      try await get.message("; it runs these downloads, and this command shows them (")
      gate.open()
      #expect(try await get.status() == 1)
      #expect(body.matches(file: folder.path("a")))
      #expect(!get.messages.contains("waiting for it"))
      #expect(get.messages.contains("completed \(folder.path("a")): 2.9 MiB"))
      #expect(get.messages.contains("failed none: the server has no such file (404 Not Found); "))
      #expect(get.messages.contains("2 downloads: 1 completed ("))
      let again = try start("get", server.url("/a"))
      #expect(try await again.status() == 0)
      #expect(again.messages.contains("already complete: "))
      #expect(!again.messages.contains("dlstore: completed "))
      // The engine of the service has fetched it; it may say so later.
      try await service.message("completed \(folder.path("a"))")
    }
  }

  @Test func `Ctrl-C ends the waiting and not the download`() async throws {
    try await serving { service in
      let gate = gated("/a")
      let get = try start("get", server.url("/a"))
      try await get.message("started a")
      get.send(SIGINT)
      #expect(try await get.status() == 130)
      #expect(get.messages.contains("stopped waiting; the other engine goes on"))
      gate.open()
      try await service.message("completed \(folder.path("a"))")
    }
    #expect(body.matches(file: folder.path("a")))
  }

  @Test func `a download that another command pauses ends the waiting`() async throws {
    try await serving { _ in
      _ = gated("/a")
      let get = try start("get", server.url("/a"))
      try await get.message("started a")
      let pause = try start("pause", server.url("/a"))
      #expect(try await pause.status() == 0)
      #expect(try await get.status() == 1)
      #expect(get.messages.contains("a was paused by another command; 'dlstore resume "))
    }
  }

  @Test(arguments: [false, true])
  func `a download that gets another URL, or is removed, ends the waiting with the reason`(
    beside hasService: Bool
  ) async throws {
    func test() async throws {
      let gates = [gated("/a"), gated("/b"), gated("/c")]
      let get = try start("get", "-q", server.url("/a"), server.url("/b"), server.url("/c"))
      try await waitUntil {
        ["/a", "/b", "/c"].allSatisfy { (try? record($0))?.state == .running }
      }
      let (id, url) = (try record("/a").id, server.url("/new"))
      #expect(try await dlstore("set", server.url("/a"), "--url", url).status == 0)
      #expect(try await dlstore("remove", "--yes", server.url("/b")).status == 0)
      #expect(try await dlstore("cancel", "--yes", server.url("/c")).status == 0)
      #expect(try await get.status() == 1)
      let (a, b) = (server.url("/a"), server.url("/b"))
      #expect(get.messages.contains("\(a) was given the URL \(url) by another command; "))
      #expect(get.messages.contains("\(b) was removed by another command"))
      #expect(get.messages.contains("c was cancelled by another command; 'dlstore restart "))
      #expect(try await dlstore("remove", "--yes", id).status == 0)
      for gate in gates { gate.open() }
    }
    guard hasService else { return try await test() }
    try await serving { _ in try await test() }
  }

  @Test func `after Ctrl-C the downloads that have not ended are counted`() async throws {
    _ = gated("/a")
    server.route("/b", Resource(body))
    let get = try start("get", server.url("/a"), server.url("/b"))
    try await get.message("completed \(folder.path("b"))")
    get.send(SIGINT)
    #expect(try await get.status() == 130)
    #expect(get.messages.contains("2 downloads: 1 completed ("), "\(get.messages)")
    #expect(get.messages.contains("0 failed, 1 not finished ("), "\(get.messages)")
  }

  @Test func `of two gets on one store one runs the downloads of both`() async throws {
    let gate = gated("/a")
    server.route("/b", Resource(body))
    let first = try start("get", server.url("/a"))
    try await first.message("started a")
    let second = try start("get", server.url("/b"))
    // The first one has its own download still to do.
    #expect(try await second.status() == 0)
    #expect(second.messages.contains("completed \(folder.path("b"))"))
    gate.open()
    #expect(try await first.status() == 0)
    for name in ["a", "b"] { #expect(body.matches(file: folder.path(name))) }
    #expect(!first.messages.contains("\(folder.path("b"))"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store).contains("waiters") == false)
  }

  @Test func `a get with a command of its own runs its download itself, after the other get`()
    async throws
  {
    let gate = gated("/a")
    server.route("/b", Resource(body))
    let first = try start("get", server.url("/a"))
    try await first.message("started a")
    let second = try start("get", "--on-complete", "touch \(folder.path("ran"))", server.url("/b"))
    try await second.message("waiting for it")
    gate.open()
    #expect(try await first.status() == 0)
    #expect(try await second.status() == 0)
    for name in ["a", "b"] { #expect(body.matches(file: folder.path(name))) }
    #expect(FileManager.default.fileExists(atPath: folder.path("ran")))
  }

  @Test func `a get says which of its options a running service does not apply`() async throws {
    server.route("/a", Resource(body))
    let service = try start("run")
    try await waitUntil { EngineLock.holderForAll(storePath: store) != nil }
    let get = try start(
      "get",
      "--on-complete",
      "true",
      "--proxy",
      "http://127.0.0.1:1",
      server.url("/a")
    )
    #expect(try await get.status() == 0)
    let message = "--proxy, --on-complete of this command do not apply"
    #expect(get.messages.contains(message), "\(get.messages)")
    service.send(SIGTERM)
    _ = try await service.status()
  }

  @Test func `the commands of a get do not run for the downloads of another one`() async throws {
    let gate = gated("/a")
    server.route("/b", Resource(body))
    let list = folder.path("ran")
    let first = try start(
      "get",
      "--on-complete",
      "echo \"$DLSTORE_PATH\" >> \(list)",
      server.url("/a")
    )
    try await first.message("started a")
    let second = try start("get", server.url("/b"))
    #expect(try await second.status() == 0)
    gate.open()
    #expect(try await first.status() == 0)
    #expect(try String(contentsOfFile: list, encoding: .utf8) == "\(folder.path("a"))\n")
    #expect(try record("/b").pendingHooks.isEmpty)
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `when the other engine ends, the waiting get takes its own download over, and says so`(
    signal: Int32
  ) async throws {
    try await serving { _ in }
    _ = gated("/a")
    let service = try start("run")
    let add = try start("add", server.url("/a"))
    #expect(try await add.status() == 0)
    try await service.message("started a")
    let get = try start("get", server.url("/a"))
    try await get.message("it runs these downloads")
    server.route("/a", Resource(body))
    service.send(signal)
    _ = try await service.status()
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(get.messages.contains(Self.takeOver), "\(get.messages)")
    #expect(body.matches(file: folder.path("store/files/a")))
  }

  @Test func `a get that becomes the engine says so before it starts a download`() async throws {
    let gates = [gated("/a"), gated("/b")]
    let first = try start("get", server.url("/a"))
    try await first.message("started a")
    let second = try start("get", server.url("/b"))
    try await second.message("started b")
    first.send(SIGTERM)
    _ = try await first.status()
    try await second.message("; this command continues the downloads")
    for gate in gates { gate.open() }
    #expect(try await second.status() == 0)
    let parts = second.messages.components(separatedBy: Self.takeOver)
    #expect(parts.count == 2, "\(second.messages)")
    let notice = parts[0].split(separator: "\n").last ?? ""
    #expect(notice.hasPrefix("dlstore: the engine (process "), "\(second.messages)")
    #expect(parts[1].contains("started b "), "\(second.messages)")
  }

  @Test func `a quiet get becomes the engine without a message`() async throws {
    let gates = [gated("/a"), gated("/b")]
    let first = try start("get", server.url("/a"))
    try await first.message("started a")
    let second = try start("get", "-q", server.url("/b"))
    // The engine of the first one runs it.
    try await waitUntil { (try? record("/b"))?.state == .running }
    first.send(SIGKILL)
    _ = try await first.status()
    for gate in gates { gate.open() }
    #expect(try await second.status() == 0)
    #expect(second.messages.isEmpty, "\(second.messages)")
  }

  @Test func `with --no-wait get exits with 75, and the engine runs the download`() async throws {
    try await serving { service in
      // Not complete before the command looks at it.
      let gate = gated("/a")
      let get = try start("get", "--no-wait", server.url("/a"))
      #expect(try await get.status() == 75)
      gate.open()
      #expect(!get.messages.contains("waiting for it"), "\(get.messages)")
      #expect(!get.messages.contains("this command shows them"), "\(get.messages)")
      try await service.message("completed \(folder.path("a"))")
      // It has ended, so there is nothing to wait for.
      let again = try start("get", "--no-wait", server.url("/a"))
      #expect(try await again.status() == 0)
    }
  }

  @Test func `the hook of a get that was killed runs with the next one`() async throws {
    server.route("/a", Resource(body))
    let list = folder.path("ran")
    let hook = ["--on-complete", "echo x >> \(list); test -e \(folder.path("go")) || sleep 600"]
    let first = try DLStoreProcess(["get", server.url("/a")] + hook, store: store, in: folder.path)
    // Not only created by the shell.
    try await waitUntil { (try? String(contentsOfFile: list, encoding: .utf8)) == "x\n" }
    first.send(SIGKILL)
    _ = try await first.status()
    try "".write(toFile: folder.path("go"), atomically: true, encoding: .utf8)
    let second = try DLStoreProcess(
      ["get", server.url("/a")] + hook,
      store: store,
      in: folder.path
    )
    #expect(try await second.status() == 0, "\(second.messages)")
    #expect(try String(contentsOfFile: list, encoding: .utf8) == "x\nx\n")
    #expect(try record("/a").pendingHooks.isEmpty)
  }
}
