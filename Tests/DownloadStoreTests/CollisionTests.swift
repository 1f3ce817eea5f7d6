import DownloadStore
import Foundation
import ObjectStore
import RecordTestSupport
import TestSupport
import TestTraits
import Testing

/// Requests whose filename is taken.
@Suite struct CollisionTests {
  private let fixture: StoreFixture
  private let url = "https://two.example/a.zip"

  init() throws {
    fixture = try StoreFixture()
  }

  private var file: String { "\(fixture.folder.path)/\(StoreFixture.files)/a.zip" }

  private func add(_ collision: NameCollision) throws -> DownloadRecord {
    try fixture.add(url) { $0.collision = collision }.record
  }

  private func isRefused(_ collision: NameCollision) throws -> Bool {
    let error = #expect(throws: RecordStoreError.self) { try add(collision) }
    #expect(throws: RecordStoreError.self) { try fixture.store.record(matching: url) }
    return error?.code == .nameTaken
  }

  @Test(arguments: NameCollision.allCases)
  func `a free filename is used whatever the policy`(collision: NameCollision) throws {
    let record = try add(collision)
    #expect(record.filename == "a.zip")
    #expect(record.state == .waiting)
    #expect(record.fileIdentity == nil && record.replacedFileIdentity == nil)
  }

  @Test(.requirements("ZF13"))
  func `an existing file makes the request fail or get a numbered name`() throws {
    try fixture.write("theirs", to: file)
    #expect(try isRefused(.fail))
    #expect(try add(.number).filename == "a (2).zip")
  }

  @Test(.requirements("ZF13"))
  func `keeping the existing file completes the download with that file`() throws {
    try fixture.write("theirs", to: file)
    let record = try add(.keep)
    #expect(record.state == .completed)
    #expect(record.filename == "a.zip")
    #expect(record.received == 6 && record.expected == 6)
    #expect(record.completedAt == fixture.now)
    #expect(FileInspection(of: record, in: try fixture.layout(of: record)).final == .ours)
    #expect(try fixture.store.localPath(of: record) == file)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
  }

