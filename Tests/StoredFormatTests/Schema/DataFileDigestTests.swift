import Foundation
import TestSupport
import Testing

@testable import MigrationTesting

@Suite struct DataFileDigestTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Returns the digest of a file of 2 MiB with two meta pages, after a change of some bytes.
  private func digest(changing offsets: Int...) throws -> DataFileDigest {
    var bytes = [UInt8](repeating: 7, count: 2 << 20)
    for page in 0..<2 {
      bytes.replaceSubrange(page * 4_096 + 16..<page * 4_096 + 20, with: [0xDE, 0xC0, 0xEF, 0xBE])
    }
    for offset in offsets { bytes[offset] ^= 1 }
    try Data(bytes).write(to: URL(filePath: folder.path("data.mdb")))
    return try DataFileDigest(ofStoreAt: folder.path)
  }

  @Test(arguments: [0, 90, 5_000, 70_000, 1_500_000, (2 << 20) - 1])
  func `files that differ in one byte are different`(offset: Int) throws {
    let (one, other) = (try digest(), try digest(changing: offset))
    #expect(one != other)
    #expect(try one == digest())
  }

  @Test func `a restored file may have another number in one meta page`() throws {
    let before = try digest()
    #expect(before.isRestored(before))
    #expect(try digest(changing: 144, 147).isRestored(before))
    #expect(try digest(changing: 4_096 + 144, 4_096 + 151).isRestored(before))
    #expect(try !digest(changing: 144, 152).isRestored(before))
    #expect(try !digest(changing: 144, 4_096 + 144).isRestored(before))
    #expect(try !digest(changing: 5_000).isRestored(before))
    #expect(try !digest(changing: 2 * 4_096 + 144).isRestored(before))
    #expect(try !digest(changing: 70_000).isRestored(before))
  }
}
