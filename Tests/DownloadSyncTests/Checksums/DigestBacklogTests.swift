import TestSupport
import Testing

@testable import DownloadSync

@Suite struct DigestBacklogTests {
  private static let readLength: Int64 = 100
  private static let capacity = 300

  private func backlog(end: Int64) -> DigestBacklog {
    DigestBacklog(end: end, readLength: Self.readLength, capacity: Self.capacity)
  }

  private func append(_ count: Int, to backlog: inout DigestBacklog, byte: UInt8 = 1) {
    backlog.append([UInt8](repeating: byte, count: count).span)
  }

  @Test func `streamed bytes are hashed as they arrive`() {
    var backlog = self.backlog(end: 0)
    #expect(backlog.next() == nil)
    append(3, to: &backlog, byte: 7)
    append(2, to: &backlog, byte: 8)
    #expect(backlog.next() == .hash([7, 7, 7]))
    append(1, to: &backlog, byte: 9)
    #expect(backlog.next() == .hash([8, 8]))
    #expect(backlog.next() == .hash([9]))
    #expect(backlog.next() == nil)
    #expect(backlog.bytesRead == 0)
  }

  @Test func `bytes that were stored before are read from the file ahead of new bytes`() {
    let before = Self.readLength + 5
    var backlog = self.backlog(end: before)
    #expect(backlog.next() == .read(0..<Self.readLength))
    append(10, to: &backlog)
    #expect(backlog.next() == .read(Self.readLength..<before + 10))
    // All stored bytes are read, so new bytes are hashed from memory.
    append(4, to: &backlog)
    #expect(backlog.next() == .hash([1, 1, 1, 1]))
    #expect(backlog.next() == nil)
  }

  @Test func `memory is bounded, and bytes beyond the bound are read from the file`() {
    var backlog = self.backlog(end: 0)
    let half = Self.capacity / 2
    for _ in 0..<5 { append(half, to: &backlog) }
    var handedOver = 0
    var read: Int64 = 0
    while let step = backlog.next() {
      switch step {
      case .hash(let bytes): handedOver += bytes.count
      case .read(let part): read += part.upperBound - part.lowerBound
      case .reset: Issue.record("unexpected reset")
      }
    }
    #expect(handedOver == Self.capacity)
    #expect(read == Int64(3 * half))
    #expect(backlog.bytesRead == read)
  }

  @Test func `seeking before hashed bytes restarts the digest`() {
    var backlog = self.backlog(end: 0)
    append(10, to: &backlog)
    _ = backlog.next()
    backlog.seek(to: 0)
    #expect(backlog.isOutdated)
    append(4, to: &backlog, byte: 2)
    #expect(backlog.next() == .reset)
    #expect(backlog.next() == .hash([2, 2, 2, 2]))
    #expect(backlog.next() == nil)
  }

  @Test func `seeking to bytes that are not hashed yet drops only the bytes after the offset`() {
    var backlog = self.backlog(end: 0)
    append(10, to: &backlog)
    _ = backlog.next()
    append(10, to: &backlog)
    backlog.seek(to: 12)
    append(3, to: &backlog, byte: 2)
    #expect(backlog.next() == .read(10..<15))
    #expect(backlog.next() == nil)
  }

  @Test func `an empty chunk changes nothing`() {
    var backlog = self.backlog(end: 0)
    append(0, to: &backlog)
    #expect(backlog.next() == nil)
  }

  /// Random appends and seeks, with a worker that runs at any pace.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func `the hashed bytes are those of the file whatever the order of steps`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var file = (0..<Int.random(in: 0...1000, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
    var backlog = self.backlog(end: Int64(file.count))
    var taken: [UInt8] = []
    func work() -> Bool {
      switch backlog.next() {
      case .hash(let bytes): taken += bytes
      case .read(let part): taken += file[Int(part.lowerBound)..<Int(part.upperBound)]
      case .reset: taken = []
      case nil: return false
      }
      return true
    }
    for _ in 0..<300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let offset = Int.random(in: 0...file.count, using: &random)
        backlog.seek(to: Int64(offset))
        file.removeSubrange(offset...)
      case 1...5:
        let size = Int.random(in: 0...150, using: &random)
        let bytes = [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: size)
        file += bytes
        backlog.append(bytes.span)
      default:
        _ = work()
      }
    }
    while work() {}
    #expect(taken == file)
  }
}
