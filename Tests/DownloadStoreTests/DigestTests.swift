import DownloadStore
import Foundation
import TestSupport
import Testing

@Suite struct DigestTests {
  static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

  @Test(arguments: ["", "sha256:", "sha-256:", "sha256=", "sha-256=", "SHA256:", "SHA-256="])
  func `a digest is read as people write it`(prefix: String) throws {
    #expect(try Digest(prefix + Self.abc).hexadecimal == Self.abc)
    #expect(try Digest(prefix + Self.abc.uppercased()).text == "sha256:\(Self.abc)")
  }

  @Test(arguments: [
    "", "sha256:", "sha256:ab", abc + "0", String(abc.dropLast()), "md5:" + abc,
    "sha256:sha256:" + abc,
    String(abc.dropLast()) + "g", String(abc.dropLast()) + "é", " " + abc, abc + "\n",
    String(abc.dropLast(3)) + "０",
  ]) func `what is no digest is refused`(text: String) {
    let error = #expect(throws: DownloadStoreError.self) { try Digest(text) }
    #expect(error?.code == .invalidDigest)
  }

  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    // More than is read at once.
    (3_000_000, "2a152c894398719c0570f83fac34ac03a0f6e8e474b995c2403aa5434f7b9dd4"),
  ]) func `the digest of a file is that of all of its bytes`(size: Int, digits: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("a", String(repeating: "a", count: size))
    #expect(try Digest.ofFile(at: path).hexadecimal == digits)
  }

  @Test func `the digest of three letters is the one in the standard`() throws {
    let folder = try TemporaryFolder()
    #expect(try Digest.ofFile(at: folder.makeFile("a", "abc")) == Digest(Self.abc))
  }

  @Test func `a file that is not there has no digest`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: (any Error).self) { try Digest.ofFile(at: folder.path + "/none") }
    #expect(throws: (any Error).self) { try Digest.ofFile(at: folder.path) }
  }
}
