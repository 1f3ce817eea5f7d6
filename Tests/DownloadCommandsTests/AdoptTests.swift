import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `add --adopt`, and the control files of aria2.
@Suite(.timeLimit(.minutes(10)))
struct AdoptTests: StoreSuite {
  static let size: Int64 = 4_000_000
  static let body = Body.generated(byteCount: size, seed: 31)

  let folder: TemporaryFolder
  let store: String
  let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    server.route("/a", Resource(Self.body))
  }

  /// The numbers of a control file of version 1.
  static func control(
    version: UInt16 = 1,
    pieceLength: UInt32 = 1_000_000,
    byteCount: UInt64 = UInt64(size),
    pieces: [UInt8],
    open: [(index: UInt32, length: UInt32, blocks: [UInt8])] = []
  ) -> [UInt8] {
    func number<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
      let ordered = version == 0 ? number.littleEndian : number.bigEndian
      return unsafe withUnsafeBytes(of: ordered) { unsafe Array($0) }
    }
    var bytes = [0, UInt8(version)] + number(UInt32(0)) + number(UInt32(0)) + number(pieceLength)
    if version == 0 { bytes.replaceSubrange(0..<2, with: [0, 0]) }
    bytes += number(byteCount) + number(UInt64(0)) + number(UInt32(pieces.count)) + pieces
    bytes += number(UInt32(open.count))
    for piece in open {
      bytes += number(piece.index) + number(piece.length) + number(UInt32(piece.blocks.count))
      bytes += piece.blocks
    }
    return bytes
  }

  /// Creates the files that aria2 leaves, with zeros where bytes are missing.
  func leave(_ control: [UInt8], _ ranges: ByteRanges) throws -> String {
    var bytes = [UInt8](repeating: 0, count: Int(Self.size))
    for range in ranges.ranges {
      let part = Self.body.bytes(at: range.lowerBound, count: range.count)
      bytes.replaceSubrange(Int(range.lowerBound)..<Int(range.upperBound), with: part)
    }
    let path = folder.path("files/a")
    try FileManager.default.createDirectory(
      atPath: folder.path("files"),
      withIntermediateDirectories: true
    )
    try Data(bytes).write(to: URL(filePath: path))
    try Data(control).write(to: URL(filePath: path + ".aria2"))
    return path
  }

  var digest: String {
    get throws {
      let path = folder.path("reference")
      try Self.body.write(toFile: path)
      return try Digest.ofFile(at: path).text
    }
  }

  // MARK: The format

  @Test(arguments: [0, 1] as [UInt16])
  func `complete pieces and blocks count`(version: UInt16) throws {
    let bytes = Self.control(
      version: version,
      pieces: [0b1001_0000],
      open: [(1, 1_000_000, [0b0100_0000] + [UInt8](repeating: 0, count: 7))]
    )
    let file = try Aria2ControlFile(bytes)
    #expect(file.byteCount == Self.size)
    #expect(
      file.ranges
        == ByteRanges([0..<1_000_000, 1_016_384..<1_032_768, 3_000_000..<4_000_000])
    )
  }

  @Test func `the last piece may be shorter`() throws {
    let file = try Aria2ControlFile(
      Self.control(pieceLength: 1_000, byteCount: 2_500, pieces: [0b0010_0000])
    )
    #expect(file.ranges == ByteRanges([2_000..<2_500]))
  }

  @Test(arguments: [
    [], [0, 2], Array(control(pieces: [0]).dropLast()), control(pieces: []),
    control(pieces: [0, 0]), control(pieceLength: 0, pieces: [0]),
    control(byteCount: 0, pieces: []), control(byteCount: .max, pieces: [0]),
    control(byteCount: UInt64(Int64.max), pieces: [0]),
    control(pieces: [0], open: [(4, 1_000_000, [0])]),
    [0, 1, 0, 0, 0, 1] + Array(control(pieces: [0]).dropFirst(6)),
  ])
  func `a damaged control file is refused`(bytes: [UInt8]) {
    #expect(throws: Aria2ControlFile.Invalid.self) { try Aria2ControlFile(bytes) }
  }

  @Test func `a control file that aria2c 1.36 has written is read`() throws {
    // Two of four pieces, and nine blocks of each of the others.
    let bytes: [UInt8] = [
      0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x3D, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x01, 0xA0, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x10,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0xFF, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x03, 0x00, 0x0D, 0x09, 0x00, 0x00, 0x00, 0x00, 0x07, 0xFF, 0x80, 0x00, 0x00,
      0x00, 0x00, 0x00,
    ]
    let file = try Aria2ControlFile(bytes)
    #expect(file.byteCount == 4_000_000)
    #expect(file.ranges == ByteRanges([0..<1_196_032, 2_097_152..<3_293_184]))
  }

  // MARK: The command

  @Test func `only the missing bytes of an adopted file are requested`() async throws {
    let ranges = ByteRanges([0..<1_000_000, 3_000_000..<4_000_000])
    let path = try leave(Self.control(pieces: [0b1001_0000]), ranges)
    let added = await dlstore([
      "--store", store, "add", server.url("/a"), "--adopt", path, "--checksum", try digest,
    ])
    #expect(added.status == .done, "\(added.messages)")
    #expect(added.messages.contains("copied 2000000 of 4000000 bytes"))
    let records = try RecordStore(at: store)
    let record = try records.record(matching: server.url("/a"))
    #expect(record.committed == ranges && record.state == .waiting)
    let run = await dlstore("--store", store, "run", "--until-idle", "--quiet")
    let failures = try records.record(matching: server.url("/a")).attempts.map(\.failure)
    #expect(run.status == .done, "\(run.messages) \(failures)")
    #expect(server.requests.map { $0["Range"] } == ["bytes=1000000-2999999"])
    #expect(Self.body.matches(file: "\(store)/files/a"))
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `the finished file replaces an adopted file of its name`() async throws {
    let path = try leave(Self.control(pieces: [0b1100_0000]), ByteRanges(upTo: 2_000_000))
    try RecordStore(at: store).setRoot(folder.path("files"))
    let added = await dlstore([
      "--store", store, "add", server.url("/a"), "--adopt", path, "--checksum", try digest,
    ])
    #expect(added.status == .done, "\(added.messages)")
    #expect(await dlstore("--store", store, "run", "--until-idle", "--quiet").status == .done)
    #expect(Self.body.matches(file: path))
    #expect(server.requests.map { $0["Range"] } == ["bytes=2000000-"])
  }

  @Test func `a file of another program with the finished name is not replaced`() async throws {
    let path = try leave(Self.control(pieces: [0b1100_0000]), ByteRanges(upTo: 2_000_000))
    let root = folder.path("root")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    try Data("theirs".utf8).write(to: URL(filePath: root + "/a"))
    try RecordStore(at: store).setRoot(root)
    let added = await dlstore([
      "--store", store, "add", server.url("/a"), "--adopt", path, "--checksum", try digest,
    ])
    #expect(added.status == .done, "\(added.messages)")
    #expect(await dlstore("--store", store, "run", "--until-idle", "--quiet").status == .done)
    #expect(try String(contentsOfFile: root + "/a", encoding: .utf8) == "theirs")
    let name = try RecordStore(at: store).record(matching: server.url("/a")).filename
    #expect(name != "a" && Self.body.matches(file: "\(root)/\(name)"))
  }

  @Test func `an adopted file with other bytes than its digest is downloaded again`() async throws {
    let path = try leave(Self.control(pieces: [0b1111_0000]), ByteRanges(upTo: 1_000_000))
    let added = await dlstore([
      "--store", store, "add", server.url("/a"), "--adopt", path, "--checksum", try digest,
    ])
    #expect(added.status == .done, "\(added.messages)")
    let run = await dlstore("--store", store, "run", "--until-idle", "--quiet")
    #expect(run.status == .done, "\(run.messages)")
    #expect(server.requests.count == 1)
    #expect(Self.body.matches(file: "\(store)/files/a"))
  }

  @Test func `a file that does not fit its control file is refused, and nothing is stored`()
    async throws
  {
    let path = try leave(Self.control(pieces: [0b1111_0000]), ByteRanges())
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 100)
    try handle.close()
    let short = await dlstore("--store", store, "add", server.url("/a"), "--adopt", path)
    #expect(short.status == .damaged)
    try Data("x".utf8).write(to: URL(filePath: path + ".aria2"))
    let invalid = await dlstore("--store", store, "add", server.url("/a"), "--adopt", path)
    #expect(invalid.status == .damaged && invalid.messages.contains("control file"))
    #expect(!FileManager.default.fileExists(atPath: "\(store)/data.mdb"))
  }

  @Test func `a link is refused with the file that it leads to`() async throws {
    let path = try leave(Self.control(pieces: [0b1100_0000]), ByteRanges(upTo: 2_000_000))
    let link = folder.path("link")
    #expect(unsafe symlink(path, link) == 0)
    for hasControl in [false, true] {
      if hasControl {
        try FileManager.default.copyItem(atPath: path + ".aria2", toPath: link + ".aria2")
      }
      let result = await dlstore("--store", store, "add", server.url("/a"), "--adopt", link)
      #expect(result.status == .damaged)
      #expect(result.messages.contains("link is a symbolic link: give "), "\(result.messages)")
      #expect(result.messages.contains("files/a, with its control file"), "\(result.messages)")
    }
    #expect(unlink(path) == 0)
    let dangling = await dlstore("--store", store, "add", server.url("/a"), "--adopt", link)
    #expect(dangling.status == .damaged)
    #expect(dangling.messages.contains("link is a symbolic link\n"), "\(dangling.messages)")
    let missing = await dlstore("--store", store, "add", server.url("/a"), "--adopt", path)
    #expect(missing.status == .notFound && missing.messages.contains("cannot read \(path)"))
    let other = await dlstore("--store", store, "add", server.url("/a"), "--adopt", folder.path)
    #expect(other.status == .damaged && other.messages.contains("not a regular file"))
    #expect(!FileManager.default.fileExists(atPath: "\(store)/data.mdb"))
  }

  @Test func `a control file that is a pipe is refused`() async throws {
    let path = try folder.makeFile("part", "x")
    #expect(unsafe mkfifo(path + ".aria2", 0o600) == 0)
    let result = await dlstore("--store", store, "add", server.url("/a"), "--adopt", path)
    #expect(result.status == .damaged && result.messages.contains("not a regular file"))
  }

  @Test func `a known download with other bytes adopts nothing`() async throws {
    let path = try leave(Self.control(pieces: [0b1100_0000]), ByteRanges(upTo: 2_000_000))
    let arguments = ["--store", store, "add", server.url("/a"), "--adopt", path]
    let first = await dlstore(arguments)
    #expect(first.status == .done && first.messages.contains("--continue-unvalidated"))
    // A call that was killed has perhaps printed nothing.
    let again = await dlstore(arguments)
    #expect(again.status == .done && again.output.contains("known"), "\(again.messages)")
    try changeByte(of: path)
    let other = await dlstore(arguments)
    #expect(other.status == .failed && other.messages.contains("known download"))
  }

  @Test func `the bytes of curl and wget, which have no control file, are continued`() async throws
  {
    let path = folder.path("begun")
    try Data(Self.body.bytes(at: 0, count: 1_500_000)).write(to: URL(filePath: path))
    let added = await dlstore([
      "--store", store, "add", server.url("/a"), "--adopt", path, "--checksum", try digest,
    ])
    #expect(added.status == .done && added.messages.contains("copied the first 1500000 bytes"))
    #expect(await dlstore("--store", store, "run", "--until-idle", "--quiet").status == .done)
    #expect(server.requests.map { $0["Range"] } == ["bytes=1500000-"])
    #expect(Self.body.matches(file: "\(store)/files/a"))
  }

  /// Another program has stored no validator, but the time of its file.
  @Test(arguments: [true, false])
  func `a file that was begun before the server's was changed is downloaded again`(
    isChanged: Bool
  ) async throws {
    let path = folder.path("begun")
    try Data(Self.body.bytes(at: 0, count: 1_500_000)).write(to: URL(filePath: path))
    let written = Date(timeIntervalSince1970: 1_700_000_000.5)
    try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path)
    let body = isChanged ? Body.generated(byteCount: Self.size, seed: 32) : Self.body
    // The same second as that of the file, in which either may be later, and the one before.
    let time = isChanged ? "22:13:20" : "22:13:19"
    server.route("/a", Resource(body, etag: "\"2\"", lastModified: "Tue, 14 Nov 2023 \(time) GMT"))
    #expect(
      await dlstore("--store", store, "add", server.url("/a"), "--adopt", path).status == .done
    )
    let run = ["--store", store, "run", "--until-idle", "--quiet", "--continue-unvalidated"]
    #expect(await dlstore(run).status == .done)
    let requests = ["bytes=1500000-"] + (isChanged ? [nil] : [])
    #expect(server.requests.map { $0["Range"] } == requests)
    #expect(body.matches(file: "\(store)/files/a"))
  }

  // MARK: Sessions

  /// Writes a session with one download, whose file is in the folder `files`.
  func session(_ options: String...) throws -> String {
    let options = ["dir=\(folder.path("files"))"] + options
    let lines = [server.url("/a") + "\t"] + options.map { " \($0)" }
    return try folder.makeFile("aria2.session", lines.joined(separator: "\n") + "\n")
  }

  @Test(arguments: [false, true])
  func `an import takes over what aria2 has received, and then deletes its files`(
    isKept: Bool
  ) async throws {
    let ranges = ByteRanges([0..<1_000_000, 3_000_000..<4_000_000])
    let path = try leave(Self.control(pieces: [0b1001_0000]), ranges)
    let digest = try digest.replacingOccurrences(of: "sha256:", with: "sha-256=")
    let session = try session("checksum=\(digest)", "split=4", "file-allocation=none")
    let arguments =
      ["--store", store, "import", "--format", "aria2", session]
      + (isKept ? ["--keep-partials"] : [])
    let result = await dlstore(arguments)
    #expect(result.status == .done, "\(result.messages)")
    #expect(!result.messages.contains("unsupported"))
    let record = try RecordStore(at: store).record(matching: server.url("/a"))
    #expect(record.committed == ranges && record.state == .waiting && record.filename == "a")
    for file in [path, path + ".aria2"] {
      #expect(FileManager.default.fileExists(atPath: file) == isKept)
    }
    // A repeated import, also after a kill, changes nothing.
    let again = await dlstore(arguments)
    #expect(again.status == .done, "\(again.messages)")
    #expect(try RecordStore(at: store).record(matching: server.url("/a")).committed == ranges)
    #expect(await dlstore("--store", store, "run", "--until-idle", "--quiet").status == .done)
    #expect(server.requests.map { $0["Range"] } == ["bytes=1000000-2999999"])
    #expect(Self.body.matches(file: path))
  }

  @Test func `a paused download keeps its bytes and its pause`() async throws {
    _ = try leave(Self.control(pieces: [0b1000_0000]), ByteRanges(upTo: 1_000_000))
    let session = try session("pause=true")
    let result = await dlstore("--store", store, "import", "--format", "aria2", session)
    #expect(result.status == .done && result.messages.contains("--continue-unvalidated"))
    let record = try RecordStore(at: store).record(matching: server.url("/a"))
    #expect(record.state == .paused && record.received == 1_000_000)
  }

  @Test func `a finished file with the digest of the session is not downloaded again`() async throws
  {
    let path = try leave(Self.control(pieces: [0]), ByteRanges(upTo: Self.size))
    try FileManager.default.removeItem(atPath: path + ".aria2")
    let digest = try digest.replacingOccurrences(of: "sha256:", with: "sha-256=")
    let session = try session("checksum=\(digest)")
    let result = await dlstore("--store", store, "import", "--format", "aria2", session)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try RecordStore(at: store).record(matching: server.url("/a")).state == .completed)
  }

  @Test func `a damaged control file is reported, and its files stay`() async throws {
    let path = try leave([0, 2], ByteRanges())
    let session = try session()
    let result = await dlstore("--store", store, "import", "--format", "aria2", session)
    #expect(result.status == .failed && result.messages.contains("not a control file"))
    #expect(FileManager.default.fileExists(atPath: path + ".aria2"))
    #expect(try RecordStore(at: store).record(matching: server.url("/a")).received == 0)
  }

  @Test func `the files of a Metalink document are those of the session's path to it`() async throws
  {
    let path = try leave(Self.control(pieces: [0b1000_0000]), ByteRanges(upTo: 1_000_000))
    _ = try folder.makeFile(
      "x.meta4",
      """
      <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">
      <url>\(server.url("/a"))</url></file></metalink>
      """
    )
    let session = try folder.makeFile("s", "x.meta4\n dir=\(folder.path("files"))\n")
    let result = await dlstore("--store", store, "import", "--format", "aria2", session)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try RecordStore(at: store).record(matching: server.url("/a")).received == 1_000_000)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [["--input-file", "x"], ["http://a/2"]])
  func `adopting requires one URL`(arguments: [String]) async {
    let result = await dlstore(
      ["--store", store, "add", "http://a/1", "--adopt", "x"] + arguments
    )
    #expect(result.status == .usage)
  }

  @Test(arguments: ["keep", "fail"])
  func `adopting cannot promise that a file of the name stays`(collision: String) async {
    let result = await dlstore(
      "--store",
      store,
      "add",
      "http://a/1",
      "--adopt",
      "x",
      "--if-exists",
      collision
    )
    #expect(result.status == .usage)
    #expect(result.messages.contains("--if-exists \(collision)"))
    #expect(!FileManager.default.fileExists(atPath: store))
  }
}
