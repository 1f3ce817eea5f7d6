import DownloadStore
import Foundation
import TestSupport
import Testing

@Suite struct FileIdentityTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `a file identity survives a rename and a second link`() throws {
    let path = try folder.makeFile("a", "12345")
    let fileIdentity = try #require(FileIdentity(ofFileAt: path))
    #expect(fileIdentity.size == 5)
    try FileManager.default.linkItem(atPath: path, toPath: path + "2")
    try FileManager.default.moveItem(atPath: path, toPath: path + "3")
    #expect(FileIdentity(ofFileAt: path + "2") == fileIdentity)
    #expect(FileIdentity(ofFileAt: path + "3") == fileIdentity)
    #expect(FileIdentity(ofFileAt: path) == nil)
  }

  @Test func `a file identity changes with size, modification time and file`() throws {
    let path = try folder.makeFile("a", "12345")
    let other = try folder.makeFile("b", "12345")
    let date = Date(timeIntervalSince1970: 1_000_000)
    try setModified(path, date)
    try setModified(other, date)
    let fileIdentity = try #require(FileIdentity(ofFileAt: path))
    #expect(fileIdentity.modified == 1_000_000 * 1_000_000_000)
    let otherFileIdentity = try #require(FileIdentity(ofFileAt: other))
    #expect(
      otherFileIdentity.size == fileIdentity.size
        && otherFileIdentity.modified == fileIdentity.modified
    )
    #expect(otherFileIdentity != fileIdentity)
    try setModified(path, date + 1)
    #expect(FileIdentity(ofFileAt: path) != fileIdentity)
    try Data("1234".utf8).write(to: URL(filePath: path))
    try setModified(path, date)
    #expect(FileIdentity(ofFileAt: path) != fileIdentity)
  }

  @Test func `the file identity of an open file is that of its path`() throws {
    let path = try folder.makeFile("a", "12345")
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? handle.close() }
    #expect(FileIdentity(ofDescriptor: handle.fileDescriptor) == FileIdentity(ofFileAt: path))
    #expect(FileIdentity(ofDescriptor: -1) == nil)
  }

  /// File systems such as tmpfs and XFS store times that 64 bits of nanoseconds cannot hold.
  @Test(
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs tmpfs"),
    arguments: [
      (Int.max, Int64.max), (9_223_372_037, .max), (-9_223_372_038, .min), (Int.min + 1, .min),
    ]
  )
  func `a time out of range is clamped`(seconds: Int, modified: Int64) throws {
    let path = "/dev/shm/dlstore-tests-\(UUID().uuidString)"
    try Data("1".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let times = [timespec(), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]
    #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    #expect(FileIdentity(ofFileAt: path)?.modified == modified)
  }

  @Test func `only regular files have a file identity`() throws {
    try folder.makeFile("a", "x")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link",
      withDestinationPath: folder.path + "/a"
    )
    #expect(FileIdentity(ofFileAt: folder.path) == nil)
    #expect(FileIdentity(ofFileAt: folder.path + "/link") == nil)
    #expect(FileIdentity(ofFileAt: folder.path + "/none") == nil)
    #expect(FileIdentity(ofFileAt: "/dev/null") == nil)
  }
}
