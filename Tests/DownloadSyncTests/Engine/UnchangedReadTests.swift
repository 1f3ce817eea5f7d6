import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Reads of a file that another program may change at the same time.
struct UnchangedReadTests {
  /// Reads a file that is changed during each of the first reads.
  private func read(changingDuring count: Int) throws -> (value: Int, identity: FileIdentity)? {
    var file = FileIdentity(size: 10, inode: 1, modified: 0)
    var reads = 0
    return try PartialFile.readUnchanged(
      identity: { file },
      read: { () throws(PartialFile.Failure) in
        reads += 1
        if reads <= count { file.modified += 1 }
        return reads
      }
    )
  }

  @Test(arguments: 0...2)
  func `a file that is changed while it is read is read again`(count: Int) throws {
    let found = try #require(try read(changingDuring: count))
    #expect(found.value == count + 1)
    #expect(found.identity.modified == Int64(count))
  }

  @Test func `a file that is changed during each read has no digest`() throws {
    #expect(try read(changingDuring: 3) == nil)
  }

  @Test func `a file that cannot be examined has no digest`() throws {
    let found = try PartialFile.readUnchanged(
      identity: { nil },
      read: { () throws(PartialFile.Failure) in 1 }
    )
    #expect(found == nil)
  }
}
