import DownloadStore
import Foundation
import ResumeData
import SystemInterface
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct TemporaryFileCopiesTests {
  private let folder: TemporaryFolder
  private let copies: TemporaryFileCopies
  private let name = "CFNetworkDownload_000001.tmp"
  private let rest = ResponseHead(status: 206, fields: [])

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("system"),
      withIntermediateDirectories: true
    )
    copies = try TemporaryFileCopies(
      folder: folder.path("copies"),
      systemFolder: folder.path("system"),
      interval: 10
    )
  }

  private func resumeData(
    _ received: Int64,
    url: String = "https://h/a",
    entityTag: String = "\"1\""
  ) throws -> Data {
    let draft = URLSessionResumeData.Draft(
      url: url,
      received: received,
      file: .temporaryName(name),
      entityTag: entityTag
    )
    return Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
  }

  private func write(_ byteCount: Int) throws {
    try folder.makeFile("system/\(name)", String(repeating: "x", count: byteCount))
  }

  private func copiedCount() throws -> Int64? {
    try copies.resumeData(of: "r").map { try URLSessionResumeData(Array($0)).received } ?? nil
  }

  @Test func `a task whose file is unknown is asked for resume data once`() throws {
    func mustAsk(_ held: Int64 = 5, of total: Int64? = 9) -> Bool {
      copies.mustAsk("r", held: held, of: total)
    }
    // A server has no answer to a request for the rest of a complete file.
    #expect(!mustAsk(9) && !mustAsk(of: nil))
    #expect(mustAsk() && !mustAsk())
    copies.forget("r")
    #expect(mustAsk())
    copies.forget("r")
    copies.note(try resumeData(5), of: "r")
    #expect(!mustAsk())
  }

  @Test func `an error page and another version of the file are not copied`() throws {
    func whole(_ status: Int, _ tag: String) -> ResponseHead {
      ResponseHead(status: status, fields: [HeaderField(name: "ETag", value: tag)])
    }
    copies.note(try resumeData(5), of: "r")
    try write(12)
    for response in [
      whole(503, "\"1\""), whole(200, "\"2\""), ResponseHead(status: 200, fields: []),
    ] {
      copies.progressed("r", held: 12, of: response)
      #expect(try copiedCount() == nil)
    }
    copies.progressed("r", held: 12, of: whole(200, "\"1\""))
    #expect(try copiedCount() == 12)
  }

  @Test func `a file is copied each time it has grown by the interval`() throws {
    try write(9)
    copies.progressed("r", held: 20, of: rest)
    #expect(try copiedCount() == nil, "the file is unknown")
    copies.note(try resumeData(5), of: "r")
    copies.progressed("r", held: 9, of: rest)
    #expect(try copiedCount() == nil)
    try write(12)
    copies.progressed("r", held: 12, of: rest)
    #expect(try copiedCount() == 12)
    try write(21)
    copies.progressed("r", held: 21, of: rest)
    #expect(try copiedCount() == 12)
    try write(25)
    copies.progressed("r", held: 22, of: rest)
    #expect(try copiedCount() == 25)
    // A task that begins again has fewer bytes.
    try write(3)
    copies.progressed("r", held: 3, of: rest)
    #expect(try copiedCount() == 3)
  }

  @Test func `the copy replaces a file that is missing or too short, and no other`() throws {
    copies.note(try resumeData(5), of: "r")
    try write(12)
    copies.progressed("r", held: 12, of: rest)
    let path = folder.path("system/\(name)")
    for lost in [nil, 3] as [Int?] {
      try FileManager.default.removeItem(atPath: path)
      if let lost { try write(lost) }
      copies.restore(try resumeData(12), of: "r")
      #expect(try Data(contentsOf: URL(filePath: path)).count == 12)
    }
    try write(15)
    copies.restore(try resumeData(12), of: "r")
    #expect(try Data(contentsOf: URL(filePath: path)).count == 15)
    try FileManager.default.removeItem(atPath: path)
    // The copy has fewer bytes than the resume data counts.
    copies.restore(try resumeData(13), of: "r")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a copy is deleted when its task continues another version of the file`() throws {
    copies.note(try resumeData(5), of: "r")
    try write(12)
    copies.progressed("r", held: 12, of: rest)
    copies.note(try resumeData(7), of: "r")
    #expect(try copiedCount() == 12, "the version is the same")
    copies.note(try resumeData(5, entityTag: "\"2\""), of: "r")
    #expect(try copiedCount() == nil)
    // The next copy contains the new version.
    copies.progressed("r", held: 12, of: rest)
    #expect(try copiedCount() == 12)
    copies.note(try resumeData(5, url: "https://h/b", entityTag: "\"2\""), of: "r")
    #expect(try copiedCount() == nil)
  }

  /// Runs `body` and returns the paths below the folder that it syncs, or tries to.
  private func syncs(isFailing: Bool = false, _ body: () throws -> Void) throws -> [String] {
    let paths = Mutex<[String]>([])
    let root = folder.path("")
    let note: @Sendable (String) -> Int32 = { path in
      paths.withLock { $0.append(String(path.dropFirst(root.count))) }
      return isFailing ? EIO : 0
    }
    try FileSynchronization.$observer.withValue(note, operation: body)
    return paths.withLock { $0 }
  }

  @Test func `a copy is synced before it counts, and so is its deletion`() throws {
    copies.note(try resumeData(5), of: "r")
    try write(12)
    let failed = try syncs(isFailing: true) { copies.progressed("r", held: 12, of: rest) }
    #expect(try failed == ["copies/r.new"] && copiedCount() == nil)
    let made = try syncs { copies.progressed("r", held: 12, of: rest) }
    #expect(try made == ["copies/r.new"] && copiedCount() == 12)
    let deleted = try syncs { copies.note(try resumeData(5, entityTag: "\"2\""), of: "r") }
    #expect(deleted == ["copies"])
  }

  @Test func `the copy does not replace a file of another version`() throws {
    copies.note(try resumeData(5), of: "r")
    try write(12)
    copies.progressed("r", held: 12, of: rest)
    let path = folder.path("system/\(name)")
    try FileManager.default.removeItem(atPath: path)
    copies.restore(try resumeData(12, entityTag: "\"2\""), of: "r")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a later process resumes from the copy until it is deleted`() throws {
    copies.note(try resumeData(5), of: "r")
    try write(12)
    copies.progressed("r", held: 12, of: rest)
    let later = try TemporaryFileCopies(
      folder: folder.path("copies"),
      systemFolder: folder.path("system"),
      interval: 10
    )
    #expect(later.recordIDs == ["r"])
    #expect(later.resumeData(of: "r") == copies.resumeData(of: "r"))
    later.forget("r")
    #expect(try folder.names(in: "copies").isEmpty && later.recordIDs.isEmpty)
  }

  @Test(arguments: ["", "../r", "a/b", "r.copy", String(repeating: "a", count: 65)])
  func `an id that is not a plain filename creates no file`(id: String) throws {
    copies.note(try resumeData(5), of: id)
    try write(12)
    copies.progressed(id, held: 12, of: rest)
    #expect(!copies.mustAsk(id, held: 1, of: 2))
    #expect(copies.resumeData(of: id) == nil)
    #expect(try folder.names(in: "copies").isEmpty)
  }
}
