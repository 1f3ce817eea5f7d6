import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The built program as users run it, against a server with injected faults.
@Suite(.timeLimit(.minutes(10)))
struct ProcessTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  private func start(_ arguments: String...) throws -> DLStoreProcess {
    try DLStoreProcess(arguments, store: store, in: folder.path)
  }

  private func run(
    _ arguments: String...,
    shell: String? = nil
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path, shell: shell)
    return (try await process.status(), process.output, process.messages)
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  @Test func `help and version are printed to standard output`() async throws {
    let version = try await run("--version")
    #expect(version.status == 0)
    #expect(version.output == Version.text + "\n")
    let help = try await run("get", "--help")
    #expect(help.status == 0)
    #expect(help.output.contains("--output-folder") && help.messages.isEmpty)
  }

  @Test func `usage errors exit with 64`() async throws {
    let result = try await run("list", "--sort", "nonsense")
    #expect(result.status == 64)
    #expect(result.output.isEmpty && result.messages.contains("nonsense"))
  }

  @Test func `get stores files in the current folder`() async throws {
    let body = Body.generated(byteCount: 100_000, seed: 3)
    server.route("/a.bin", Resource(body))
    server.route("/b.bin", Resource(.text("b")))
    let result = try await run("get", server.url("/a.bin"), server.url("/b.bin"))
    #expect(result.status == 0)
    #expect(result.output.isEmpty)
    for name in ["a.bin", "b.bin"] {
      #expect(result.messages.contains("started \(name)"))
      #expect(result.messages.contains("completed \(folder.path(name)): "))
    }
    #expect(result.messages.contains("2 downloads: 2 completed ("))
    let bytes = try Data(contentsOf: URL(filePath: folder.path("a.bin")))
    #expect(Array(bytes) == body.bytes(at: 0, count: 100_000))
    let list = try await run("list", "--format", "json")
    let records = try #require(
      try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
    )
    #expect(records.map { $0["localPath"] as? String }.contains(folder.path("a.bin")))
    #expect(records.allSatisfy { $0["fileStatus"] as? String == "present" })
    let again = try await run("get", server.url("/a.bin"))
    #expect(again.status == 0)
    #expect(again.messages.contains("already complete: \(folder.path("a.bin"))"))
    #expect(server.requests.count == 2)
  }

  @Test func `get creates the output folder`() async throws {
    server.route("/a", Resource(.text("a")))
    let result = try await run("get", server.url("/a"), "--output-folder", "x/y", "--folder", "z")
    #expect(result.status == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path("x/y/z/a")))
  }

  @Test func `a new URL on another host receives no credentials, and set reports it`() async throws
  {
    let other = try FaultServer()
    server.route("/a", Resource(.text("abc"), faults: .status(403), then: .repeatLast))
    other.route("/b", Resource(.text("abc"), faults: .status(403)))
    let (old, new) = (server.url("/a"), other.url("/b"))
    let secret = ["--header", "Private-Token: hush", "--header", "X-Requested-With: 1"]
    let add = try DLStoreProcess(["add", old] + secret, store: store, in: folder.path)
    #expect(try await add.status() == 0)
    #expect(try await run("run", "--until-idle").status == 1)
    let set = try await run("set", old, "--url", new)
    #expect(set.status == 0)
    #expect(set.messages.contains("Private-Token") && !set.messages.contains("X-Requested-With"))
    #expect(try await run("run", "--until-idle").status == 1)
    // Header fields added with the new URL are meant for its host.
    #expect(try await run("add", new, "--header", "Private-Token: new").status == 0)
    #expect(try await run("run", "--until-idle").status == 0)
    #expect(server.requests.map { $0["Private-Token"] } == ["hush"])
    #expect(other.requests.map { $0["Private-Token"] } == [nil, "new"])
    #expect(other.requests.first?["X-Requested-With"] == "1")
    #expect(try record(new).state == .completed)
  }

  @Test func `no command shows a secret of a redirect target`() async throws {
    server.route("/a", Resource(redirectTo: "ftp://me:hush@127.0.0.1/?X-Amz-Signature=hush"))
    let get = try await run("get", server.url("/a"))
    #expect(get.status == 1)
    #expect(get.messages.contains("redirect") && !get.messages.contains("hush"))
    for words in [
      ["inspect", server.url("/a")], ["inspect", server.url("/a"), "--json"],
      ["list", "--format", "json"], ["list", "--format", "csv"], ["list"],
    ] {
      let process = try DLStoreProcess(words, store: store, in: folder.path)
      #expect(try await process.status() == 0)
      #expect(!process.output.isEmpty && !process.output.contains("hush"), "\(process.output)")
    }
    #expect(!"\(try record(server.url("/a")).attempts)".contains("hush"))
  }

  @Test func `get fails if one download fails`() async throws {
    server.route("/a", Resource(.text("a")))
    let result = try await run("get", server.url("/a"), server.url("/none"))
    #expect(result.status == 1)
    #expect(result.messages.contains("failed none: the server has no such file (404 Not Found); "))
  }

  @Test func `get reports unreachable servers`() async throws {
    let closed = try ClosedPort()
    #expect(try await run("get", closed.url("/a"), "--max-attempts", "2").status == 69)
  }

  @Test func `a server that crashes the worker is given up, and other downloads complete`()
    async throws
  {
    var poison = Resource(.text("x"), faults: .closeInsideHeader)
    poison.afterFaults = .repeatLast
    server.route("/poison", poison)
    server.route("/poison2", poison)
    server.route("/a", Resource(.text("a")))
    let result = try await run(
      "get",
      server.url("/poison"),
      server.url("/poison2"),
      server.url("/a"),
      "--max-attempts",
      "3",
      "--transport",
      "urlsession"
    )
    #expect(result.status == 1)
    #expect(FileManager.default.fileExists(atPath: folder.path("a")))
    for name in ["/poison", "/poison2"] {
      #expect(try record(server.url(name)).state == .failedPermanent)
      #expect(server.requests.count { $0.path == name } <= 4)
    }
  }

  @Test func `progress before each crash does not keep a server from being given up`() async throws
  {
    var poison = Resource(.generated(byteCount: 1_000_000, seed: 5))
    poison.faults = (0..<40).map { $0 % 2 == 0 ? .closeAfter(bytes: 10_000) : .closeInsideHeader }
    server.route("/poison", poison)
    server.route("/a", Resource(.text("a")))
    let result = try await run(
      "get",
      server.url("/poison"),
      server.url("/a"),
      "--transport",
      "urlsession"
    )
    #expect(result.status == 1)
    #expect(FileManager.default.fileExists(atPath: folder.path("a")))
    let record = try record(server.url("/poison"))
    #expect(record.state == .failedPermanent && record.received >= 20_000)
    #expect(record.attempts.last?.failure.code == .quarantined)
    #expect(result.messages.components(separatedBy: "restarting it").count - 1 == 3)
  }

  @Test func `slow servers do not hold all slots`() async throws {
    for (name, seed) in [("/1", 1), ("/2", 2)] as [(String, UInt64)] {
      let body = Body.generated(byteCount: 100_000, seed: seed)
      server.route(name, Resource(body, faults: .stallAfter(bytes: 2), then: .repeatLast))
    }
    server.route("/a", Resource(.text("a")))
    let process = try start(
      "get",
      server.url("/1"),
      server.url("/2"),
      server.url("/a"),
      "--max-concurrent",
      "2",
      "--lowest-speed-time",
      "1"
    )
    try await process.message("completed \(folder.path("a"))")
    // A server that was slow to answer has sent nothing before the other download went first.
    for name in ["/1", "/2"] {
      while try record(server.url(name)).received < 2 {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    process.send(SIGINT)
    #expect(try await process.status() == 130)
    for name in ["/1", "/2"] {
      let record = try record(server.url(name))
      // Both may have continued after the other download, which brings two bytes more each time.
      #expect(record.state == .waiting && record.attempts.isEmpty)
      #expect((2..<100_000).contains(record.received))
    }
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func `a signal stops get cleanly, and the next get resumes the download`(
    signal: Int32,
    code: Int32
  ) async throws {
    let body = Body.generated(byteCount: 200_000, seed: 5)
    server.route("/a", Resource(body, faults: .stallAfter(bytes: 100_000)))
    let process = try start("get", server.url("/a"))
    try await process.message("started a")
    // The first checkpoint has been made, so the bytes are on disk.
    while try record(server.url("/a")).received < 100_000 {
      try await Task.sleep(for: .milliseconds(20))
    }
    process.send(signal)
    #expect(try await process.status() == code)
    let stopped = try record(server.url("/a"))
    #expect(stopped.state == .waiting && stopped.received == 100_000)
    #expect(try await run("get", server.url("/a")).status == 0)
    #expect(server.requests.last?["Range"] == "bytes=100000-")
    let bytes = try Data(contentsOf: URL(filePath: folder.path("a")))
    #expect(Array(bytes) == body.bytes(at: 0, count: 200_000))
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `run exits with 0 after a signal`(signal: Int32) async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    #expect(try await run("add", server.url("/a")).status == 0)
    let process = try start("run")
    try await process.message("started a")
    process.send(signal)
    #expect(try await process.status() == 0, "\(process.messages)")
  }

  @Test func `a closed terminal that sends several signals stops get cleanly`() async throws {
    let body = Body.generated(byteCount: 200_000, seed: 5)
    server.route("/a", Resource(body, faults: .stallAfter(bytes: 100_000)))
    let process = try start("get", server.url("/a"))
    try await process.message("started a")
    // To the supervisor and to the worker, as the kernel and a shell do.
    for _ in 0..<3 { kill(-process.id, SIGHUP) }
    #expect(try await process.status() == 129, "\(process.messages)")
    #expect(try record(server.url("/a")).state == .waiting)
  }

  @Test func `a signal to the process and then to its group stops get cleanly`() async throws {
    let body = Body.generated(byteCount: 200_000, seed: 5)
    // The second signal repeats the first one for 250 ms. If this thread rests for that long, it was two
    // requests, and the next round counts.
    for round in 0... {
      server.route("/\(round)", Resource(body, faults: .stallAfter(bytes: 100_000)))
      let url = server.url("/\(round)")
      let process = try start("get", url)
      try await process.message("started \(round)")
      let start = ContinuousClock.now
      // As 'timeout' does.
      process.send(SIGTERM)
      process.send(SIGTERM, toGroup: true)
      let time = ContinuousClock.now - start
      let status = try await process.status()
      guard time < .milliseconds(100) else { continue }
      #expect(status == 143, "\(process.messages)")
      #expect(try record(url).state == .waiting)
      return
    }
  }

  @Test func `a program that ignores hang-ups goes on`() async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    let process = try DLStoreProcess(
      [],
      store: store,
      in: folder.path,
      // As 'nohup' does.
      shell: "trap '' HUP; exec dlstore get '\(server.url("/a"))'"
    )
    try await process.message("started a")
    kill(-process.id, SIGHUP)
    process.send(SIGTERM)
    // 129 if the hang-up had stopped it.
    #expect(try await process.status() == 143, "\(process.messages)")
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func `run --until-idle that a signal stops does not succeed`(
    signal: Int32,
    code: Int32
  ) async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    #expect(try await run("add", server.url("/a")).status == 0)
    let process = try start("run", "--until-idle")
    try await process.message("started a")
    process.send(signal)
    #expect(try await process.status() == code, "\(process.messages)")
  }

  @Test func `a killed worker is not restarted`() async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    let process = try start("get", server.url("/a"))
    try await process.message("started a")
    kill(try worker(), SIGKILL)
    #expect(try await process.status() == 1)
    #expect(process.messages.contains("was killed"))
  }

  @Test func `a worker ends with its supervisor`() async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    let process = try start("get", server.url("/a"))
    try await process.message("started a")
    let worker = try worker()
    process.send(SIGKILL)
    #expect(try await process.status() == 128 + SIGKILL)
    while kill(worker, 0) == 0, !isZombie(worker) { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Returns the process id of the worker, which the engine's lock file names.
  private func worker() throws -> pid_t {
    let text = try String(contentsOfFile: store + "/engine.lock", encoding: .utf8)
    return try #require(pid_t(text.split { !$0.isNumber }.first.map(String.init) ?? ""))
  }

  /// The exit status of the process may not have been read yet.
  private func isZombie(_ id: pid_t) -> Bool {
    let text = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ") Z"
    return text.split(separator: ")").last?.hasPrefix(" Z") == true
  }

  @Test func `a second engine is refused, and the error names the first`() async throws {
    server.route("/a", Resource(.text("abc"), faults: .stallAfter(bytes: 1)))
    server.route("/b", Resource(.text("b")))
    let process = try start("get", server.url("/a"))
    try await process.message("started a")
    let run = try await run("run")
    #expect(run.status == 75)
    #expect(run.messages.contains("process \(try worker())"))
    let get = try await self.run("get", server.url("/b"), "--no-wait")
    #expect(get.status == 75)
    #expect(get.messages.contains("is stored"))
    #expect(try record(server.url("/b")).state == .waiting)
    process.send(SIGINT)
    #expect(try await process.status() == 130)
  }

  @Test func `run --until-idle reports failures and remembers its folder`() async throws {
    server.route("/a", Resource(.text("a")))
    #expect(try await run("add", server.url("/a")).status == 0)
    #expect(try await run("run", "--until-idle", "--output-folder", "out").status == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path("out/a")))
    #expect(try await run("add", server.url("/none")).status == 0)
    #expect(try await run("run", "--until-idle").status == 1)
    let inspect = try await run("inspect", server.url("/none"), "--json")
    #expect(inspect.output.contains(folder.path("out/none")))
  }

  @Test func `a closed pipe ends the program without an error`() async throws {
    let urls = (0..<2000).map { "http://h/\($0)" }.joined(separator: "\n")
    let list = try folder.makeFile("list", urls)
    #expect(try await run("add", "--input-file", list).status == 0)
    let result = try await run(shell: "{ dlstore list; echo $? >&2; } | head -0")
    #expect(result.messages == "0\n")
  }

  @Test func `an input file can be standard input`() async throws {
    let result = try await run(
      shell: "printf 'http://h/1\\nhttp://h/2' | dlstore add --input-file -"
    )
    #expect(result.status == 0)
    #expect(result.output.split(separator: "\n").count == 2)
  }

  @Test func `purge without a terminal needs --yes`() async throws {
    #expect(try await run("add", "http://h/1").status == 0)
    #expect(try await run("purge", "--state", "waiting").status == 64)
    #expect(try await run("purge", "--state", "waiting", "--yes").status == 0)
  }

  @Test func `list --watch prints again when another process writes`() async throws {
    #expect(try await run("add", "http://h/1").status == 0)
    let watch = try start("list", "--watch", "--format", "jsonl")
    while !watch.output.contains("http://h/1") { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try await run("add", "http://h/2").status == 0)
    while !watch.output.contains("http://h/2") { try await Task.sleep(for: .milliseconds(10)) }
    watch.send(SIGINT)
    #expect(try await watch.status() == 0)
  }

  @Test func `list --watch ends when its reader closes the pipe`() async throws {
    #expect(try await run("add", "http://h/1").status == 0)
    let result = try await run(shell: "dlstore list --watch --format jsonl | head -1")
    #expect(result.status == 0)
    #expect(result.output.contains("http://h/1"))
  }

  @Test func `an input file can be a pipe, which opens once`() async throws {
    let result = try await run(
      shell:
        "mkfifo p; echo http://h/1 > p & dlstore add --input-file p && dlstore get --input-file p"
    )
    #expect(result.output.contains("new"))
    #expect(result.status == 64)
  }

  @Test func `a failure before a crash counts for run --until-idle`() async throws {
    var poison = Resource(.text("x"), faults: .closeInsideHeader, .closeInsideHeader)
    poison.retryAfter = nil
    server.route("/later", poison)
    #expect(try await run("add", server.url("/none")).status == 0)
    #expect(try await run("add", server.url("/later")).status == 0)
    let process = try DLStoreProcess(
      ["run", "--until-idle", "--max-concurrent", "1", "--transport", "urlsession"],
      store: store,
      in: folder.path
    )
    #expect(try await process.status() == 1)
    #expect(process.messages.contains("restarting it"))
    #expect(try record(server.url("/later")).state == .completed)
  }
}
