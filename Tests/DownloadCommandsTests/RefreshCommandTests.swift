import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// `dlstore refresh` and `get --refresh`: a mirror whose files change on the server.
@Suite(.timeLimit(.minutes(10)))
struct RefreshCommandTests: ToolSuite {
  let fixture: ToolFixture
  private let count = 20

  init() throws {
    fixture = try ToolFixture()
    for number in 0..<count { server.route("/n\(number)", Resource(Self.body(number))) }
  }

  private static func body(_ number: Int, version: UInt64 = 1) -> Body {
    .generated(byteCount: 2_000 + Int64(number), seed: UInt64(number) * 10 + version)
  }

  private func file(_ number: Int) -> String { "\(store)/files/n\(number)" }

  /// Downloads the first versions with the tag `mirror`.
  private func mirror() async throws {
    let list = folder.path("list")
    let urls = (0..<count).map { server.url("/n\($0)") }
    try Data(urls.joined(separator: "\n").utf8).write(to: URL(filePath: list))
    try await dlstore("add", "--input-file", list, "--tag", "mirror")
    #expect(try await dlstore("run", "--until-idle", "-q").status == 0)
  }

  /// Lets two files change and one disappear.
  private func change() {
    for number in [3, 7] {
      server.route("/n\(number)", Resource(Self.body(number, version: 2), etag: "\"2\""))
    }
    server.route("/n5", Resource(Self.body(5), faults: .status(404), then: .repeatLast))
  }

  @Test func `one command refreshes a mirror, and says what has changed`() async throws {
    try await mirror()
    let asked = server.requests.count
    let unchanged = try await dlstore("refresh", "--tag", "mirror")
    #expect(unchanged.status == 0)
    #expect(unchanged.messages.contains("\(count) files: 0 updated"))
    #expect(unchanged.messages.contains("\(count) unchanged, 0 failed"))
    #expect(server.requests.count == asked + count)
    change()
    let result = try await dlstore("refresh", "--tag", "mirror")
    #expect(result.status == 1)
    #expect(result.messages.contains("\(count) files: 2 updated"))
    let counts = "\(count - 3) unchanged, 1 is gone from the server, 0 failed:\ndlstore:   n5: "
    #expect(result.messages.contains(counts))
    for number in 0..<count {
      let version: UInt64 = [3, 7].contains(number) ? 2 : 1
      #expect(Self.body(number, version: version).matches(file: file(number)))
    }
    // The next night asks all servers again, also the one without the file.
    let again = try await dlstore("refresh", "--all", "-q")
    #expect(again.status == 1)
    #expect(again.messages.contains("failed n5"))
    #expect(again.messages.split(separator: "\n").count == 1)
  }

  @Test func `a preview asks the servers, and changes nothing`() async throws {
    try await mirror()
    change()
    // A missing file is downloaded again, whatever its validator.
    try FileManager.default.removeItem(atPath: file(9))
    let result = try await dlstore("refresh", "--all", "--dry-run")
    #expect(result.status == 1)
    let lines = Set(result.output.split(separator: "\n").map(String.init))
    #expect(lines.isSuperset(of: ["newer n3", "newer n7", "missing n9"]))
    #expect(lines.contains { $0.hasPrefix("failed n5: ") })
    let counts =
      "\(count) files: 2 have a newer version, 1 missing or changed here, \(count - 4) unchanged, "
      + "0 unknown, 1 is gone from the server, 0 failed"
    #expect(lines.contains(counts))
    #expect(try record("/n3").state == .completed)
    #expect(Self.body(3).matches(file: file(3)))
  }

  /// Lets the refresh of a file rest.
  private func rest(in state: DownloadState) throws {
    try RecordStore(at: store).objects.write { tx in
      _ = try tx.update(DownloadRecord.self, key: server.url("/n3")) { record in
        record.state = state
        record.nextRetryAt = state == .failedRetryable ? Date.now + 86_400 : nil
      }
    }
  }

