import Foundation
import ObjectStore
import RecordTestSupport
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore

/// Finished files that were copied or moved to another disk.
@Suite struct AcceptFilesTests {
  private let fixture: StoreFixture
  private let url = "https://example.com/a.bin"
  private let digest: Digest

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url)
    var hasher = DigestHasher(.sha256)
    hasher.update([UInt8]("body".utf8).span)
    digest = hasher.digest
  }

  /// Completes the download and copies its file, which gets another inode.
  private func copied(
    digest: Digest?,
    contents: String = "body",
    age: TimeInterval = 0
  ) throws -> (path: String, known: FileIdentity) {
    let record = try fixture.finish(url)
    let path = try fixture.layout(of: record).finalPath
    let known = try #require(record.fileIdentity)
    if let digest {
      try fixture.change(url) { $0.verifiedDigest = digest.text }
    }
    try fixture.write(contents, to: path + ".new")
    try setModified(path + ".new", known.modificationDate.addingTimeInterval(age))
    #expect(rename(path + ".new", path) == 0)
    #expect(FileIdentity(ofFileAt: path)?.inode != known.inode)
    return (path, known)
  }

  private func accept(withoutDigest: Bool) throws -> AcceptedFiles {
    try fixture.store.acceptFiles(withoutDigest: withoutDigest)
  }

  private func final() throws -> FileInspection.Final {
    let record = try fixture.store.record(matching: url)
    return FileInspection.final(of: record, in: try fixture.layout(of: record))
  }

  @Test(arguments: [false, true])
  func `a copy with the time and the digest is the downloaded file`(withoutDigest: Bool) throws {
    // As tar does, which rounds times.
    let (path, _) = try copied(digest: digest, age: -0.9)
    #expect(try final() == .sizeOnly)
    let result = try accept(withoutDigest: withoutDigest)
    #expect(result == AcceptedFiles(acceptedCount: 1))
    #expect(try final() == .ours)
    let record = try fixture.store.record(matching: url)
    #expect(record.fileIdentity == FileIdentity(ofFileAt: path))
    #expect(record.verifiedDigest == digest.text && record.state == .completed)
    #expect(try accept(withoutDigest: withoutDigest) == AcceptedFiles())
    let plan = try fixture.store.purgePlan([record], withFiles: true)
    #expect(plan.files.map(\.path) == [path])
  }

  @Test(arguments: [nil, 3_600] as [TimeInterval?])
  func `without a digest, or with another time, the caller decides`(age: TimeInterval?) throws {
    _ = try copied(digest: age == nil ? nil : digest, age: age ?? 0)
    let before = try fixture.store.record(matching: url)
    #expect(try accept(withoutDigest: false) == AcceptedFiles(unprovenCount: 1))
    #expect(try fixture.store.record(matching: url) == before)
    let path = try fixture.layout(of: before).finalPath
    let unknown = AcceptedFiles.WithoutDigest(path: path, hasTime: true)
    #expect(
      try accept(withoutDigest: true)
        == AcceptedFiles(acceptedCount: 1, withoutDigest: age == nil ? [unknown] : [])
    )
    #expect(try final() == .ours)
  }

  @Test func `a copy without a digest and with another time is accepted by its size`() throws {
    let (path, _) = try copied(digest: nil, age: 3_600)
    let expected = AcceptedFiles(
      acceptedCount: 1,
      withoutDigest: [.init(path: path, hasTime: false)]
    )
    #expect(try accept(withoutDigest: true) == expected)
  }

  @Test func `a file without a digest that was written to where it is stays another file`() throws {
    let record = try fixture.finish(url)
    let path = try fixture.layout(of: record).finalPath
    let known = try #require(record.fileIdentity)
    try setModified(path, known.modificationDate.addingTimeInterval(3_600))
    #expect(FileIdentity(ofFileAt: path)?.inode == known.inode)
    #expect(try accept(withoutDigest: true) == AcceptedFiles(changedPaths: [path]))
    #expect(try fixture.store.record(matching: url).fileIdentity == known)
    // The digest shows that nothing but the time has changed.
    try fixture.change(url) { $0.verifiedDigest = digest.text }
    #expect(try accept(withoutDigest: true) == AcceptedFiles(acceptedCount: 1))
  }

  @Test(arguments: [false, true])
  func `a file with another digest is damaged`(withoutDigest: Bool) throws {
    let (path, known) = try copied(digest: digest, contents: "bodY")
    // No piece and no inode shows that it was the downloaded file.
    let expected = AcceptedFiles(damagedPaths: [path], unrecognizedPaths: [path])
    #expect(try accept(withoutDigest: withoutDigest) == expected)
    #expect(try fixture.store.record(matching: url).fileIdentity == known)
  }

  @Test func `files of other sizes, links and missing files are left alone`() throws {
    let (path, known) = try copied(digest: nil, contents: "other")
    #expect(try accept(withoutDigest: true) == AcceptedFiles())
    #expect(rename(path, path + ".moved") == 0)
    try fixture.write("body", to: path + ".target")
    #expect(unsafe symlink(path + ".target", path) == 0)
    #expect(try accept(withoutDigest: true) == AcceptedFiles())
    #expect(unlink(path) == 0)
    #expect(try accept(withoutDigest: true) == AcceptedFiles())
    #expect(try fixture.store.record(matching: url).fileIdentity == known)
  }

  #if os(Linux)
    @Test func `a file that cannot be read does not keep others from being accepted`() throws {
      _ = try copied(digest: digest)
      let other = "https://example.com/unreadable"
      try fixture.add(other)
      // The kernel refuses to read the first page, also to root.
      try fixture.store.setRoot("/proc/self", named: "proc")
      try fixture.change(other) { record in
        (record.root, record.filename, record.destination) = ("proc", "mem", "proc/mem")
        record.state = .completed
        record.expected = 0
        record.completedAt = Date()
        record.fileIdentity = FileIdentity(size: 0, inode: 1, modified: 1)
        record.verifiedDigest = digest.text
      }
      let failure = "reading /proc/self/mem: \(systemErrorText(EIO))"
      #expect(
        try accept(withoutDigest: true)
          == AcceptedFiles(acceptedCount: 1, readFailures: [failure])
      )
    }
  #endif

  @Test func `a file that a user has adopted stays the user's`() throws {
    let (path, _) = try copied(digest: nil)
    try fixture.change(url) { $0.hasForeignFile = true }
    #expect(try accept(withoutDigest: true).acceptedCount == 1)
    let record = try fixture.store.record(matching: url)
    #expect(record.hasForeignFile && record.fileIdentity == FileIdentity(ofFileAt: path))
    #expect(try fixture.store.purgePlan([record], withFiles: true).files.isEmpty)
  }

  @Test func `a record that changes while its file is read keeps its identity`() throws {
    let (_, known) = try copied(digest: digest)
    let result = try fixture.store.acceptFiles(withoutDigest: false) { _ in
      try fixture.change(url) { $0.generation += 1 }
    }
    #expect(result == AcceptedFiles())
    #expect(try fixture.store.record(matching: url).fileIdentity == known)
  }

  @Test func `many files are accepted in several commits`() throws {
    let count = 1_200
    try fixture.store.setRoot(fixture.folder.path("many"))
    let urls = (0..<count).map { "https://example.com/\($0)" }
    _ = try fixture.store.addNow(urls.map { DownloadRequest(url: $0) })
    for url in urls {
      let path = try fixture.layout(of: fixture.store.record(matching: url)).finalPath
      try fixture.write("x", to: path)
    }
    try fixture.store.objects.write { tx in
      for url in urls {
        _ = try tx.update(DownloadRecord.self, key: url) { record in
          record.state = .completed
          record.fileIdentity = FileIdentity(size: 1, inode: 1, modified: 1)
        }
      }
    }
    let before = try fixture.store.objects.commitNumber()
    #expect(try accept(withoutDigest: true).acceptedCount == count)
    #expect(try fixture.store.objects.commitNumber() == before + 2)
    #expect(try fixture.store.verifyFiles().problemCount == 0)
  }
}
