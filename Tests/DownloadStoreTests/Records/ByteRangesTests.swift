import Foundation
import TestSupport
import Testing

@testable import DownloadStore

@Suite struct ByteRangesTests {
  /// Returns the set of the bytes of ranges.
  private func bytes(_ ranges: ByteRanges) -> Set<Int64> {
    Set(ranges.ranges.flatMap { $0 })
  }

  private func isNormal(_ ranges: ByteRanges) -> Bool {
    ranges.ranges.allSatisfy { !$0.isEmpty && $0.lowerBound >= 0 }
      && zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
  }

  private func random(_ random: inout SplitMix64) -> Range<Int64> {
    let start = Int64.random(in: 0..<64, using: &random)
    return start..<start + Int64.random(in: 0..<16, using: &random)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `every operation agrees with a set of bytes`(seed: UInt64) {
    var source = SplitMix64(seed: seed)
    var (ranges, model, other) = (ByteRanges(), Set<Int64>(), ByteRanges())
    for _ in 0..<200 {
      let range = random(&source)
      switch Int.random(in: 0..<3, using: &source) {
      case 0:
        ranges.insert(range)
        model.formUnion(range)
      case 1:
        ranges.remove(range)
        model.subtract(range)
      default:
        other.insert(range)
        if other.byteCount > 40 { other = ByteRanges() }
      }
      #expect(isNormal(ranges))
      #expect(bytes(ranges) == model)
      #expect(ranges.byteCount == Int64(model.count))
      #expect(ranges.end == (model.max().map { $0 + 1 } ?? 0))
      #expect(ranges.prefixLength == (0..<128).first { !model.contains($0) })
      #expect(ranges.isPrefix == (ranges.prefixLength == Int64(model.count)))
      #expect(ranges.contains(range) == model.isSuperset(of: range))
      #expect(bytes(ranges.gaps(in: range)) == Set(range).subtracting(model))
      #expect(bytes(ranges.intersection(other)) == model.intersection(bytes(other)))
      #expect(bytes(ranges.union(other)) == model.union(bytes(other)))
      #expect(ByteRanges(encoded: ranges.encoded) == ranges)
      #expect(ByteRanges(ranges.ranges.shuffled(using: &source)) == ranges)
    }
  }

  @Test func `the stored form has distances and lengths`() {
    let ranges = ByteRanges([0..<1, 129..<384])
    #expect(Array(ranges.encoded) == [0, 1, 128, 1, 255, 1])
    #expect(ranges.description == "0-0,129-383")
    let largest = ByteRanges([.max - 1 ..< .max])
    #expect(ByteRanges(encoded: largest.encoded) == largest)
    #expect(ByteRanges().encoded.isEmpty)
  }

  @Test(arguments: [
    [0], [0, 0], [1, 1, 0, 1], [0, 1, 1], [0x80, 0, 1], [0, 0x81, 0x80], [0x80],
    [UInt8](repeating: 0xFF, count: 9) + [1, 1], [UInt8](repeating: 0xFF, count: 8) + [0x7F, 1],
  ])
  func `bytes that no set produces are not decoded`(bytes: [UInt8]) {
    #expect(ByteRanges(encoded: Data(bytes)) == nil)
  }

  @Test func `only the first ranges are stored`() {
    let many = ByteRanges((0..<1_000).map { Int64($0) * 10..<Int64($0) * 10 + 1 })
    let stored = ByteRanges(encoded: many.encoded)
    #expect(stored?.ranges == Array(many.ranges.prefix(ByteRanges.storedLimit)))
    let more = many.encoded + Data([9, 1])
    #expect(ByteRanges(encoded: more) == nil)
  }

  // MARK: Records

  private func checkpoint(_ ranges: ByteRanges, _ record: inout DownloadRecord) {
    record.checkpoint(ranges, total: 1_000, entityTag: nil, lastModified: nil, at: Date())
  }

  private func empty() -> DownloadRecord {
    var record = StoredRecordTests.full
    record.dropBytes()
    record.resolvedBytes = 0
    return record
  }

  @Test func `a record with one range from zero stores only its length`() {
    var record = empty()
    checkpoint(ByteRanges(upTo: 40), &record)
    #expect(record.received == 40 && record.ranges == nil && record.isConsistent)
    #expect(record.committed == ByteRanges(upTo: 40))
  }

  @Test func `a record with a gap stores its ranges and their sum`() {
    var record = empty()
    checkpoint(ByteRanges([0..<40, 50..<60]), &record)
    #expect(record.received == 50 && record.isConsistent)
    #expect(record.committed == ByteRanges([0..<40, 50..<60]))
    checkpoint(ByteRanges([30..<45]), &record)
    #expect(record.committed == ByteRanges([0..<45, 50..<60]))
    #expect(record.resolvedBytes == 50)
    record.rollBack(to: 55, at: Date())
    #expect(record.committed == ByteRanges([0..<45, 50..<55]) && record.received == 50)
    checkpoint(ByteRanges([45..<50]), &record)
    #expect(record.received == 55 && record.ranges == nil)
    record.dropBytes()
    #expect(record.received == 0 && record.ranges == nil)
  }

  @Test func `ranges that contradict the record count no bytes`() {
    var record = empty()
    checkpoint(ByteRanges([10..<20]), &record)
    let changes: [(inout DownloadRecord) -> Void] = [
      { $0.received = 11 }, { $0.ranges = Data([1]) }, { $0.expected = 19 },
      { $0.ranges = Data([0, 10]) },
      {
        $0.ranges = nil
        $0.received = -1
      },
    ]
    for change in changes {
      var changed = record
      change(&changed)
      #expect(!changed.isConsistent)
      #expect(changed.committed.isEmpty)
    }
  }

  @Test func `sets of random ranges are those of their bytes`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let ranges = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        let start = Int64.random(in: 0..<20, using: &random)
        return start..<start + Int64.random(in: 0..<6, using: &random)
      }
      let bytes = Set(ranges.flatMap { Array($0) })
      let set = ByteRanges(ranges)
      var inserted = ByteRanges()
      for range in ranges { inserted.insert(range) }
      #expect(set == inserted && Set(set.ranges.flatMap { Array($0) }) == bytes)
      #expect(set.ranges.allSatisfy { !$0.isEmpty })
      #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      let other = ByteRanges([3..<9, 12..<14])
      #expect(set.union(other) == ByteRanges(set.ranges + other.ranges))
      let gaps = Set(set.gaps(in: 2..<18).ranges.flatMap { Array($0) })
      #expect(gaps == Set(2..<18).subtracting(bytes))
    }
  }

  @Test(.timeLimit(.minutes(10))) func `many ranges take no quadratic time`() {
    // With quadratic time these would take minutes.
    let ranges = (0..<300_000).map { Int64($0) * 4..<Int64($0) * 4 + 2 }
    let set = ByteRanges(ranges.reversed())
    #expect(set.ranges.count == ranges.count)
    #expect(set.gaps(in: 0..<1_200_000).ranges.count == ranges.count)
    #expect(
      set.union(ByteRanges(ranges.map { $0.lowerBound + 2..<$0.upperBound + 1 })).ranges.count
        == ranges.count
    )
  }
}