  @Test func `a preview leaves it to the server whether an older file is a newer version`()
    async throws
  {
    let date = "Tue, 15 Nov 1994 12:45:26 GMT"
    server.route("/n3", Resource(Self.body(3), etag: nil, lastModified: date))
    try await mirror()
    var restored = Resource(Self.body(3, version: 2))
    restored.faults = [.rawResponse("HTTP/1.1 304 Not Modified\r\n\r\n")]
    restored.afterFaults = .repeatLast
    server.route("/n3", restored)
    let result = try await dlstore("refresh", "--all", "--dry-run")
    #expect(
      result.output.hasSuffix("0 have a newer version, \(count) unchanged, 0 unknown, 0 failed\n")
    )
    #expect(server.requests.contains { $0.path == "/n3" && $0["If-Modified-Since"] == date })
    // As the refresh itself.
    #expect(try await dlstore("refresh", "--all", "-q").status == 0)
    #expect(Self.body(3).matches(file: file(3)))
  }

  @Test func `a preview does not take a login page for a newer version`() async throws {
    try await mirror()
    var page = Resource(.text("<html>please log in</html>"), etag: nil)
    page.fields = [Field("Content-Type", "text/html")]
    server.route("/n3", page)
    let result = try await dlstore("refresh", "n3", "--dry-run")
    #expect(result.status == 1)
    #expect(result.output.contains("failed n3: the server answered with a web page"))
    #expect(
      result.output.hasSuffix("1 file: 0 have a newer version, 0 unchanged, 0 unknown, 1 failed\n")
    )
  }

  @Test(arguments: [DownloadState.failedRetryable, .failedPermanent])
  func `a refresh that waits for its next attempt or has failed goes on at once`(
    state: DownloadState
  ) async throws {
    try await mirror()
    change()
    try await RecordStore(at: store).refresh(.matching(server.url("/n3")))
    try rest(in: state)
    let result = try await dlstore("refresh", "n3")
    #expect(result.status == 0, "\(result.messages)")
    #expect(Self.body(3, version: 2).matches(file: file(3)))
  }

  @Test(arguments: [true, false])
  func `refresh --checksum-file requires the digests that a changed checksum file lists`(
    isFetched: Bool
  ) async throws {
    func line(_ number: Int, version: UInt64) -> String {
      var hasher = DigestHasher(.sha256)
      let body = Self.body(number, version: version)
      hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
      return "\(hasher.digest.text.dropFirst("sha256:".count))  n\(number)\n"
    }
    let path = folder.path("SHA256SUMS")
    try Data((line(3, version: 1) + line(4, version: 1)).utf8).write(to: URL(filePath: path))
    try await dlstore("add", "--checksum-file", path, server.url("/n3"), server.url("/n4"))
    #expect(try await dlstore("run", "--until-idle", "-q").status == 0)
    server.route("/n3", Resource(Self.body(3, version: 2), etag: "\"2\""))
    // The digest of the finished file is required, so its newer version is refused.
    #expect(try await dlstore("refresh", "--all", "-q").status == 1)
    #expect(Self.body(3).matches(file: file(3)))
    let sums = line(3, version: 2) + line(4, version: 1)
    server.route("/SHA256SUMS", Resource(.text(sums), etag: nil))
    try Data(sums.utf8).write(to: URL(filePath: path))
    let place = isFetched ? server.url("/SHA256SUMS") : path
    #expect(try await dlstore("refresh", "--all", "-q", "--checksum-file", place).status == 0)
    #expect(Self.body(3, version: 2).matches(file: file(3)))
    #expect(Self.body(4).matches(file: file(4)))
    #expect(try await dlstore("refresh", "--all", "-q").status == 0)
  }

  @Test func `get --refresh returns to the finished file if no version has the new checksum`()
    async throws
  {
    func checksum(version: UInt64) -> String {
      var hasher = DigestHasher(.sha256)
      hasher.update(Self.body(3, version: version).bytes(at: 0, count: 2003).span)
      return hasher.digest.text
    }
    try await dlstore("add", server.url("/n3"), "--checksum", checksum(version: 1))
    #expect(try await dlstore("run", "--until-idle", "-q").status == 0)
    let newer = [server.url("/n3"), "--refresh", "--checksum", checksum(version: 2)]
    for _ in 0..<2 {
      #expect(try await get(newer).status == 1)
      let record = try record("/n3")
      #expect(record.state == .completed && record.expectedDigest == checksum(version: 1))
      #expect(Self.body(3).matches(file: file(3)))
    }
    #expect(try await dlstore("refresh", "--all", "-q").status == 0)
    server.route("/n3", Resource(Self.body(3, version: 2), etag: "\"2\""))
    #expect(try await get(newer).status == 0)
    #expect(Self.body(3, version: 2).matches(file: file(3)))
  }

  @Test func `a newer version that is complete gets its name by the same command`() async throws {
    try await mirror()
    server.route("/n3", Resource(Self.body(3, version: 2), etag: "\"2\""))
    // As a process leaves it that is killed between the commit and the rename.
    let records = try RecordStore(at: store)
    try await records.refresh(.matching(server.url("/n3")))
    var record = try record("/n3")
    let partial = try records.roots().layout(of: record).partialPath
    let bytes = Data(Self.body(3, version: 2).bytes(at: 0, count: 2003))
    try bytes.write(to: URL(filePath: partial))
    let identity = try #require(FileIdentity(ofFileAt: partial))
    try record.apply(.started(keepingBytes: false), at: .now)
    try record.apply(.fileComplete(.init(identity, entityTag: "\"2\"")), at: .now)
    try await records.objects.write { [record] tx in _ = try tx.upsert(record) }
    let preview = try await dlstore("refresh", "--all", "--dry-run")
    #expect(preview.output.contains("newer n3\n"), "\(preview.output)")
    let result = try await dlstore("refresh", "n3")
    #expect(result.status == 0, "\(result.messages)")
    #expect(Self.body(3, version: 2).matches(file: file(3)))
  }

  @Test func `different checksums of one file concern that file alone`() async throws {
    try await mirror()
    for number in 3...5 {
      server.route("/n\(number)", Resource(Self.body(number, version: 2), etag: "\"2\""))
    }
    let digits = ["d", "e"].map { String(repeating: $0, count: 64) }
    let path = folder.path("SHA256SUMS")
    try Data("\(digits[0])  n4\n\(digits[1])  n4\n".utf8).write(to: URL(filePath: path))
    let result = try await dlstore("refresh", "--all", "--checksum-file", path)
    #expect(result.status == 1)
    #expect(result.messages.contains("not refreshed: n4: the checksum files have different"))
    #expect(Self.body(3, version: 2).matches(file: file(3)))
    #expect(Self.body(4).matches(file: file(4)))
    #expect(Self.body(5, version: 2).matches(file: file(5)))
    let alone = try await dlstore("refresh", "n4", "--checksum-file", path)
    #expect(alone.status == 1)
    #expect(try record("/n4").state == .completed)
  }

  @Test func `a checksum file without a checksum changes nothing`() async throws {
    try await mirror()
    server.route("/SHA256SUMS", Resource(.text("<html>please log in</html>"), etag: nil))
    let asked = server.requests.count
    let result = try await dlstore(
      "refresh",
      "--all",
      "--checksum-file",
      server.url("/SHA256SUMS")
    )
    #expect(result.status == 65)
    #expect(result.messages.contains("contains no MD5"))
    #expect(server.requests.count == asked + 1)
    #expect(try record("/n3").state == .completed)
  }

  @Test func `get --refresh downloads what is new, what has changed and what is missing`()
    async throws
  {
    let files = folder.path("files")
    let first = server.url("/n1")
    let options = ["--output-folder", files]
    #expect(try await get([first] + options).status == 0)
    let plain = try await get([first] + options)
    #expect(plain.status == 0 && server.requests.count == 1)
    server.route("/n1", Resource(Self.body(1, version: 2), etag: "\"2\""))
    #expect(try await get([first, server.url("/n2"), "--refresh"] + options).status == 0)
    #expect(Self.body(1, version: 2).matches(file: files + "/n1"))
    #expect(Self.body(2).matches(file: files + "/n2"))
    let again = try await get([first, "--refresh"] + options)
    #expect(again.status == 0)
    #expect(again.messages.contains("unchanged"))
    server.route("/n1", Resource(Self.body(1), faults: .status(404), then: .repeatLast))
    #expect(try await get([first, "--refresh"] + options).status == 1)
    #expect(Self.body(1, version: 2).matches(file: files + "/n1"))
  }

  private func get(
    _ arguments: [String]
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(["get"] + arguments, store: store, in: folder.path)
    return (try await process.status(), process.output, process.messages)
  }

  @Test func `an unknown name does not keep other downloads from their refresh`() async throws {
    try await mirror()
    change()
    let alone = try await dlstore("refresh", "nosuch", "--dry-run")
    #expect(alone.status == 1 && alone.messages.contains("nosuch"), "\(alone.messages)")
    let preview = try await dlstore("refresh", "n3", "nosuch", "--dry-run")
    #expect(preview.status == 1 && preview.messages.contains("nosuch"), "\(preview.messages)")
    #expect(preview.output.contains("newer n3\n"), "\(preview.output)")
    let result = try await dlstore("refresh", "n3", "nosuch")
    #expect(result.status == 1 && result.messages.contains("nosuch"), "\(result.messages)")
    #expect(Self.body(3, version: 2).matches(file: file(3)))
    let typo = try await dlstore("refresh", "--tag", "mirrors", "--dry-run")
    #expect(typo.status == 1 && typo.messages.contains("mirrors"), "\(typo.messages)")
  }

  @Test func `what cannot be refreshed is named`() async throws {
    try await dlstore("add", server.url("/n1"))
    let waiting = try await dlstore("refresh", "n1")
    #expect(waiting.status == 1)
    #expect(waiting.messages.contains("not refreshed: n1: it is not complete"))
    let all = try await dlstore("refresh", "--all")
    #expect(all.status == 0 && all.messages.contains("no finished file to refresh"))
    #expect(try await dlstore("refresh", "nosuch").status == 1)
    #expect(try await dlstore("refresh").status == 64)
  }

  /// Lets a refresh of one file wait for a gate in the middle of its newer version.
  private func slowRefresh(
    by command: [String] = ["refresh", "--all"],
    isMirrored: Bool = false
  ) async throws -> (process: DLStoreProcess, gate: Gate) {
    if !isMirrored { try await mirror() }
    let gate = Gate()
    var resource = Resource(Self.body(3, version: 2), etag: "\"2\"")
    (resource.bytesPerSecond, resource.rateGate) = (100, gate)
    server.route("/n3", resource)
    let process = try DLStoreProcess(command, store: store, in: folder.path)
    try await waitUntil { try record("/n3").state == .running && record("/n3").received > 0 }
    return (process, gate)
  }

  @Test func `refresh --no-wait says that the other engine carries out the refresh`() async throws {
    let (process, gate) = try await slowRefresh()
    let result = try await dlstore("refresh", "n3", "--no-wait")
    #expect(result.status == 75)
    let text = "; it carries out the refresh: 'refresh' without --no-wait waits for it\n"
    #expect(result.messages.hasSuffix(text), "\(result.messages)")
    #expect(!result.messages.contains("stop it"))
    gate.open()
    #expect(try await process.status() == 0)
  }

  @Test func `the same command continues a refresh that was stopped`() async throws {
    let (stopped, gate) = try await slowRefresh()
    stopped.send(SIGTERM)
    #expect(try await stopped.status() == 143)
    gate.open()
    let preview = try await dlstore("refresh", "--all", "--dry-run")
    #expect(preview.output.contains("newer n3\n"), "\(preview.output)")
    let named = try await dlstore("refresh", "nosuch", "n3", "--dry-run")
    #expect(named.output.contains("newer n3\n"), "\(named.output)")
    let asked = server.requests.count
    let result = try await dlstore("refresh", "--all")
    #expect(result.status == 0, "\(result.messages)")
    #expect(Self.body(3, version: 2).matches(file: file(3)))
    #expect(server.requests.count == asked + count)
  }

  @Test func `a paused refresh is named by the next one`() async throws {
    let (process, gate) = try await slowRefresh()
    try await dlstore("pause", "n3")
    #expect(try await process.status() == 1)
    gate.open()
    let result = try await dlstore("refresh", "--all")
    #expect(result.status == 1)
    let id = try record("/n3").id
    #expect(
      result.messages.contains("n3 was paused by another command; 'dlstore resume \(id)"),
      "\(result.messages)"
    )
    #expect(Self.body(3).matches(file: file(3)))
  }

  @Test func `a refresh that is cancelled ends with 1, and the finished file stays`() async throws {
    let (process, gate) = try await slowRefresh()
    try await dlstore("cancel", "n3")
    #expect(try await process.status() == 1)
    gate.open()
    #expect(
      process.messages.contains(
        "stopped n3: another command cancelled its refresh; the finished file stays"
      ),
      "\(process.messages)"
    )
    #expect(Self.body(3).matches(file: file(3)))
    #expect(try await dlstore("refresh", "--all").status == 0)
    #expect(Self.body(3, version: 2).matches(file: file(3)))
  }

  @Test func `a cancelled refresh does not claim a finished file that was deleted`() async throws {
    let (process, gate) = try await slowRefresh()
    try FileManager.default.removeItem(atPath: file(3))
    try await dlstore("cancel", "n3")
    #expect(try await process.status() == 1)
    gate.open()
    for end in ["its refresh; the finished file is missing", "and the finished file is missing; "] {
      #expect(process.messages.contains(end), "\(process.messages)")
    }
    #expect(!process.messages.contains("stays"), "\(process.messages)")
  }

  @Test(arguments: ["refresh", "get"])
  func `a quiet refresh that is cancelled says so, and not why an earlier one has failed`(
    command: String
  ) async throws {
    try await mirror()
    server.route("/n3", Resource(Self.body(3), faults: .status(404), then: .repeatLast))
    #expect(try await dlstore("refresh", "n3", "-q").status == 1)
    #expect(try record("/n3").refreshFailure?.code == .notFound)
    let words = command == "get" ? ["get", server.url("/n3"), "--refresh"] : ["refresh", "n3"]
    let (process, gate) = try await slowRefresh(by: words + ["-q"], isMirrored: true)
    try await dlstore("cancel", "n3")
    #expect(try await process.status() == 1)
    gate.open()
    let text = "the refresh of n3 was cancelled by another command, and the finished file stays; "
    #expect(process.messages.hasPrefix("dlstore: \(text)"), "\(process.messages)")
    #expect(process.messages.split(separator: "\n").count == 1, "\(process.messages)")
    #expect(try record("/n3").refreshFailure == nil)
    #expect(try await !dlstore("inspect", "n3").output.contains("failed, and the finished file"))
    #expect(Self.body(3).matches(file: file(3)))
  }

  @Test func `a worker that is killed during a refresh leaves one whole version`() async throws {
    try await mirror()
    for number in 0..<count {
      var resource = Resource(Self.body(number, version: 2), etag: "\"2\"")
      resource.bytesPerSecond = 4_000
      server.route("/n\(number)", resource)
    }
    let process = try start("refresh", "--all", "-q")
    try await waitUntil { server.requests.count > count + 4 }
    try await process.kill(withWorkerOn: store)
    for number in 0..<count {
      let file = file(number)
      #expect(
        Self.body(number).matches(file: file) || Self.body(number, version: 2).matches(file: file)
      )
    }
    for number in 0..<count {
      server.route("/n\(number)", Resource(Self.body(number, version: 2), etag: "\"2\""))
    }
    // The rest was requested before, so any engine completes it.
    #expect(try await dlstore("run", "--until-idle", "-q").status == 0)
    for number in 0..<count {
      #expect(Self.body(number, version: 2).matches(file: file(number)))
    }
  }
}
