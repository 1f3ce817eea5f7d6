import DownloadStore
import Foundation
import TestSupport
import Testing

@Suite struct DigestTests {
  static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  /// The digests of "abc" that the standards give (RFC 1321, FIPS 180-4).
  static let abc: [Digest.Algorithm: String] = [
    .md5: "900150983cd24fb0d6963f7d28e17f72",
    .sha1: "a9993e364706816aba3e25717850c26c9cd0d89d",
    .sha256: sha256,
    .sha512: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
      + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  ]

  @Test(arguments: [
    ("", Digest.Algorithm.sha256), ("sha256:", .sha256), ("sha-256:", .sha256),
    ("sha256=", .sha256), ("sha-256=", .sha256), ("SHA256:", .sha256), ("SHA-256=", .sha256),
    ("", .md5), ("md5:", .md5), ("MD5=", .md5),
    ("", .sha1), ("sha1:", .sha1), ("sha-1=", .sha1), ("SHA-1:", .sha1),
    ("", .sha512), ("sha512:", .sha512), ("sha-512=", .sha512),
  ])
  func `a digest is parsed in its common notations`(
    prefix: String,
    algorithm: Digest.Algorithm
  ) throws {
    let digits = try #require(Self.abc[algorithm])
    let digest = try Digest(prefix + digits)
    #expect(digest.algorithm == algorithm)
    #expect(digest.hexadecimal == digits)
    #expect(try Digest(prefix + digits.uppercased()) == digest)
    #expect(digest.text == "\(algorithm.rawValue):\(digits)")
    #expect(try Digest(digest.text) == digest)
  }

  @Test(arguments: [
    "", ":", "=", "sha256", "sha256:", "sha256:ab", sha256 + "0", String(sha256.dropLast()),
    "md5:" + sha256, "sha512:" + sha256, "sha1:" + sha256, "sha384:" + sha256, ":" + sha256,
    "md-5:900150983cd24fb0d6963f7d28e17f72", "sha-:" + sha256, "sha--256:" + sha256,
    "sha2-56:" + sha256, "sha256:sha256:" + sha256, "sha256:=" + sha256,
    String(sha256.dropLast()) + "g", String(sha256.dropLast()) + "é", " " + sha256,
    sha256 + "\n", "sha256: " + sha256, String(sha256.dropLast(3)) + "０",
  ])
  func `an invalid digest is rejected`(text: String) {
    let error = #expect(throws: RecordStoreError.self) { try Digest(text) }
    #expect(error?.code == .invalidDigest)
  }

  @Test(arguments: Digest.Algorithm.allCases)
  func `the digest of "abc" is the one in the standard`(
    algorithm: Digest.Algorithm
  ) throws {
    let folder = try TemporaryFolder()
    let digest = try Digest.ofFile(at: folder.makeFile("a", "abc"), algorithm)
    #expect(digest.hexadecimal == Self.abc[algorithm])
    #expect(digest.algorithm == algorithm)
  }

  @Test(arguments: [
    (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    // More than one read takes.
    (3_000_000, "2a152c894398719c0570f83fac34ac03a0f6e8e474b995c2403aa5434f7b9dd4"),
  ])
  func `the digest of a file covers all of its bytes`(size: Int, digits: String) throws {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("a", String(repeating: "a", count: size))
    #expect(try Digest.ofFile(at: path).hexadecimal == digits)
  }

  @Test func `a missing file has no digest`() throws {
    let folder = try TemporaryFolder()
    #expect(throws: (any Error).self) { try Digest.ofFile(at: folder.path + "/none") }
    #expect(throws: (any Error).self) { try Digest.ofFile(at: folder.path) }
  }

  @Test func `the strongest digest does not depend on the order`() throws {
    let digests = try Digest.Algorithm.allCases.map { algorithm in
      try Digest(String(repeating: "a", count: algorithm.digitCount))
    }
    #expect(try Digest.strongest(of: []) == nil)
    for count in 1...digests.count {
      let some = Array(digests.prefix(count))
      #expect(try Digest.strongest(of: some)?.algorithm == Digest.Algorithm.allCases[count - 1])
      #expect(try Digest.strongest(of: some.reversed() + some) == some.last)
    }
    let other = try Digest("md5:" + String(repeating: "b", count: 32))
    #expect(try Digest.strongest(of: digests + [other]) == digests.last)
    #expect(throws: RecordStoreError.self) { try Digest.strongest(of: [digests[0], other]) }
  }

  @Test(arguments: Digest.Algorithm.allCases)
  func `updates of any size produce the digest of the whole`(algorithm: Digest.Algorithm) throws {
    var random = SplitMix64(seed: 1)
    let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    var whole = DigestHasher(algorithm)
    whole.update(bytes.span)
    var pieces = DigestHasher(algorithm)
    var offset = 0
    while offset < bytes.count {
      let end = min(bytes.count, offset + Int.random(in: 0...300, using: &random))
      pieces.update(bytes.span.extracting(offset..<end))
      offset = end
      // Reading an intermediate digest changes nothing.
      if offset.isMultiple(of: 7) { _ = pieces.digest }
    }
    #expect(pieces.digest == whole.digest)
    #expect(pieces.byteCount == 100_000)
  }
}
