import Foundation
import RecordTestSupport
import SystemInterface
import TestSupport
import Testing

@testable import DownloadStore

/// A file of the user that a download continues.
@Suite struct ContinuedFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [
    ("", true), ("a", true), ("abc", true), ("abcd", false), ("b", false), ("ab ", false),
  ])
  func `a file begins with all bytes of another one, or not`(bytes: String, begins: Bool) throws {
    let path = try folder.makeFile("whole", "abc")
    let other = try folder.makeFile("start", bytes)
    #expect(FileBytes.begin(path, with: other) == begins)
  }

  @Test func `long files are compared to their ends`() throws {
    let bytes = [UInt8](repeating: 7, count: 2_500_000)
    let path = try folder.makeFile("whole", "")
    let other = try folder.makeFile("start", "")
    for last in [7, 8] as [UInt8] {
      try Data(bytes + [7, 7]).write(to: URL(filePath: path))
      try Data(bytes + [last]).write(to: URL(filePath: other))
      #expect(FileBytes.begin(path, with: other) == (last == 7))
    }
  }

  @Test func `a missing file and a link are not compared`() throws {
    let path = try folder.makeFile("whole", "abc")
    let link = folder.path("link")
    #expect(unsafe symlink(path, link) == 0)
    for other in [link, folder.path("missing")] {
      #expect(!FileBytes.begin(path, with: other))
      #expect(!FileBytes.begin(other, with: path))
    }
  }

  @Test func `only the file whose bytes were copied is continued`() throws {
    let path = try folder.makeFile("a.iso", "theirs")
    let theirs = try #require(FileIdentity(ofFileAt: path))
    func continued(_ name: String, _ change: (inout DownloadRecord) -> Void) -> String? {
      var record = DownloadRecord.sample(.waiting, .run)
      record.setFilename(name)
      change(&record)
      let layout = FileLayout(record: record, storeID: "s", rootPath: folder.path)
      return record.continuedPath(in: layout)
    }
    #expect(continued("a (2).iso") { $0.replaceFile(theirs) } == path)
    #expect(continued("a (7).iso") { $0.replaceFile(theirs) } == path)
    #expect(continued("a.iso") { $0.replaceFile(theirs) } == nil, "it replaces any file")
    #expect(continued("b (2).iso") { $0.replaceFile(theirs) } == nil)
    #expect(continued("a (2).iso") { _ in } == nil)
    var other = theirs
    other.modified += 1
    #expect(continued("a (2).iso") { $0.replaceFile(other) } == nil)
  }
}