  /// Some of these files are created when they are needed.
  @Test(arguments: ["data.mdb", "lock.mdb", "changes", "engine.lock", "waiters", "LOCK.mdb"])
  func `no download gets the name of a file of its store`(name: String) throws {
    let own = fixture.store.path
    try fixture.store.setRoot(own, named: "own")
    for collision in [NameCollision.fail, .keep, .replace] {
      let error = #expect(throws: RecordStoreError.self) {
        try fixture.add(url) { ($0.root, $0.filename, $0.collision) = ("own", name, collision) }
      }
      #expect(error?.code == .nameTaken)
      #expect(error?.message == "'\(own)/\(name)' is a file of the store itself")
    }
    let numbered = try fixture.add(url) { ($0.root, $0.filename) = ("own", name) }.record
    #expect(numbered.filename == SafeFilename.numbered(name, 2))
    var update = RecordUpdate()
    update.filename = name
    #expect(throws: RecordStoreError.self) {
      try fixture.store.updateNow(matching: url, with: update)
    }
    // The names are free in other folders.
    let other = try fixture.add("https://three.example/") { $0.filename = name }.record
    #expect(other.filename == name)
  }

  @Test func `a request to keep the existing file cannot have a digest`() throws {
    try fixture.write("theirs", to: file)
    let digest = try Digest("sha256:" + String(repeating: "a", count: 64))
    let error = #expect(throws: RecordStoreError.self) {
      try fixture.add(url) { request in
        request.collision = .keep
        request.digest = digest
      }
    }
    #expect(error?.code == .invalidDigest)
  }

  @Test(.requirements("ZF13"))
  func `adding with replace records the existing file's identity and leaves the file`() throws {
    try fixture.write("theirs", to: file)
    let record = try add(.replace)
    #expect(record.state == .waiting)
    #expect(record.filename == "a.zip")
    #expect(record.replacedFileIdentity == FileIdentity(ofFileAt: file))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
  }

  @Test(arguments: [NameCollision.fail, .keep, .replace])
  func `the file of another download is neither kept nor replaced`(collision: NameCollision) throws
  {
    try fixture.add("https://one.example/a.zip")
    #expect(try isRefused(collision))
    try fixture.finish("https://one.example/a.zip")
    #expect(try isRefused(collision))
  }

  @Test(arguments: [NameCollision.fail, .keep, .replace])
  func `a folder or a symbolic link is neither kept nor replaced`(collision: NameCollision) throws {
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
    #expect(try isRefused(collision))
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/nowhere")
    #expect(try isRefused(collision))
  }

  // MARK: Files of the user

  /// The paths that removing the record would delete.
  private func deletedPaths(_ record: DownloadRecord) throws -> [String] {
    try fixture.store.purgePlan([record], withFiles: true).files.map(\.path)
  }

  @Test func `removing a download keeps the file that it has adopted`() throws {
    try fixture.write("theirs", to: file)
    let record = try add(.keep)
    #expect(record.hasForeignFile)
    let plan = try fixture.store.purgePlan([record], withFiles: true)
    #expect(plan.files == [] && plan.foreignPaths == [file])
    #expect(!record.applying(.remove(withFile: true)).removesFile)
    let list = try fixture.store.purgeList(DownloadRecord.all, withFiles: true)
    for batch in list.batches { try fixture.store.purge(batch) }
    #expect(throws: RecordStoreError.self) { try fixture.store.record(matching: url) }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
  }

  @Test func `removing a download keeps the file that it was to replace`() throws {
    try fixture.write("theirs", to: file)
    let record = try add(.replace)
    let removed = record.applying(.remove(withFile: true))
    #expect(removed.fileIdentity == nil && !removed.removesFile)
    #expect(try deletedPaths(record) == [] && deletedPaths(removed) == [])
    // The wish to replace it holds for later attempts, too.
    #expect(record.applying(.cancel).applying(.restart).replacedFileIdentity != nil)
  }

  @Test func `a removal at the rename deletes the new file, and not the replaced one`() throws {
    try fixture.write("theirs", to: file)
    var record = try add(.replace)
    let theirs = FileIdentity(ofFileAt: file)
    let complete = FileIdentity(size: 4, inode: 1, modified: 1)
    record.take(.fileComplete(.init(complete)), at: fixture.now)
    #expect(record.foreignFileIdentity == theirs && record.ownFileIdentity == complete)
    let removed = record.applying(.remove(withFile: true))
    #expect(removed.removesFile && removed.fileIdentity == complete)
    #expect(try deletedPaths(record) == [] && deletedPaths(removed) == [])
    // The file of the user has the same bytes, and stays.
    record.take(.fileComplete(.init(try #require(theirs))), at: fixture.now)
    #expect(!record.applying(.remove(withFile: true)).removesFile)
    #expect(try deletedPaths(record) == [])
  }

  @Test func `a finished file stays the download's if a restart, a removal and an addition follow`()
    throws
  {
    let known = "https://one.example/a.zip"
    try fixture.add(known)
    let finished = try fixture.finish(known)
    let identity = try #require(finished.fileIdentity)
    var record = finished.applying(.restart).applying(.remove(withFile: false))
    record.take(.addedAgain)
    #expect(record.replacedFileIdentity == identity && record.partialIdentity == nil)
    #expect(!record.hasForeignFile && record.ownFileIdentity == identity)
    #expect(record.applying(.remove(withFile: true)).removesFile)
  }

  @Test func `a restart does not replace the file that the download has adopted`() throws {
    try fixture.write("theirs", to: file)
    let record = try add(.keep).applying(.restart)
    #expect(record.state == .waiting)
    #expect(record.fileIdentity == nil && record.replacedFileIdentity == nil)
    #expect(!record.hasForeignFile)
    #expect(try !FileInspection(of: record, in: fixture.layout(of: record)).isReplaced)
  }

  @Test func `a removal after a restart at the rename keeps the user's file`() throws {
    try fixture.write("theirs", to: file)
    var record = try add(.replace)
    let complete = FileIdentity(size: 4, inode: 1, modified: 1)
    record.take(.fileComplete(.init(complete)), at: fixture.now)
    var restarted = record.applying(.restart).applying(.pause).applying(.restart)
    #expect(restarted.replacedFileIdentity == FileIdentity(ofFileAt: file))
    #expect(try FileInspection(of: restarted, in: fixture.layout(of: restarted)).isReplaced)
    #expect(!restarted.applying(.remove(withFile: true)).removesFile)
    #expect(try deletedPaths(restarted) == [])
    // The rename has succeeded after all.
    restarted.take(.started(keepingBytes: false, replacing: complete), at: fixture.now)
    #expect(restarted.replacedFileIdentity == complete && restarted.partialIdentity == nil)
    #expect(restarted.applying(.remove(withFile: true)).fileIdentity == complete)
  }

  @Test(arguments: [true, false])
  func `a digest decides whether an adopted file is the download's`(isCorrect: Bool) throws {
    try fixture.write("theirs", to: file)
    _ = try add(.keep)
    var hasher = DigestHasher(.sha256)
    hasher.update(Array((isCorrect ? "theirs" : "ours").utf8).span)
    let digest = hasher.digest
    let added = try fixture.add(url) { $0.digest = digest }
    if isCorrect {
      #expect(added.record.state == .completed && !added.record.hasForeignFile)
      #expect(try deletedPaths(added.record) == [file])
    } else {
      #expect(added.record.state == .waiting && added.note == .fileStays)
      #expect(added.record.replacedFileIdentity == nil)
    }
  }

  @Test func `a finished file that was downloaded is the download's again`() throws {
    try fixture.write("theirs", to: file)
    var record = try add(.replace)
    let identity = FileIdentity(size: 4, inode: 1, modified: 1)
    record.take(.fileComplete(.init(identity)), at: fixture.now)
    record.take(.completed(), at: fixture.now)
    #expect(!record.hasForeignFile)
    #expect(record.applying(.remove(withFile: true)).removesFile)
    #expect(record.applying(.restart).replacedFileIdentity == identity)
  }
}
