import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// `dlstore aria2c`: the built program in the place of aria2c.
@Suite(.timeLimit(.minutes(10)))
struct Aria2FrontTests {
  static let body = Body.generated(byteCount: 3_000_000, seed: 77)
  let folder: TemporaryFolder
  let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
    server.route("/a", Resource(Self.body))
  }

  private func start(_ arguments: [String], shell: String? = nil) throws -> DLStoreProcess {
    // It reads no settings of dlstore, and its default time-out may pass on a busy machine.
    try DLStoreProcess(
      ["aria2c", "--timeout=600"] + arguments,
      store: folder.path("unused"),
      in: folder.path,
      shell: shell,
      environment: ["XDG_DATA_HOME": folder.path("data"), "HOME": folder.path]
    )
  }

  private func aria2c(_ arguments: String...) async throws -> (status: Int32, messages: String) {
    try await aria2c(arguments)
  }

  func aria2c(_ arguments: [String]) async throws -> (status: Int32, messages: String) {
    let process = try start(arguments)
    return (try await process.status(), process.messages)
  }

  /// The stores of calls that are not complete.
  var stores: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path("data/dlstore-aria2c")))
      ?? [])
      .filter { $0 != ".lock" }
  }

  @Test func `a file is downloaded to the place that aria2c gives it, and no store remains`()
    async throws
  {
    let result = try await aria2c(
      "-x",
      "4",
      "-s4",
      "-k1M",
      "--summary-interval=0",
      "--console-log-level",
      "warn",
      "--header=X-A: b",
      "--auto-file-renaming=false",
      "--allow-overwrite=true",
      "-d",
      "sub",
      "-o",
      "./x.part",
      server.url("/a")
    )
    #expect(result.status == 0, "\(result.messages)")
    #expect(Self.body.matches(file: folder.path("sub/x.part")))
    #expect(server.requests.allSatisfy { $0["X-A"] == "b" })
    #expect(stores.isEmpty)
    // Without a control file, aria2c downloads again; with -c, it continues after the last byte.
    let count = server.requests.count
    #expect(try await aria2c("-c", "-d", "sub", "-o", "x.part", server.url("/a")).status == 0)
    #expect(Self.body.matches(file: folder.path("sub/x.part")))
    #expect(server.requests.dropFirst(count).allSatisfy { $0["Range"] == "bytes=3000000-" })
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("sub")) == ["x.part"])
  }

  // MARK: Files of the user

  /// Writes a file `a` of the user that another program may have begun.
  private func begin(_ bytes: some Sequence<UInt8>, mode: Int = 0o640) throws -> FileIdentity {
    let path = folder.path("w/a")
    try FileManager.default.createDirectory(
      atPath: folder.path("w"),
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return try #require(FileIdentity(ofFileAt: path))
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("w")).sorted() }
  }

  private var mode: Int? {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("w/a"))
      return attributes[.posixPermissions] as? Int
    }
  }

  @Test func `a file of the user that the server's does not continue stays`() async throws {
    server.route("/short", Resource(Body.generated(byteCount: 1000, seed: 5)))
    let identity = try begin(Self.body.bytes(at: 0, count: 3893))
    let refused = try await aria2c(
      "-c",
      "--auto-file-renaming=false",
      "-d",
      "w",
      "-o",
      "a",
      server.url("/short")
    )
    #expect(refused.status == 13, "\(refused.messages)")
    #expect(try files == ["a"])
    let numbered = try await aria2c("-c", "-d", "w", "-o", "a", server.url("/short"))
    #expect(numbered.status == 0, "\(numbered.messages)")
    #expect(try files == ["a", "a (2)"])
    #expect(FileIdentity(ofFileAt: folder.path("w/a")) == identity)
    #expect(try mode == 0o640)
    #expect(stores.isEmpty)
    let options = ["-c", "--allow-overwrite=true", "-d", "w", "-o", "a"]
    #expect(try await start(options + [server.url("/short")]).status() == 0)
    #expect(FileIdentity(ofFileAt: folder.path("w/a"))?.size == 1000)
  }

  @Test(arguments: [(404, 3), (401, 24), (503, 29), (0, 6)])
  func `a file of the user keeps its name while no server sends the rest`(
    status: Int,
    code: Int32
  ) async throws {
    server.route("/s", Resource(Self.body, faults: .status(status), then: .repeatLast))
    let identity = try begin(Self.body.bytes(at: 0, count: 100_000))
    let url = status == 0 ? "http://127.0.0.1:1/a" : server.url("/s")
    let result = try await aria2c("-c", "--max-tries=1", "-d", "w", "-o", "a", url)
    #expect(result.status == code, "\(result.messages)")
    #expect(FileIdentity(ofFileAt: folder.path("w/a")) == identity)
    #expect(try files == ["a"])
    #expect(try mode == 0o640)
    #expect(stores.isEmpty)
    // The next call, also with another URL, continues the file.
    let next = try await aria2c("-c", "-d", "w", "-o", "a", server.url("/a"))
    #expect(next.status == 0, "\(next.messages)")
    #expect(server.requests.last?["Range"] == "bytes=100000-")
    #expect(Self.body.matches(file: folder.path("w/a")))
    #expect(try files == ["a"])
    #expect(try mode == 0o640)
  }

  @Test(arguments: [[], ["--max-tries=1"]])
  func `a wrong digest deletes no byte of the user`(options: [String]) async throws {
    let identity = try begin(Self.body.bytes(at: 0, count: 100_000))
    let digest = "--checksum=md5=\(String(repeating: "0", count: 32))"
    let process = try start(["-c", digest, "-d", "w", "-o", "a", server.url("/a")] + options)
    #expect(try await process.status() == 32, "\(process.messages)")
    #expect(FileIdentity(ofFileAt: folder.path("w/a")) == identity)
    #expect(try files == ["a"])
    #expect(stores.isEmpty)
  }

  @Test func `an empty file is continued, and a complete one stays`() async throws {
    _ = try begin([])
    let options = ["-c", "--auto-file-renaming=false", "-d", "w", "-o", "a", server.url("/a")]
    let first = try start(options)
    #expect(try await first.status() == 0, "\(first.messages)")
    #expect(first.messages.contains("/w/a: "), "\(first.messages)")
    #expect(Self.body.matches(file: folder.path("w/a")))
    #expect(try mode == 0o640)
    let identity = FileIdentity(ofFileAt: folder.path("w/a"))
    let second = try start(options)
    #expect(try await second.status() == 0, "\(second.messages)")
    #expect(FileIdentity(ofFileAt: folder.path("w/a")) == identity)
    #expect(try files == ["a"])
  }

  @Test func `a list is read from a pipe`() async throws {
    let list = "\(server.url("/a"))\\n  out=b\\n"
    let process = try start([], shell: "printf '\(list)' | dlstore aria2c -i -")
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(Self.body.matches(file: folder.path("b")))
  }

  @Test func `a Metalink document is read from a pipe, and missing cookies are none`()
    async throws
  {
    let document = """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="b"><url>\(server.url("/a"))</url>
      </file></metalink>
      """
    _ = try folder.makeFile("document", document)
    let process = try start([], shell: "cat document | dlstore aria2c --load-cookies=none -M -")
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(process.messages.contains("no cookies are sent"), "\(process.messages)")
    #expect(Self.body.matches(file: folder.path("b")))
    let missing = try await aria2c("-M", "none")
    #expect(missing.status == 28 && missing.messages.contains("document none is missing"))
  }

  @Test(arguments: [
    "printf 'LIST' | dlstore aria2c -i /dev/stdin", "dlstore aria2c -i fifo",
    "printf 'LIST' | dlstore aria2c -i /dev/fd/5 5<&0",
  ])
  func `a list is read from any pipe`(command: String) async throws {
    let list = "\(server.url("/a"))\\n  out=./b\\n"
    var command = command.replacing("LIST", with: list)
    if command.hasSuffix("fifo") {
      command = "mkfifo fifo; (printf '\(list)' > fifo) & \(command)"
    }
    let process = try start([], shell: command)
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(Self.body.matches(file: folder.path("b")))
  }

  @Test func `an empty list is complete, and an unusable line leaves the others`() async throws {
    let list = try folder.makeFile("list", "")
    #expect(try await aria2c("-i", list).status == 0)
    let url = server.url("/a")
    _ = try folder.makeFile("list", "ftp://127.0.0.1:1/b\n\(url)\n  out=../b\n\(url)\n  out=c\n")
    let some = try await aria2c("-i", list)
    #expect(some.status == 28 && some.messages.contains("list:1: 'ftp://"), "\(some.messages)")
    #expect(Self.body.matches(file: folder.path("c")))
    _ = try folder.makeFile("list", "<html>\n")
    let none = try await aria2c("-i", list)
    #expect(none.status == 28 && none.messages.contains("list:1: "), "\(none.messages)")
    #expect(none.messages.contains("list has no line that can be used"), "\(none.messages)")
    _ = try folder.makeFile("list", "\(server.url("/a"))\n  split=abc\n")
    let wrong = try await aria2c("-i", list)
    #expect(wrong.status == 28 && wrong.messages.contains("list:2: "), "\(wrong.messages)")
    let digest = try Digest.ofFile(at: folder.path("c")).hexadecimal
    let right = "\(url)\n  out=d\n  checksum=sha-256=\(digest)\n"
    let other = "\(url)\n  checksum=sha-256=\(String(repeating: "0", count: 64))\n"
    _ = try folder.makeFile("list", right + other)
    let two = try await aria2c("-i", list)
    #expect(two.status == 28, "\(two.messages)")
    #expect(two.messages.contains("list:4: skipped: line 1 has another checksum of this URL"))
    #expect(Self.body.matches(file: folder.path("d")))
    #expect(stores.isEmpty)
  }

  @Test func `an interrupted call exits with 7, and continues with another URL of the file`()
    async throws
  {
    server.route(
      "/a",
      Resource(Self.body, faults: .stallAfter(bytes: 1_200_000), then: .repeatLast)
    )
    let first = try start(["-o", "x", server.url("/a?signature=1")])
    while server.requests.isEmpty || stores.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    let store = folder.path("data/dlstore-aria2c/\(try #require(stores.first))")
    let records = try RecordStore(at: store, access: .readOnly)
    while try records.record(matching: server.url("/a?signature=1")).received < 1_000_000 {
      try await Task.sleep(for: .milliseconds(10))
    }
    first.send(SIGINT)
    #expect(try await first.status() == 7, "\(first.messages)")
    server.route("/a", Resource(Self.body))
    let count = server.requests.count
    #expect(try await aria2c("-o", "x", server.url("/a?signature=2")).status == 0)
    #expect(Self.body.matches(file: folder.path("x")))
    let requests = server.requests.dropFirst(count)
    #expect(requests.allSatisfy { $0["Range"] != nil && $0.target.hasSuffix("signature=2") })
    #expect(stores.isEmpty)
  }

  /// What aria2c itself ends with is in docs/aria2c.md.
  @Test(arguments: [
    (404, 3), (410, 3), (400, 22), (403, 22), (407, 22), (416, 22), (418, 22), (401, 24),
    (429, 29), (500, 29), (502, 29), (503, 29), (504, 29),
  ])
  func `a status of the server has the exit code of aria2c`(status: Int, code: Int32) async throws {
    server.route("/s", Resource(Self.body, faults: .status(status), then: .repeatLast))
    let result = try await aria2c("--max-tries=1", server.url("/s"))
    #expect(result.status == code, "\(result.messages)")
    #expect(!result.messages.contains("'dlstore"), "no command finds the store: \(result.messages)")
    #expect(stores.isEmpty)
  }

  @Test func `a failure without a status has the exit code of aria2c`() async throws {
    var loop = Resource(Self.body)
    loop.redirect = Resource.Redirect(to: "/loop")
    server.route("/loop", loop)
    server.route("/stall", Resource(Self.body, faults: .stallBeforeHeader, then: .repeatLast))
    try Data("<metalink".utf8).write(to: URL(filePath: folder.path("bad.meta4")))
    let cases: [(Int32, [String])] = [
      (2, ["--timeout=1", server.url("/stall")]), (6, ["http://127.0.0.1:1/a"]),
      (17, ["-d", "/proc/none", server.url("/a")]), (19, ["http://no-such-host.invalid/a"]),
      (20, ["-M", "bad.meta4"]), (23, [server.url("/loop")]), (28, ["-M", "none.meta4"]),
      (28, ["--no-such-option", server.url("/a")]),
    ]
    for (code, arguments) in cases {
      let process = try start(["--max-tries=1"] + arguments)
      #expect(try await process.status() == code, "\(arguments) \(process.messages)")
    }
    #expect(stores.isEmpty)
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "this process may not mount a file system"))
    func `a full disk has the exit code of aria2c, and the bytes stay`() async throws {
      let disk = try #require(SmallDisk(kilobytes: 2_048))
      let result = try await aria2c("-q", "-d", disk.path, server.url("/a"))
      #expect(result.status == 9, "\(result.messages)")
      #expect(result.messages.contains("the disk with \(disk.path) is full"), "\(result.messages)")
      #expect(stores.count == 1)
    }
  #endif

  @Test func `a call that begins no download leaves no store`() async throws {
    let cookies = try folder.makeFile("cookies", "none\n")
    let list = try folder.makeFile("list", "\(server.url("/a"))\n checksum=md5=zz\n")
    for arguments in [
      ["--checksum=md5=zz", server.url("/a")], ["--load-cookies=\(cookies)", server.url("/a")],
      ["http://127.0.0.1:99999/a"], ["--header=bad", server.url("/a")], ["-i", list],
    ] {
      let process = try start(arguments)
      #expect(try await process.status() != 0, "\(arguments)")
      #expect(stores.isEmpty, "\(arguments)")
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `a file in the place of the folder is named, and a log that is not written`()
    async throws
  {
    _ = try folder.makeFile("file", "")
    for path in ["file", "file/sub"] {
      let result = try await aria2c("-d", path, server.url("/a"))
      #expect(result.status == 17 && result.messages.contains("/file is not a folder"))
    }
    let logged = try await aria2c("-l", "log.txt", "-o", "b", server.url("/a"))
    #expect(logged.status == 0 && logged.messages.contains("--log is not supported"))
    #expect(stores.isEmpty)
  }

  @Test func `the number of a new file is said beside the file that stays, unless quiet`()
    async throws
  {
    _ = try folder.makeFile("a", "theirs")
    let first = try await aria2c(server.url("/a"))
    #expect(first.status == 0, "\(first.messages)")
    #expect(first.messages.contains("/a stays, ") && first.messages.contains("is 'a (2)'"))
    let quiet = try await aria2c("-q", server.url("/a"))
    #expect(quiet.status == 0 && quiet.messages.isEmpty, "\(quiet.messages)")
  }

  @Test func `a link and a folder in the place of a file are named`() async throws {
    _ = try folder.makeFile("real", "theirs")
    #expect(unsafe symlink("real", folder.path("link")) == 0)
    #expect(mkdir(folder.path("folder"), 0o700) == 0)
    for (name, kind) in [("link", "a symbolic link"), ("folder", "a folder")] {
      let taken = try await aria2c("--allow-overwrite=true", "-o", name, server.url("/a"))
      #expect(taken.status == 13, "\(taken.messages)")
      #expect(taken.messages.contains("/\(name)' is already taken by \(kind)"), "\(taken.messages)")
    }
    #expect(try String(contentsOfFile: folder.path("real"), encoding: .utf8) == "theirs")
  }

  @Test func `a link that -c would continue stays with its file, and a message says what it is`()
    async throws
  {
    let path = try folder.makeFile("real", "theirs")
    #expect(unsafe symlink(path, folder.path("link")) == 0)
    #expect(mkdir(folder.path("folder"), 0o700) == 0)
    let link = "a symbolic link, which is not followed"
    for (name, kind) in [("link", link), ("folder", "a folder")] {
      let result = try await aria2c("-c", "-o", name, server.url("/a"))
      #expect(result.status == 0, "\(result.messages)")
      #expect(result.messages.contains("/\(name) stays, because it is \(kind)"))
      #expect(result.messages.contains(": the new file is '\(name) (2)'"), "\(result.messages)")
      #expect(!result.messages.contains("File exists"))
      #expect(Self.body.matches(file: folder.path("\(name) (2)")))
      let options = ["-c", "--auto-file-renaming=false", "-o", name, server.url("/a")]
      let refused = try start(options)
      #expect(try await refused.status() == 13)
      #expect(refused.messages.contains("/\(name)' is already taken by a "))
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
    let target = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link"))
    #expect(target == path)
    #expect(stores.isEmpty)
  }

  @Test(arguments: [
    ("--interface=192.0.2.1", "--interface: no interface of this machine has the address"),
    ("--ca-certificate=none.pem", "cannot read none.pem"),
  ])
  func `an option that this machine cannot fulfil is blamed, and not the server`(
    option: String,
    message: String
  ) async throws {
    let result = try await aria2c(option, server.url("/a"))
    #expect(result.status == 28 && result.messages.contains(message), "\(result.messages)")
    #expect(server.requests.isEmpty && stores.isEmpty)
  }

  @Test func `the other exit codes are those of aria2c`() async throws {
    let wrong = "--checksum=sha-256=\(String(repeating: "0", count: 64))"
    #expect(try await aria2c("-o", "w", wrong, server.url("/a")).status == 32)
    let refused = try await aria2c("--check-certificate=false", server.url("/a"))
    #expect(refused.status == 28 && refused.messages.contains("--ca-certificate"))
    try Data("theirs".utf8).write(to: URL(filePath: folder.path("taken")))
    let taken = try await aria2c("--auto-file-renaming=false", "-o", "taken", server.url("/a"))
    #expect(taken.status == 13, "\(taken.messages)")
    #expect(try String(contentsOfFile: folder.path("taken"), encoding: .utf8) == "theirs")
    #expect(stores.isEmpty)
  }
}
