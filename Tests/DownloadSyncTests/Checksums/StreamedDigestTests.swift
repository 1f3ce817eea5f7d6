import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10)))
struct StreamedDigestTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("a.part") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// A digest that keeps at most 40,000 bytes in memory and reads 10,000 at a time.
  private func digest(of file: PartialFile, _ algorithm: Digest.Algorithm) -> StreamedDigest {
    StreamedDigest(of: file, algorithm, readLength: 10_000, capacity: 40_000)
  }

  private func write(_ bytes: [UInt8], to file: PartialFile, _ digest: StreamedDigest) throws {
    var offset = 0
    while offset < bytes.count {
      let piece = bytes.span.extracting(offset..<min(bytes.count, offset + 1_638))
      try file.write(piece)
      digest.append(piece)
      offset += piece.count
    }
  }

  @Test(arguments: Digest.Algorithm.allCases)
  func `streamed bytes are hashed without reading the file`(
    algorithm: Digest.Algorithm
  ) async throws {
    let file = try PartialFile(path: path, offset: 0)
    let digest = self.digest(of: file, algorithm)
    // Fewer bytes than the memory holds, so that none are read from the file.
    try write(bytes(30_000, seed: 1), to: file, digest)
    let streamed = try await digest.digest()
    #expect(streamed == (try Digest.ofFile(at: path, algorithm)))
    #expect(digest.bytesRead == 0)
  }

  @Test func `stored bytes are read and hashed before streamed bytes`() async throws {
    let before = bytes(50_000, seed: 2)
    try Data(before).write(to: URL(filePath: path))
    let file = try PartialFile(path: path, offset: 50_000)
    let digest = self.digest(of: file, .sha256)
    try write(bytes(20_000, seed: 3), to: file, digest)
    let streamed = try await digest.digest()
    #expect(streamed == (try Digest.ofFile(at: path)))
    #expect(digest.bytesRead >= 50_000)
  }

  @Test func `bytes beyond the memory limit are hashed, too`() async throws {
    let file = try PartialFile(path: path, offset: 0)
    let digest = self.digest(of: file, .sha512)
    try write(bytes(200_000, seed: 4), to: file, digest)
    let streamed = try await digest.digest()
    #expect(streamed == (try Digest.ofFile(at: path, .sha512)))
  }

  @Test(arguments: [0, 12_345])
  func `seeking back removes bytes from the digest`(offset: Int64) async throws {
    let file = try PartialFile(path: path, offset: 0)
    let digest = self.digest(of: file, .sha1)
    try write(bytes(30_000, seed: 5), to: file, digest)
    digest.seek(to: offset)
    if offset == 0 { try file.removeAll() } else { file.discard(offset..<Int64.max) }
    try write(bytes(40_000, seed: 6), to: file, digest)
    let streamed = try await digest.digest()
    #expect(streamed == (try Digest.ofFile(at: path, .sha1)))
  }

  @Test func `restarting the file while it is read does not fail`() async throws {
    for seed in 0..<20 as Range<UInt64> {
      try Data(repeating: 1, count: 80_000).write(to: URL(filePath: path))
      let file = try PartialFile(path: path, offset: 80_000)
      let digest = self.digest(of: file, .sha256)
      digest.seek(to: 0)
      try file.removeAll()
      try write(bytes(1_000, seed: seed), to: file, digest)
      let streamed = try await digest.digest()
      #expect(streamed == (try Digest.ofFile(at: path)))
    }
  }

  @Test func `a truncated file has no digest`() async throws {
    try Data(repeating: 1, count: 10_000).write(to: URL(filePath: path))
    let file = try PartialFile(path: path, offset: 10_000)
    try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 10)
    await #expect(throws: PartialFile.Failure.self) {
      try await digest(of: file, .md5).digest()
    }
  }

  @Test func `an empty file has the digest of no bytes`() async throws {
    let file = try PartialFile(path: path, offset: 0)
    let digest = try await digest(of: file, .md5).digest()
    #expect(digest.text == "md5:d41d8cd98f00b204e9800998ecf8427e")
  }
}
