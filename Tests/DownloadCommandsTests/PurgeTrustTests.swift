import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `purge` deletes no file that this store did not download, whatever stands at its path.
struct PurgeTrustTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "http://h.example/a.bin"
  private static let ours = "the downloaded bytes"
  private static let theirs = "the bytes of another."

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  private func layout() throws -> FileLayout {
    try store.roots().layout(of: try store.record(matching: url))
  }

  private func change(_ body: (inout DownloadRecord) -> Void) throws {
    try store.objects.write { tx in _ = try tx.update(DownloadRecord.self, key: url, body) }
  }

  /// Makes the record a completed one, with the identity of the file at a path.
  private func complete(_ path: String) throws {
    let identity = try #require(FileIdentity(ofFileAt: path))
    try change { record in
      record.state = .completed
      record.received = identity.size
      record.expected = identity.size
      record.completedAt = Date()
      record.fileIdentity = identity
    }
  }

  /// Creates the finished file and completes the record.
  private func finish() throws -> String {
    let layout = try layout()
    try write(Self.ours, to: layout.finalPath)
    try complete(layout.finalPath)
    return layout.finalPath
  }

  private func write(_ text: String, to path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(),
      withIntermediateDirectories: true
    )
    try Data(text.utf8).write(to: url)
  }

  private func text(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }

  private func purge(_ options: String...) async -> CommandResult {
    let states = "waiting,running,paused,failed,finalizing,completed,cancelled"
    return await dlstore(
      ["--store", store.path, "purge", "--state", states, "--with-files", "--orphans", "--yes"]
        + options
    )
  }

  /// The replacements of a finished file by another program.
  enum Replacement: CaseIterable {
    /// A symbolic link to a foreign file, whose identity the record claims.
    case symbolicLink
    /// A second name of a foreign file.
    case hardLink
    /// A file of the same size and modification time.
    case copy
    /// Other bytes in the same file.
    case edit
    /// The file of another program, renamed over ours.
    case rename
    /// A folder with files.
    case folder
  }

  @Test(arguments: Replacement.allCases)
  func `a foreign file in the place of a finished file is kept`(
    _ replacement: Replacement
  ) async throws {
    let foreign = try folder.makeFile("elsewhere/foreign", Self.theirs)
    let path = try finish()
    let files = FileManager.default
    var kept = path
    switch replacement {
    case .symbolicLink:
      try files.removeItem(atPath: path)
      try files.createSymbolicLink(atPath: path, withDestinationPath: foreign)
      try complete(foreign)
    case .hardLink:
      try files.removeItem(atPath: path)
      try files.linkItem(atPath: foreign, toPath: path)
    case .copy:
      let modified = try #require(
        try files.attributesOfItem(atPath: path)[.modificationDate] as? Date
      )
      try write(Self.ours, to: path + ".new")
      try files.setAttributes([.modificationDate: modified], ofItemAtPath: path + ".new")
      try #require(rename(path + ".new", path) == 0)
    case .edit:
      // The clock of a file system may not advance between two writes.
      try files.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -60)],
        ofItemAtPath: path
      )
      try complete(path)
      let handle = try FileHandle(forUpdating: URL(filePath: path))
      try handle.write(contentsOf: Data("THE".utf8))
      try handle.close()
    case .rename:
      try write(Self.theirs, to: path + ".new")
      try #require(rename(path + ".new", path) == 0)
    case .folder:
      try files.removeItem(atPath: path)
      kept = path + "/inside"
      try write(Self.theirs, to: kept)
    }
    let before = text(kept)
    #expect(before != nil)

    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 0 files, 0 bytes"), "\(result)")
    #expect(text(kept) == before)
    #expect(text(foreign) == Self.theirs)
  }

  @Test func `a finished file that the user renamed is kept`() async throws {
    let path = try finish()
    try FileManager.default.moveItem(atPath: path, toPath: path + ".mine")
    let result = await purge()
    #expect(result.status == .done && text(path + ".mine") == Self.ours)
  }

  @Test func `a second name of a finished file is kept`() async throws {
    let path = try finish()
    let mine = folder.path("mine")
    try FileManager.default.linkItem(atPath: path, toPath: mine)
    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 1 file, \(Self.ours.utf8.count) bytes"))
    #expect(text(path) == nil && text(mine) == Self.ours)
  }

  @Test func `a folder replaced by a link to a foreign folder loses no file`() async throws {
    try change { $0.folder = "sub" }
    let path = try finish()
    let name = URL(filePath: path).lastPathComponent
    let foreign = try folder.makeFile("elsewhere/\(name)", Self.ours)
    let sub = URL(filePath: path).deletingLastPathComponent().path
    try FileManager.default.removeItem(atPath: sub)
    try FileManager.default.createSymbolicLink(
      atPath: sub,
      withDestinationPath: folder.path("elsewhere")
    )
    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 0 files, 0 bytes"), "\(result)")
    #expect(text(foreign) == Self.ours)
  }

  /// A folder and a file name as damage or another program may have stored them.
  @Test(arguments: [
    ("..", "foreign"), ("../elsewhere", "foreign"), ("x/../../elsewhere", "foreign"),
    ("", "../elsewhere/foreign"), ("./../elsewhere", "foreign"),
  ])
  func `a stored name that leads out of the root deletes nothing`(
    place: String,
    name: String
  ) async throws {
    let root = try layout().rootPath
    try FileManager.default.createDirectory(atPath: root + "/x", withIntermediateDirectories: true)
    try change { record in
      record.folder = place
      record.filename = name
    }
    let layout = try layout()
    // The file has every property by which a store recognizes its own.
    try write(Self.theirs, to: layout.finalPath)
    try complete(layout.finalPath)
    try write(Self.theirs, to: layout.partialPath)
    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 0 files, 0 bytes"), "\(result)")
    #expect(text(layout.finalPath) == Self.theirs)
    if place != "" { #expect(text(layout.partialPath) == Self.theirs) }
  }

  @Test(arguments: [
    ("..", "foreign"), ("../elsewhere", "foreign"), ("x/../../elsewhere", "foreign"),
    ("", "../elsewhere/foreign"),
  ])
  func `remove and cancel delete nothing at a stored name that leads out of the root`(
    place: String,
    name: String
  ) async throws {
    let root = try layout().rootPath
    try FileManager.default.createDirectory(atPath: root + "/x", withIntermediateDirectories: true)
    for command in [["cancel"], ["remove", "--with-file"]] {
      try change { record in
        record.folder = place
        record.filename = name
        record.state = .paused
        record.intent = .pause
      }
      let layout = try layout()
      // The files have every property by which a store recognizes its own.
      try write(Self.theirs, to: layout.finalPath)
      try write(Self.theirs, to: layout.partialPath)
      if command[0] == "remove" { try complete(layout.finalPath) }
      let result = await dlstore(["--store", store.path] + command + [url])
      #expect(result.status == .done, "\(result)")
      #expect(text(layout.finalPath) == Self.theirs, "\(command)")
      #expect(text(layout.partialPath) == Self.theirs, "\(command)")
    }
    #expect(try store.records(DownloadRecord.all).isEmpty)
  }

  @Test func `a link in the place of a partial file is kept, with its target`() async throws {
    let foreign = try folder.makeFile("elsewhere/foreign", Self.theirs)
    let partial = try layout().partialPath
    try write("", to: partial)
    try FileManager.default.removeItem(atPath: partial)
    try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: foreign)
    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 0 files, 0 bytes"), "\(result)")
    #expect(text(partial) == Self.theirs && text(foreign) == Self.theirs)
  }

  @Test func `a foreign file that got the name of a partial file keeps its other name`()
    async throws
  {
    let foreign = try folder.makeFile("elsewhere/foreign", Self.theirs)
    let partial = try layout().partialPath
    try write("", to: partial)
    try FileManager.default.removeItem(atPath: partial)
    try FileManager.default.linkItem(atPath: foreign, toPath: partial)
    _ = await purge()
    #expect(text(foreign) == Self.theirs)
  }

  @Test func `files of another store in the same folder are kept`() async throws {
    let other = try RecordStore(at: folder.path("other"))
    try other.setRoot(try layout().rootPath)
    try other.addNow([
      DownloadRequest(url: url), DownloadRequest(url: "http://h.example/b.bin"),
    ])
    let theirs = try other.records(DownloadRecord.all).map { try other.roots().layout(of: $0) }
    for layout in theirs { try write(Self.theirs, to: layout.partialPath) }
    let finished = try #require(theirs.last).finalPath
    try write(Self.theirs, to: finished)
    let ours = try layout().partialPath
    try write(Self.ours, to: ours)
    let result = await purge()
    #expect(result.output.contains("removed: 1 record, 1 file, \(Self.ours.utf8.count) bytes"))
    #expect(text(ours) == nil && text(finished) == Self.theirs)
    #expect(theirs.allSatisfy { text($0.partialPath) == Self.theirs })
    #expect(try other.records(DownloadRecord.all).count == 2)
  }

  #if os(Linux)
    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func `files that another user replaced are kept`() async throws {
      let path = try finish()
      try FileManager.default.removeItem(atPath: path)
      try write(Self.ours, to: path)
      try #require(unsafe chown(path, 65534, 65534) == 0)
      let result = await purge()
      #expect(result.output.contains("removed: 1 record, 0 files, 0 bytes"), "\(result)")
      #expect(text(path) == Self.ours)
    }
  #endif

  @Test func `the plan, the report and the folder agree on the number of bytes`() async throws {
    let finished = try finish()
    let urls = (0..<5).map { "http://h.example/\($0)" }
    try store.addNow(urls.map { DownloadRequest(url: $0) })
    let roots = try store.roots()
    for (index, record) in try store.records(DownloadRecord.all).enumerated()
    where record.url != url {
      // Sizes beside the boundaries of blocks, and an empty file.
      let size = [0, 1, 4_095, 4_096, 4_097, 100_001][index % 6]
      try write(String(repeating: "x", count: size), to: roots.layout(of: record).partialPath)
    }
    let root = try layout().rootPath
    try write(Self.theirs, to: root + "/foreign")
    func byteCount() throws -> Int {
      try FileManager.default.subpathsOfDirectory(atPath: root).reduce(0) { sum, name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(name)")
        let isFile = attributes[.type] as? FileAttributeType == .typeRegular
        return sum + (isFile ? attributes[.size] as? Int ?? 0 : 0)
      }
    }
    let before = try byteCount()
    let preview = await purge("--dry-run")
    #expect(try byteCount() == before && text(finished) == Self.ours)
    let result = await purge()
    let freed = try before - byteCount()
    #expect(freed > Self.ours.utf8.count)
    #expect(preview.output.contains("to remove: 6 records, 6 files, \(freed) bytes"))
    #expect(result.output.contains("to remove: 6 records, 6 files, \(freed) bytes"))
    #expect(result.output.contains("removed: 6 records, 6 files, \(freed) bytes"))
    #expect(text(root + "/foreign") == Self.theirs)
  }
}
