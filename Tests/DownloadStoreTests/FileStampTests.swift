import DownloadStore
import Foundation
import TestSupport
import Testing

@Suite struct FileStampTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test func `a stamp outlasts a rename and a second name`() throws {
    let path = try folder.makeFile("a", "12345")
    let stamp = try #require(FileStamp(ofFileAt: path))
    #expect(stamp.size == 5)
    try FileManager.default.linkItem(atPath: path, toPath: path + "2")
    try FileManager.default.moveItem(atPath: path, toPath: path + "3")
    #expect(FileStamp(ofFileAt: path + "2") == stamp)
    #expect(FileStamp(ofFileAt: path + "3") == stamp)
    #expect(FileStamp(ofFileAt: path) == nil)
  }

  @Test func `a stamp changes with size, time and file`() throws {
    let path = try folder.makeFile("a", "12345")
    let other = try folder.makeFile("b", "12345")
    let date = Date(timeIntervalSince1970: 1_000_000)
    try setModified(path, date)
    try setModified(other, date)
    let stamp = try #require(FileStamp(ofFileAt: path))
    #expect(stamp.modified == 1_000_000 * 1_000_000_000)
    let otherStamp = try #require(FileStamp(ofFileAt: other))
    #expect(otherStamp.size == stamp.size && otherStamp.modified == stamp.modified)
    #expect(otherStamp != stamp)
    try setModified(path, date + 1)
    #expect(FileStamp(ofFileAt: path) != stamp)
    try Data("1234".utf8).write(to: URL(filePath: path))
    try setModified(path, date)
    #expect(FileStamp(ofFileAt: path) != stamp)
  }

  @Test func `the stamp of an open file is that of its path`() throws {
    let path = try folder.makeFile("a", "12345")
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? handle.close() }
    #expect(FileStamp(ofDescriptor: handle.fileDescriptor) == FileStamp(ofFileAt: path))
    #expect(FileStamp(ofDescriptor: -1) == nil)
  }

  /// File systems such as tmpfs and XFS keep times that nanoseconds in 64 bits cannot.
  @Test(
    .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs tmpfs"),
    arguments: [
      (Int.max, Int64.max), (9_223_372_037, .max), (-9_223_372_038, .min), (Int.min + 1, .min),
    ]
  )
  func `a time outside of the range is clamped`(seconds: Int, modified: Int64) throws {
    let path = "/dev/shm/dlstore-tests-\(UUID().uuidString)"
    try Data("1".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let times = [timespec(), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]
    #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    #expect(FileStamp(ofFileAt: path)?.modified == modified)
  }

  @Test func `what is no file has no stamp`() throws {
    try folder.makeFile("a", "x")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link",
      withDestinationPath: folder.path + "/a"
    )
    #expect(FileStamp(ofFileAt: folder.path) == nil)
    #expect(FileStamp(ofFileAt: folder.path + "/link") == nil)
    #expect(FileStamp(ofFileAt: folder.path + "/none") == nil)
    #expect(FileStamp(ofFileAt: "/dev/null") == nil)
  }
}
