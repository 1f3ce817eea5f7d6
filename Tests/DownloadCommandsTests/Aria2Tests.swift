import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Files in aria2's format, and aria2c itself where it is installed.
@Suite(.timeLimit(.minutes(10)))
struct Aria2Tests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func record(_ name: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: name)
  }

  // MARK: The format

  @Test func `an imported session keeps ids, folders, names, digests and header fields`()
    async throws
  {
    let session = InputFileTests.session.replacing("/srv/dl", with: folder.path("dl"))
    let file = try folder.makeFile("aria2.session", session)
    let result = await dlstore("--store", store, "import", "--format", "aria2", file)
    #expect(result.status == .done)
    #expect(result.lines.map { $0.prefix(16) }.contains("e0d9c11f6643e4f7"))
    #expect(result.messages.isEmpty)

    let records = try RecordStore(at: store)
    let big = try record("0123456789abcdef")
    #expect(try records.roots().layout(of: big).finalPath == folder.path("dl/sub/big file.bin"))
    #expect(big.mirrors == ["http://127.0.0.1:8124/big.bin"])
    #expect(big.connections == 3)
    #expect(big.expectedDigest?.hasPrefix("sha256:9f86d081") == true)
    #expect(try records.headers(of: big).map(\.name).contains("Referer"))
    #expect(try record("1671cefa1fb51cad").state == .paused)
    #expect(try record("e0d9c11f6643e4f7").folder == "rel/dir")
    #expect(try record("e0d9c11f6643e4f7").bytesPerSecond == 1000)
  }

  @Test func `add applies or reports each option of a download, as import does`() async throws {
    let options = [
      "out": "x/y.bin", "dir": "sub", "checksum": "md5=9e107d9d372bb6826bd81d3542a419d6",
      "gid": "00000000000000aa", "max-download-limit": "2K", "split": "3",
      "max-connection-per-server": "2", "header": "X: 1", "referer": "http://page/",
      "user-agent": "Tester/1", "http-user": "u", "http-passwd": "p", "allow-overwrite": "true",
      "auto-file-renaming": "false", "pause": "true",
    ]
    let known = Aria2Option.all.values.filter { $0.effect == .download }.map(\.name)
    #expect(Set(options.keys) == Set(known + ["pause"]))
    for (name, value) in options.sorted(by: { $0.key < $1.key }) {
      let list = try folder.makeFile("list-\(name)", "http://a/1\n \(name)=\(value)\n")
      func added(_ command: String...) async throws -> ([String], String) {
        let store = folder.path("\(command[0])-\(name)")
        try folder.makeFile("\(command[0])-\(name)/files/1", "theirs")
        let result = await dlstore(["--store", store] + command + [list])
        #expect(result.status == .done, "\(name): \(result.messages)")
        let records = try RecordStore(at: store, access: .readOnly)
        let record = try #require(try records.records().first)
        let headers = try records.headers(of: record).map { "\($0.name): \($0.value)" }
        let fields = [
          record.id, record.folder, record.filename, record.state.rawValue,
          record.expectedDigest ?? "", "\(record.bytesPerSecond ?? 0)",
          "\(record.connections ?? 0)",
        ]
        let problems = result.messages.split(separator: "\n").filter { $0.contains(list) }
        return (fields + headers, problems.joined(separator: "\n"))
      }
      let (fields, problems) = try await added("add", "--input-file")
      let (importedFields, importedProblems) = try await added("import", "--format", "aria2")
      #expect(fields == importedFields)
      #expect(problems == importedProblems)
      let plain = [
        RecordIdentity.id(forURL: "http://a/1"), "", "1 (2)", "waiting", "", "0", "0",
      ]
      #expect(fields != plain || !problems.isEmpty, "\(name) is dropped in silence")
    }
  }

  @Test func `an exported file is imported as the same downloads`() async throws {
    let session = InputFileTests.session.replacing("/srv/dl", with: folder.path("dl"))
    let file = try folder.makeFile("aria2.session", session)
    _ = await dlstore("--store", store, "import", "--format", "aria2", file)
    let first = await dlstore("--store", store, "export", "--format", "aria2")
    let copy = folder.path("copy")
    let exported = try folder.makeFile("exported", first.output)
    let imported = await dlstore("--store", copy, "import", "--format", "aria2", exported)
    #expect(imported.messages.isEmpty)
    let second = await dlstore("--store", copy, "export", "--format", "aria2")
    #expect(second.output == first.output)
    #expect(second.messages == first.messages)
  }

  @Test func `an import of known URLs keeps their records`() async throws {
    let file = try folder.makeFile("list", "http://a/1\n gid=00000000000000aa\n out=other\n")
    _ = await dlstore("--store", store, "add", "http://a/1", "--priority", "3")
    let before = try record("http://a/1")
    let result = await dlstore("--store", store, "import", "--format", "aria2", file)
    #expect(result.output == "\(before.id)  known  1\n")
    #expect(try record("http://a/1") == before)
  }

  @Test func `invalid downloads of a session are reported, and the others are added`()
    async throws
  {
    let text = "http://a/1\n header=bad\nhttp://a/2\n checksum=md5=00\nhttp://a/3\n dir=/a/../b\n"
    let file = try folder.makeFile("list", text + "ftp://a/4\nhttp://a/5\n")
    let result = await dlstore("--store", store, "import", "--format", "aria2", file)
    #expect(result.status == .failed)
    #expect(result.lines.count == 1)
    #expect(result.messages.split(separator: "\n").count == 4)
    #expect(try RecordStore(at: store).records().map(\.url) == ["http://a/5"])
  }

  @Test func `completed and cancelled downloads are exported only if they are named`()
    async throws
  {
    _ = await dlstore("--store", store, "add", "http://a/1", "http://a/2", "http://a/3")
    try change("http://a/1") { $0.state = .completed }
    _ = await dlstore("--store", store, "cancel", "http://a/2")
    func urls(_ options: String...) async -> [String] {
      let result = await dlstore(["--store", store, "export", "--format", "aria2"] + options)
      return result.lines.filter { $0.hasPrefix("http") }
    }
    #expect(await urls() == ["http://a/3"])
    #expect(await urls("--state", "completed,waiting") == ["http://a/1", "http://a/3"])
    #expect(await urls("--match", "*3") == ["http://a/3"])
  }

  @Test func `values that the format cannot express are left out and reported`() throws {
    var record = try sampleRecord()
    record.filename = "a\n dir=x"
    record.tags = ["t"]
    let entry = Aria2Entry(record, headers: [], folder: " /x")
    #expect(entry.text == "http://a/1\n gid=\(record.id)\n")
    #expect(entry.omitted == ["dir", "out", "tags"])
    // The blank and the mark are one Character.
    record.filename = " \u{301}x"
    #expect(Aria2Entry(record, headers: [], folder: "/x").omitted == ["out", "tags"])
  }

  private func sampleRecord() throws -> DownloadRecord {
    let records = try RecordStore(at: store)
    return try #require(try records.addNow([DownloadRequest(url: "http://a/1")]).first).record
  }

  // MARK: aria2c

  private static let program = "/usr/bin/aria2c"
  private static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private func runAria2(_ arguments: String...) async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: Self.program)
    // The longest times that it accepts: the server may pause on a busy machine.
    let options = [
      "--no-conf", "--quiet", "--max-tries=1", "--connect-timeout=600", "--timeout=600",
    ]
    process.arguments = options + arguments
    process.currentDirectoryURL = URL(filePath: folder.path)
    process.standardInput = FileHandle.nullDevice
    try process.start()
    while process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    return process.terminationStatus
  }

  @Test(.enabled(if: isInstalled, "needs aria2c: make test-deps"))
  func `aria2c downloads what an exported file describes`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 200_000, seed: 9)
    server.route("/a.bin", Resource(body))
    let reference = folder.path("reference")
    try body.write(toFile: reference)
    let digest = try Digest.ofFile(at: reference).text
    _ = await dlstore([
      "--store", store, "add", server.url("/missing.bin"), "--mirror", server.url("/a.bin"),
      "-o", "named.bin", "--folder", "deep/er", "--header", "X-One: 1",
      "--header", "User-Agent: Tester/2", "--header", "Referer: http://page/",
      "--checksum", digest,
    ])
    let file = folder.path("export.txt")
    let exported = await dlstore("--store", store, "export", "--format", "aria2", "-o", file)
    #expect(exported.status == .done)

    let status = try await runAria2("--input-file=\(file)")

    #expect(status == 0)
    #expect(body.matches(file: "\(store)/files/deep/er/named.bin"))
    let request = try #require(server.requests.last { $0.path == "/a.bin" })
    #expect(request["x-one"] == "1")
    #expect(request["user-agent"] == "Tester/2")
    #expect(request["referer"] == "http://page/")
  }

  @Test(.enabled(if: isInstalled, "needs aria2c: make test-deps"))
  func `a session that aria2c saves is imported`() async throws {
    let server = try FaultServer()
    let list = """
      \(server.url("/none.bin"))\t\(server.url("/none2.bin"))
        gid=0123456789abcdef
        dir=\(folder.path("dl"))
        out=name.bin
        header=X-One: 1
        split=2

      """
    let file = try folder.makeFile("list", list)
    let session = folder.path("aria2.session")
    let status = try await runAria2("--input-file=\(file)", "--save-session=\(session)")
    #expect(status != 0)
    let result = await dlstore("--store", store, "import", "--format", "aria2", session)
    #expect(result.status == .done, "\(result.messages)")
    let record = try record("0123456789abcdef")
    #expect(record.url == server.url("/none.bin"))
    #expect(record.mirrors == [server.url("/none2.bin")])
    let records = try RecordStore(at: store)
    #expect(try records.roots().layout(of: record).finalPath == folder.path("dl/name.bin"))
    #expect(try records.headers(of: record) == [HeaderField(name: "X-One", value: "1")])
    #expect(record.connections == 2 && !result.messages.contains("split"), "\(result.messages)")
  }
}
