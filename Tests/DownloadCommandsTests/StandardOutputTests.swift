import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// `get -o -` and `cat`: the bytes of a download on standard output.
@Suite(.timeLimit(.minutes(10)))
struct StandardOutputTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 4_000_000, seed: 32)

  init() throws {
    fixture = try ToolFixture()
  }

  /// Starts a command line of the shell, in which `URL` is the URL of the file.
  private func shell(_ line: String, _ path: String = "/a") throws -> DLStoreProcess {
    try DLStoreProcess(
      [],
      store: store,
      in: folder.path,
      shell: line.replacing("URL", with: "'\(server.url(path))'")
    )
  }

  /// Routes a file whose transfer takes minutes, unless the gate is opened.
  private func slow(_ path: String = "/a", bytesPerSecond: Int64 = 20_000) -> Gate {
    let gate = Gate()
    var resource = Resource(body)
    (resource.bytesPerSecond, resource.rateGate) = (bytesPerSecond, gate)
    server.route(path, resource)
    return gate
  }

  private static func sha256(of body: Body) -> Digest {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest
  }

  private func records() throws -> [DownloadRecord] {
    try RecordStore(at: store, access: .readOnly).records()
  }

  private func size(_ name: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path(name))
    return attributes?[.size] as? Int ?? 0
  }

  /// The files that the store has for standard output.
  private func temporaryFiles() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(store)/output").filter { $0 != ".lock" }
  }

  private func text(_ name: String) -> String {
    (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
  }

  // MARK: get -o -

  @Test(arguments: [1, 4])
  func `get writes the bytes in order, and keeps neither a file nor a record`(
    _ connections: Int
  ) async throws {
    server.route("/a", Resource(body, faults: .closeAfter(bytes: 1_000_000)))
    let get = try shell("dlstore get URL -o - --connections \(connections) --min-split 256K > out")
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(body.matches(file: folder.path("out")))
    #expect(get.messages.contains("completed a"))
    #expect(try records().isEmpty)
    #expect(try temporaryFiles().isEmpty)
    #expect(try folder.names().sorted() == ["out", "store"])
  }

  @Test func `an export after get -o - names no folder of its store`() async throws {
    server.route("/a", Resource(body))
    let (hidden, copy) = (folder.path(".x/store"), folder.path("copy"))
    try FileManager.default.createDirectory(
      atPath: folder.path(".x"),
      withIntermediateDirectories: false
    )
    let get = try shell("dlstore --store '\(hidden)' get URL -o - > out")
    #expect(try await get.status() == 0, "\(get.messages)")
    let moved = try shell(
      "dlstore --store '\(hidden)' export > all && dlstore --store '\(copy)' import all"
    )
    #expect(try await moved.status() == 0, "\(moved.messages)")
    #expect(!text("all").contains(hidden))
    let roots = try RecordStore(at: copy, access: .readOnly).roots()
    #expect(roots.all.map(\.path) == ["\(copy)/files"])
    #expect(roots.path(of: RootName.temporary) == "\(copy)/output")
  }

  @Test func `bytes arrive before the end of the download`() async throws {
    let gate = slow()
    let get = try shell("dlstore get URL -o - | cat > out")
    try await waitUntil { size("out") > 0 }
    #expect(try record("/a").state != .completed)
    gate.open()
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(body.matches(file: folder.path("out")))
  }

  @Test func `after a kill, the same command goes on from the bytes on disk`() async throws {
    let gate = slow()
    let killed = try shell("exec dlstore get URL -o - > killed")
    try await waitUntil { try size("killed") > 0 && record("/a").received > 0 }
    try await killed.kill(withWorkerOn: store)
    gate.open()
    let get = try shell("dlstore get URL -o - > out")
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(body.matches(file: folder.path("out")))
    #expect(server.requests.last?["Range"] != nil)
    #expect(try records().isEmpty)
  }

  #if os(Linux)
    /// The process that has the engine lock.
    private func worker() throws -> pid_t {
      let lock = try String(contentsOfFile: "\(store)/engine.lock", encoding: .utf8)
      let holder = lock.split(separator: "\n").first?.split(separator: " ").last
      return try #require(holder.flatMap { pid_t($0) })
    }

    /// Crashes the process that has the engine lock.
    private func crashWorker() throws { kill(try worker(), SIGSEGV) }

    /// Routes a file whose first reply stalls after 100,000 bytes, and whose next one before its last
    /// byte, unless the gate is opened.
    private func stalled(_ change: (inout Resource) -> Void = { _ in }) -> Gate {
      let gate = Gate()
      var resource = Resource(body, faults: .stallAfter(bytes: 100_000))
      resource.rateGate = gate
      change(&resource)
      server.route("/a", resource)
      return gate
    }

    /// Waits until the worker has written the bytes of ``stalled(_:)`` and noted their number.
    ///
    /// A crash between the two would repeat bytes.
    private func waitForStalledOutput() async throws {
      try await waitUntil {
        guard size("out") == 100_000 else { return false }
        // The offset of the file in which the number is noted.
        let path = "/proc/\(try worker())/fdinfo/4"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n").contains("pos:\t100000")
      }
    }

    @Test func `a worker that follows a crash repeats no byte`() async throws {
      let gate = stalled()
      let get = try shell("dlstore get URL -o - --timeout 10m | cat > out")
      try await waitForStalledOutput()
      try crashWorker()
      try await get.message("restarting it")
      gate.open()
      #expect(try await get.status() == 0, "\(get.messages)")
      #expect(body.matches(file: folder.path("out")))
      #expect(try records().isEmpty)
    }

    @Test func `a worker that follows a crash goes on if the server can only send the file again`()
      async throws
    {
      let gate = stalled { ($0.etag, $0.honoursRange) = (nil, false) }
      let get = try shell("dlstore get URL -o - --timeout 10m | cat > out")
      try await waitForStalledOutput()
      try crashWorker()
      try await get.message("restarting it")
      gate.open()
      #expect(try await get.status() == 0, "\(get.messages)")
      #expect(body.matches(file: folder.path("out")))
      #expect(server.requests.count(where: { $0.path == "/a" }) > 1)
      #expect(try records().isEmpty)
    }

    @Test func `a worker that follows a crash compares the bytes that were written before`()
      async throws
    {
      _ = stalled()
      let other = Body.generated(byteCount: 4_000_000, seed: 33)
      let get = try shell(
        "dlstore get URL -o - --timeout 10m --checksum \(Self.sha256(of: other).text) > out"
      )
      try await waitForStalledOutput()
      var next = Resource(other)
      next.etag = "\"2\""
      server.route("/a", next)
      try crashWorker()
      #expect(try await get.status() == 1, "\(get.messages)")
      try expectOutputLost(get, "the server's file has changed after its first ")
    }
  #endif

  @Test func `a wrong checksum is an error`() async throws {
    server.route("/a", Resource(body))
    let wrong = "md5:9e107d9d372bb6826bd81d3542a419d6"
    let get = try shell("dlstore get URL -o - --checksum \(wrong) --max-attempts 1 > out")
    #expect(try await get.status() == 1, "\(get.messages)")
    #expect(get.messages.contains("failed a: "), "\(get.messages)")
    #expect(try records().count == 1)
  }

  @Test func `a file that changes on the server after bytes were written is an error`()
    async throws
  {
    let gate = Gate()
    var resource = Resource(body, faults: .closeAfter(bytes: 1_000_000))
    resource.endGate = gate
    server.route("/a", resource)
    let get = try shell("dlstore get URL -o - > out")
    try await waitUntil { size("out") > 0 }
    var other = Resource(.generated(byteCount: 4_000_000, seed: 33))
    other.etag = "\"2\""
    server.route("/a", other)
    gate.open()
    #expect(try await get.status() == 1)
    try expectOutputLost(get, "the server's file has changed after its first ")
  }

  @Test func `a file that the server can only send again after bytes were written is an error`()
    async throws
  {
    let gate = Gate()
    var resource = Resource(body, faults: .closeAfter(bytes: 1_000_000))
    (resource.etag, resource.honoursRange, resource.endGate) = (nil, false, gate)
    server.route("/a", resource)
    let get = try shell("dlstore get URL -o - > out")
    try await waitUntil { size("out") > 1_000 }
    // The second transfer never reaches the bytes that were written, however late the command ends.
    var again = Resource(body, faults: .stallAfter(bytes: 1_000), then: .repeatLast)
    (again.etag, again.honoursRange) = (nil, false)
    server.route("/a", again)
    gate.open()
    #expect(try await get.status() == 1)
    try expectOutputLost(get, "the download began again from its first byte after its first ")
  }

  /// Expects that the last message names the reason, and no other process.
  private func expectOutputLost(_ get: DLStoreProcess, _ reason: String) throws {
    let last = try #require(get.messages.split(separator: "\n").last)
    #expect(last.hasPrefix("dlstore: \(reason)"), "\(get.messages)")
    #expect(
      last.hasSuffix("; the same command writes the file again from its first byte"),
      "\(get.messages)"
    )
    #expect(!get.messages.contains("another command"), "\(get.messages)")
  }

  @Test func `a reader that closes the pipe ends the command quietly`() async throws {
    server.route("/a", Resource(body))
    let get = try shell("{ dlstore get URL -o - -q; echo $? > status; } | head -c 100 > out")
    #expect(try await get.status() == 0)
    #expect(text("status") == "0\n")
    #expect(get.messages.isEmpty, "\(get.messages)")
    #expect(size("out") == 100)
    // The bytes on disk serve the next command.
    let again = try shell("dlstore get URL -o - > again")
    #expect(try await again.status() == 0)
    #expect(body.matches(file: folder.path("again")))
  }

  @Test func `tar unpacks an archive while it arrives`() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("in"),
      withIntermediateDirectories: false
    )
    try body.write(toFile: folder.path("in/file"))
    let pack = try shell("tar cf a.tar in/file && rm -r in")
    #expect(try await pack.status() == 0, "\(pack.messages)")
    let bytes = try Data(contentsOf: URL(filePath: folder.path("a.tar")))
    server.route("/a", Resource(.bytes(Array(bytes))))
    let get = try shell("dlstore get URL -o - | tar x")
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(body.matches(file: folder.path("in/file")))
  }

  @Test func `a reader that stands still holds up neither the download nor a stop`() async throws {
    server.route("/a", Resource(body))
    let get = try shell(
      "mkfifo go; { dlstore get URL -o - & echo $! > pid; wait $!; echo $? > status; }"
        + " | (read x < go; cat > out)"
    )
    // A pipe takes 64 KiB, so the command waits for its reader.
    try await get.message("completed a")
    kill(try #require(pid_t(text("pid").trimmingCharacters(in: .newlines))), SIGTERM)
    try await waitUntil { text("status") == "143\n" }
    try go()
    _ = try await get.status()
    #expect(size("out") < Int(body.byteCount))
  }

  /// Lets a reader begin that waits for a line in a pipe.
  private func go() throws {
    let pipe = try #require(FileHandle(forWritingAtPath: folder.path("go")))
    try pipe.write(contentsOf: Data("go\n".utf8))
    try pipe.close()
  }

  @Test func `a slow reader gets all bytes, and costs no memory`() async throws {
    let large = Body.generated(byteCount: 200_000_000, seed: 35)
    server.route("/a", Resource(large))
    let get = try shell("mkfifo go; dlstore get URL -o - | (read x < go; cat > out)")
    try await get.message("completed a")
    #if os(Linux)
      for id in try children(ofProcess: get.id) {
        let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?
          .split(separator: " ").dropFirst().first.flatMap { Int($0) }
        #expect((peak ?? 0) < 150_000, "\(status)")
      }
    #endif
    try go()
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(large.matches(file: folder.path("out")))
  }

  #if os(Linux)
    /// The processes below a process.
    private func children(ofProcess id: pid_t) throws -> [pid_t] {
      let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")
      let direct = tasks.flatMap { task in
        ((try? String(contentsOfFile: "/proc/\(id)/task/\(task)/children", encoding: .utf8)) ?? "")
          .split(separator: " ").compactMap { pid_t($0) }
      }
      return try direct + direct.flatMap { try children(ofProcess: $0) }
    }
  #endif

  @Test func `two commands that write the same file both get all of it`() async throws {
    let gate = slow()
    let gets = try [1, 2].map { try shell("dlstore get URL -o - > out\($0)") }
    try await waitUntil { size("out1") > 0 && size("out2") > 0 }
    gate.open()
    for get in gets { #expect(try await get.status() == 0, "\(get.messages)") }
    #expect(body.matches(file: folder.path("out1")) && body.matches(file: folder.path("out2")))
    #expect(try records().isEmpty)
    #expect(try temporaryFiles().isEmpty)
  }

  @Test(arguments: ["add", "get"])
  func `a download that another command requests meanwhile stays`(_ command: String) async throws {
    let gate = slow()
    let get = try shell("dlstore get URL -o - > out")
    try await waitUntil { size("out") > 0 }
    let other = try shell("dlstore \(command) URL")
    if command == "add" {
      #expect(try await other.status() == 0, "\(other.messages)")
    } else {
      try await other.message("another engine runs on")
    }
    gate.open()
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(try await other.status() == 0, "\(other.messages)")
    #expect(body.matches(file: folder.path("out")))
    let record = try record("/a")
    #expect(record.state == .completed && record.root == RootName.keptOutput)
    #expect(body.matches(file: "\(store)/output/a"))
    #expect(try temporaryFiles() == ["a"])
    // The next command finds it, and keeps it.
    let again = try shell("dlstore get URL -o - > again")
    #expect(try await again.status() == 0, "\(again.messages)")
    #expect(body.matches(file: folder.path("again")) && body.matches(file: "\(store)/output/a"))
  }

  @Test func `a plan to remove a temporary download spares one that was requested since`() throws {
    let records = try RecordStore(at: store)
    var request = DownloadRequest(url: server.url("/a"))
    request.root = RootName.temporary
    let first = try records.addNow([request])[0].record
    #expect(first.root == RootName.temporary)
    // The same command again leaves it temporary.
    #expect(try records.addNow([request])[0].record.root == RootName.temporary)
    request.root = RootName.standard
    let kept = try records.addNow([request])[0].record
    #expect(kept.root == RootName.keptOutput && kept.destination != first.destination)
    let roots = try records.roots()
    #expect(try roots.layout(of: kept) == roots.layout(of: first))
    // A plan that was made before does not remove it.
    let plan = try records.purgePlan([first], withFiles: true)
    #expect(try records.purge(plan).records.isEmpty)
    #expect(try records.record(matching: first.id).root == RootName.keptOutput)
  }

  @Test func `with a folder, the file is also kept there`() async throws {
    server.route("/a", Resource(body))
    let get = try shell("dlstore get URL -o - --output-folder kept > out")
    #expect(try await get.status() == 0, "\(get.messages)")
    for name in ["out", "kept/a"] { #expect(body.matches(file: folder.path(name))) }
    #expect(try record("/a").state == .completed)
    // A known download is not requested again, and its file stays.
    let again = try shell("dlstore get URL -o - > again")
    #expect(try await again.status() == 0, "\(again.messages)")
    #expect(body.matches(file: folder.path("again")))
    #expect(body.matches(file: folder.path("kept/a")))
    #expect(server.requests.count(where: { $0.path == "/a" }) == 1)
  }

  @Test func `a download that fails has the exit code of its failure`() async throws {
    server.route("/a", Resource(.text("x"), faults: .status(404)))
    let get = try shell("dlstore get URL -o - > out")
    #expect(try await get.status() == 1)
    #expect(size("out") == 0)
    #expect(get.messages.split(separator: "\n").count(where: { $0.contains("404") }) == 1)
  }

  @Test func `a damaged file with the checksum does not become a part of the output`() async throws
  {
    for path in ["/a", "/b"] { server.route(path, Resource(body)) }
    let digest = Self.sha256(of: body).text
    #expect(try await dlstore("get", server.url("/a"), "--checksum", digest).status == 0)
    // Bytes that change under an unchanged identity, as on a failing disk.
    let damage =
      "touch -r a t && printf damage | dd of=a bs=1 seek=1700000 conv=notrunc && touch -r t a"
    #expect(try await shell(damage).status() == 0)
    let get = try shell("dlstore get URL -o - --checksum \(digest) > out", "/b")
    #expect(try await get.status() == 0, "\(get.messages)")
    #expect(body.matches(file: folder.path("out")))
  }

  // MARK: cat

  @Test func `cat writes a finished file, also from an offset`() async throws {
    server.route("/a", Resource(body))
    #expect(try await dlstore("get", server.url("/a")).status == 0)
    for (start, count) in [(0, 4_000_000), (3_999_990, 10), (4_000_000, 0), (5_000_000, 0)] {
      let cat = try shell("dlstore cat URL --from \(start) > out")
      #expect(try await cat.status() == 0, "\(cat.messages)")
      #expect(size("out") == count)
    }
    let cat = try shell("dlstore cat a > out")
    #expect(try await cat.status() == 0)
    #expect(body.matches(file: folder.path("out")))
    let negative = try await dlstore("cat", "a", "--from=-1")
    #expect(negative.status == 64 && negative.messages.contains("--from"))
    let unknown = try await dlstore("cat", "http://127.0.0.1/unknown")
    #expect(unknown.status == 1 && unknown.output.isEmpty)
  }

  @Test func `cat does not append a file to itself`() async throws {
    server.route("/a", Resource(body))
    #expect(try await dlstore("get", server.url("/a"), "--output-folder", folder.path).status == 0)
    let cat = try shell("dlstore cat a >> a")
    #expect(try await cat.status() == 1)
    #expect(cat.messages.contains("standard output is the file itself"), "\(cat.messages)")
    #expect(body.matches(file: folder.path("a")))
  }

  @Test func `cat follows the engine of another process to the end`() async throws {
    let gate = slow()
    let get = try start("get", server.url("/a"))
    try await get.message("started a")
    let cat = try shell("dlstore cat URL > out")
    try await waitUntil { size("out") > 0 }
    gate.open()
    #expect(try await cat.status() == 0, "\(cat.messages)")
    #expect(body.matches(file: folder.path("out")))
    #expect(try await get.status() == 0)
  }

  @Test func `cat of a download that no engine runs writes what is there, and fails`() async throws
  {
    _ = slow()
    let get = try start("get", server.url("/a"))
    try await waitUntil { (try? record("/a").received) ?? 0 > 0 }
    let cat = try shell("dlstore cat URL > out")
    try await waitUntil { size("out") > 0 }
    get.send(SIGTERM)
    #expect(try await get.status() == 143)
    #expect(try await cat.status() == 1)
    #expect(cat.messages.contains("is not complete yet"), "\(cat.messages)")
    let received = try record("/a").received
    #expect(size("out") == Int(received))
    let bytes = try Data(contentsOf: URL(filePath: folder.path("out")))
    let isPrefix = body.matches(bytes.span, at: 0)
    #expect(isPrefix)
  }

  @Test func `cat does not go on with another version after its reader was slow`() async throws {
    let gate = Gate()
    var resource = Resource(body, faults: .closeAfter(bytes: 1_000_000))
    (resource.etag, resource.endGate) = (nil, gate)
    server.route("/a", resource)
    let get = try start("get", server.url("/a"))
    // More than a pipe takes, so `cat` waits for its reader.
    try await waitUntil { (try? record("/a").received) ?? 0 > 500_000 }
    let cat = try shell(
      "mkfifo go; { dlstore cat URL; echo $? > status; }"
        + " | (head -c 1 > first; read x < go; cat > out)"
    )
    try await waitUntil { size("first") > 0 }
    server.route("/a", Resource(.generated(byteCount: 4_000_000, seed: 33), etag: nil))
    gate.open()
    #expect(try await get.status() == 0, "\(get.messages)")
    try go()
    _ = try await cat.status()
    #expect(text("status") == "1\n")
    let reason = "the download began again from its first byte after its first "
    #expect(cat.messages.contains(reason), "\(cat.messages)")
    #expect(size("out") < 1_000_000)
  }

  /// Downloads a part of the file `a`, and stops.
  private func downloadPart() async throws -> FileLayout {
    _ = slow()
    let get = try start("get", server.url("/a"))
    try await waitUntil { (try? record("/a").received) ?? 0 > 0 }
    get.send(SIGTERM)
    #expect(try await get.status() == 143)
    return try RecordStore(at: store, access: .readOnly).roots().layout(of: record("/a"))
  }

  @Test func `cat of a partial file that is missing or empty fails, and does not wait`()
    async throws
  {
    let path = try await downloadPart().partialPath
    try Data().write(to: URL(filePath: path))
    let empty = try await dlstore("cat", "a")
    #expect(empty.status == 1 && empty.messages.contains("is missing or incomplete"))
    #expect(empty.messages.contains("'dlstore run' downloads it"), "\(empty.messages)")
    try FileManager.default.removeItem(atPath: path)
    #expect(try await dlstore("pause", "a").status == 0)
    let paused = try await dlstore("cat", "a")
    #expect(paused.status == 1 && paused.messages.contains("resume"), "\(paused.messages)")
    // Beside the engine of another download.
    let gate = slow("/other")
    let get = try start("get", server.url("/other"))
    try await get.message("started other")
    // The id of the other download may begin with the name.
    let beside = try await dlstore("cat", server.url("/a"))
    #expect(beside.status == 1, "\(beside.messages)")
    #expect(beside.messages.contains("is missing or incomplete"), "\(beside.messages)")
    gate.open()
    #expect(try await get.status() == 0)
  }

  @Test func `cat ends quietly when its reader does`() async throws {
    server.route("/a", Resource(body))
    #expect(try await dlstore("get", server.url("/a")).status == 0)
    let cat = try shell("{ dlstore cat a; echo $? > status; } | head -c 100 > out")
    #expect(try await cat.status() == 0)
    #expect(text("status") == "0\n" && cat.messages.isEmpty && size("out") == 100)
  }

  @Test func `cat compares a finished file with its required digest`() async throws {
    server.route("/a", Resource(body))
    let digest = Self.sha256(of: body).text
    #expect(try await dlstore("get", server.url("/a"), "--checksum", digest).status == 0)
    // Bytes that change under an unchanged identity, as on a failing disk.
    let damage =
      "cp -p a b && printf damage | dd of=a bs=1 seek=1700000 conv=notrunc && touch -r b a"
    #expect(try await shell(damage).status() == 0)
    let cat = try shell("dlstore cat a > out")
    #expect(try await cat.status() == 1)
    #expect(cat.messages.contains("do not have the digest"), "\(cat.messages)")
    let rest = try shell("dlstore cat a --from 3999990 > out")
    #expect(try await rest.status() == 0)
  }

  @Test(arguments: ["get URL -q -o -", "cat a"])
  func `a closed standard output is an error, and nothing is lost`(_ line: String) async throws {
    server.route("/a", Resource(body))
    let isCat = line.hasPrefix("cat")
    if isCat { #expect(try await dlstore("get", server.url("/a")).status == 0) }
    let process = try shell("dlstore \(line) >&-")
    #expect(try await process.status() == 74)
    #expect(process.messages.contains("standard output is closed"), "\(process.messages)")
    let discarded = try shell("dlstore \(line) > /dev/null")
    #expect(try await discarded.status() == 0, "\(discarded.messages)")
  }

  @Test(arguments: [true, false])
  func `cat of a changed or missing file is an error that names the way out`(
    isMissing: Bool
  ) async throws {
    server.route("/a", Resource(body))
    #expect(try await dlstore("get", server.url("/a")).status == 0)
    let file = folder.path("a")
    if isMissing {
      try FileManager.default.removeItem(atPath: file)
    } else {
      try Data("x".utf8).write(to: URL(filePath: file))
    }
    let cat = try await dlstore("cat", "a")
    #expect(cat.status == 1 && cat.output.isEmpty)
    let what = isMissing ? "the file is missing" : "the file was changed after the download"
    let text = "dlstore: \(what): \(file); 'dlstore restart "
    #expect(cat.messages.hasPrefix(text), "\(cat.messages)")
    #expect(cat.messages.hasSuffix("' downloads it again\n"))
  }
}
