import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `--url-command`: a new URL for an expired link.
@Suite(.timeLimit(.minutes(10)))
struct URLSupplierTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  private func get(_ path: String, _ command: String) async throws -> DLStoreProcess {
    let process = try DLStoreProcess(
      ["get", server.url(path), "--retry-wait", "1s", "--url-command", command],
      store: store,
      in: folder.path
    )
    _ = try await process.status()
    return process
  }

  private func record(_ path: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: server.url(path))
  }

  private func count(_ name: String) -> Int {
    (try? String(contentsOfFile: folder.path(name), encoding: .utf8))?
      .split(separator: "\n").count ?? 0
  }

  @Test(arguments: [401, 403, 410])
  func `an expired link continues from the bytes on disk with a new URL`(
    status: Int
  ) async throws {
    let body = Body.generated(byteCount: 3_000_000, seed: 5)
    // The connection breaks, and then the link has expired.
    server.route("/new", Resource(body))
    let gate = Gate()
    var broken = Resource(body, faults: .closeAfter(bytes: 1_000_000))
    broken.endGate = gate
    server.route("/old", broken)
    var expired = Resource(.text("expired"))
    expired.status = status
    let first = try DLStoreProcess(
      ["get", server.url("/old"), "--max-attempts", "1"],
      store: store,
      in: folder.path
    )
    // A client that was slow could lose its bytes.
    try await first.wait { ((try? self.record("/old"))?.received ?? 0) > 0 || !first.isRunning }
    gate.open()
    #expect(try await first.status() == 1)
    let received = try record("/old").received
    #expect(received > 0)
    server.route("/old", expired)
    let process = try await get(
      "/old",
      "cat >> json; echo x >> calls; echo '\(server.url("/new?sig=2"))'; echo more"
    )
    #expect(try await process.status() == 0, "\(process.messages)")
    let record = try record("/old")
    #expect(record.state == .completed && record.url == server.url("/old"))
    #expect(body.matches(file: folder.path(record.filename)))
    #expect(count("calls") == 1)
    #expect(try String(contentsOfFile: folder.path("json"), encoding: .utf8).contains(record.id))
    let last = try #require(server.requests.last)
    #expect(last.target == "/new?sig=2" && last["Range"] == "bytes=\(received)-")
  }

  @Test func `URLs that are refused, too, end the download after a few`() async throws {
    let process = try await get("/a", "echo x >> calls; echo '\(server.url("/b"))'")
    #expect(try await process.status() == 1)
    #expect(count("calls") == Int(URLSupplier.maximumRefusals))
    #expect(try record("/a").state == .failedPermanent)
  }

  @Test(
    arguments: [
      ("exit 3", "exited with 3"), ("echo not-a-url", "did not print an http or https URL"),
      ("true", "did not print an http or https URL"),
    ]
  )
  func `a command that fails ends the download with its reason`(
    command: String,
    reason: String
  ) async throws {
    let process = try await get("/a", command)
    #expect(try await process.status() == 1)
    let failure = try #require(try record("/a").attempts.last?.failure)
    #expect(failure.code == .needsURL && failure.message.contains(reason), "\(failure)")
  }

  @Test func `a command that hangs is ended`() async throws {
    let store = try RecordStore(at: store)
    let record = try await store.add([DownloadRequest(url: "http://h/a")])[0].record
    let supplier = URLSupplier(
      command: UserCommand(text: "sleep 300"),
      store: store,
      timeLimit: .milliseconds(50)
    )
    var refused = record
    try refused.fail(.needsURL, from: record.url)
    let request = TaskRequest(url: record.url, recordID: record.id)
    let error = await #expect(throws: DownloadFailure.self) {
      try await supplier.intercept(request, for: refused)
    }
    #expect(error?.code == .needsURL && error?.message.contains("did not end within") == true)
  }

  @Test func `a command that ignores SIGTERM does not outlive the program`() async throws {
    var expired = Resource(.text("expired"))
    expired.status = 403
    server.route("/a", expired)
    // The command itself stops the program, so that a slow test does not let it time out before.
    let process = try DLStoreProcess(
      [],
      store: store,
      in: folder.path,
      shell: """
        echo $$ > target
        exec dlstore get '\(server.url("/a"))' --retry-wait 1s --url-command "$COMMAND"
        """,
      environment: [
        "COMMAND": "trap '' TERM; echo $$ > pid; kill $(cat target); sleep 300; sleep 300"
      ]
    )
    let status = try await process.status()
    #expect(status == 143, "\(status): \(process.messages)")
    let text = try String(contentsOfFile: folder.path("pid"), encoding: .utf8)
    let leader = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(!isRunning(leader))
  }

  @Test func `the answer for an earlier URL of a record is not used for a later one`() async throws
  {
    let store = try RecordStore(at: store)
    var record = try await store.add([DownloadRequest(url: "http://h/a")])[0].record
    // The tests beside this one may keep all threads busy for longer than the usual limit.
    let supplier = URLSupplier(
      command: UserCommand(text: "echo http://h/fresh"),
      store: store,
      timeLimit: .seconds(600)
    )
    try record.fail(.refused, from: record.url)
    func requested() async throws -> String {
      let request = TaskRequest(url: record.url, recordID: record.id)
      return try await supplier.intercept(request, for: record).url
    }
    #expect(try await requested() == "http://h/fresh")
    record.attempts = []
    #expect(try await requested() == "http://h/fresh")
    try record.apply(.moved(to: "http://h/b"), at: Date())
    #expect(try await requested() == "http://h/b")
  }

  @Test func `only a refusal of the record's own URL asks for another`() throws {
    var record = try #require(
      try RecordStore(at: store).addNow([DownloadRequest(url: "http://h/a")]).first?.record
    )
    func source(_ url: String, hasAnswer: Bool = false) -> URLSupplier.Source {
      URLSupplier.source(for: url, of: record, hasAnswer: hasAnswer)
    }
    func fail(_ code: DownloadFailure.Code, from url: String) throws {
      try record.fail(code, from: url)
    }
    #expect(source("http://h/a") == .record)
    #expect(source("http://h/a", hasAnswer: true) == .earlier)
    try fail(.timedOut, from: "http://h/a")
    #expect(source("http://h/a") == .record)
    for code in [DownloadFailure.Code.refused, .needsURL, .notFound] {
      try fail(code, from: "http://h/a")
      #expect(source("http://h/a", hasAnswer: true) == .command)
      #expect(source("http://mirror/a") == .record)
    }
    try fail(.refused, from: "http://mirror/a")
    #expect(source("http://h/a") == .record)
    try fail(.refused, from: "http://h/a")
    record.checkpoint(
      ByteRanges(upTo: 9),
      total: nil,
      entityTag: nil,
      lastModified: nil,
      at: Date()
    )
    #expect(source("http://h/a") == .record, "progress forgets the refusal")
  }
}

extension DownloadRecord {
  /// Applies a failed attempt that is repeated at once.
  fileprivate mutating func fail(_ code: DownloadFailure.Code, from url: String) throws {
    let attempt = FailedAttempt(DownloadFailure(code, ""), from: url) { _ in .zero }
    try apply(.attemptFailed(attempt), at: Date())
  }
}
