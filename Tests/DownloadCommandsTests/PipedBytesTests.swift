import DownloadStore
import Foundation
import Testing

@testable import DownloadCommands

@Suite struct PipedBytesTests {
  private let file = Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

  /// The state after a worker that was going to write the first bytes of a file.
  private func prefix(of file: Data, _ count: Int) throws -> PipedBytes.Prefix {
    var bytes = PipedBytes()
    _ = try bytes.take(file.prefix(count))
    return bytes.prefix
  }

  /// Takes a file in parts of a length, and returns the bytes to write.
  private func write(_ file: Data, in length: Int, _ given: PipedBytes) throws -> Data {
    var (bytes, written, rest) = (given, Data(), file)
    while !rest.isEmpty {
      written += try bytes.take(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    try bytes.end()
    #expect(try bytes.prefix == prefix(of: file, file.count))
    return written
  }

  @Test(arguments: [1, 7, 300, 2_000])
  func `each byte is written once`(_ length: Int) throws {
    #expect(try write(file, in: length, PipedBytes()) == file)
    for (written, announced) in [(0, 256), (1, 256), (255, 256), (256, 256), (1_000, 1_000)] {
      let bytes = PipedBytes(after: Int64(written), of: try prefix(of: file, announced))
      #expect(try write(file, in: length, bytes) == file.dropFirst(written))
    }
  }

  @Test(arguments: [1, 7, 300, 2_000])
  func `another version is an error before its first byte is written`(_ length: Int) throws {
    var other = file
    other[10] ^= 1
    let announced = try prefix(of: file, 256)
    // Bytes after the announced ones may differ: they were not written.
    var later = file
    later[256] ^= 1
    #expect(
      try write(later, in: length, PipedBytes(after: 200, of: announced)) == later.dropFirst(200)
    )
    for changed in [other, file.prefix(255), file.prefix(100), Data()] {
      #expect(throws: DownloadFailure.self) {
        try write(changed, in: length, PipedBytes(after: 200, of: announced))
      }
    }
  }

  @Test func `bytes that cannot be compared are an error`() throws {
    for announced in [nil, try prefix(of: file, 100)] {
      #expect(throws: DownloadFailure.self) {
        try write(file, in: 300, PipedBytes(after: 101, of: announced))
      }
    }
    #expect(try write(file, in: 300, PipedBytes(after: 0, of: nil)) == file)
  }

  @Test func `a prefix is decoded from its bytes only`() throws {
    let prefix = try prefix(of: file, 999)
    #expect(prefix.encoded.count == PipedBytes.Prefix.encodedLength)
    #expect(PipedBytes.Prefix(encoded: prefix.encoded) == prefix)
    #expect(PipedBytes.Prefix(encoded: []) == nil)
    #expect(PipedBytes.Prefix(encoded: Array(prefix.encoded.dropLast())) == nil)
    #expect(PipedBytes.Prefix(encoded: Array(repeating: 0, count: 72)) == nil)
  }
}
