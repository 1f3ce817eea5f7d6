#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A set of byte offsets of a file, as sorted ranges.
///
/// The ranges are half-open, not empty, not negative, and neither overlap nor touch.
///
/// ```swift
/// var ranges = ByteRanges(upTo: 100)
/// ranges.insert(200..<300)
/// print(ranges.byteCount, ranges.gaps(in: 0..<400))  // 200, 100..<200 and 300..<400
/// ```
package struct ByteRanges: Sendable, Hashable {
  /// The largest number of ranges that a record stores.
  package static let storedLimit = 256

  /// The ranges in ascending order.
  package private(set) var ranges: [Range<Int64>]

  /// Creates an empty set.
  package init() {
    ranges = []
  }

  /// Creates the set of the bytes before an offset; empty if the offset is zero or negative.
  package init(upTo end: Int64) {
    ranges = end > 0 ? [0..<end] : []
  }

  /// Creates the union of some ranges, in any order.
  ///
  /// - Precondition: No range begins below zero.
  /// - Complexity: O(n log n) for n ranges; O(n) if they are sorted.
  package init(_ ranges: some Sequence<Range<Int64>>) {
    self.init()
    let ranges = Array(ranges)
    let isSorted = zip(ranges, ranges.dropFirst()).allSatisfy { $0.lowerBound <= $1.lowerBound }
    // In this order each range is inserted at the end.
    for range in isSorted ? ranges : ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      insert(range)
    }
  }

  /// Whether the set has no bytes.
  package var isEmpty: Bool { ranges.isEmpty }

  /// The number of bytes.
  ///
  /// - Complexity: O(n) for n ranges.
  package var byteCount: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// The offset after the last byte; zero if the set is empty.
  package var end: Int64 { ranges.last?.upperBound ?? 0 }

  /// The number of bytes before the first one that is missing.
  package var prefixLength: Int64 {
    ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0
  }

  /// Whether the set has exactly the bytes before ``end``.
  package var isPrefix: Bool { prefixLength == end }

  /// Whether the set has all bytes of a range.
  package func contains(_ range: Range<Int64>) -> Bool {
    range.isEmpty
      || ranges.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
  }

  /// Adds the bytes of a range, which must not begin below zero.
  ///
  /// - Complexity: O(n) for n ranges; O(1) at the end of the last range, and in it.
  package mutating func insert(_ range: Range<Int64>) {
    precondition(range.lowerBound >= 0, "a byte offset must not be negative")
    guard !range.isEmpty else { return }
    if let last = ranges.last, last.upperBound <= range.lowerBound {
      guard last.upperBound == range.lowerBound else { return ranges.append(range) }
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
      return
    }
    if let last = ranges.last, last.lowerBound <= range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      return
    }
    // The ranges that overlap or touch become one.
    let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.endIndex
    let after = ranges[first...].firstIndex { $0.lowerBound > range.upperBound } ?? ranges.endIndex
    var merged = range
    if first < after {
      merged =
        min(
          range.lowerBound,
          ranges[first].lowerBound
        )..<max(range.upperBound, ranges[after - 1].upperBound)
    }
    ranges.replaceSubrange(first..<after, with: CollectionOfOne(merged))
  }

  /// Removes the bytes of a range.
  ///
  /// - Complexity: O(n) for n ranges.
  package mutating func remove(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    ranges = ranges.flatMap { old in
      [
        old.clamped(to: .min..<range.lowerBound),
        old.clamped(to: range.upperBound..<max(old.upperBound, range.upperBound)),
      ]
      .filter { !$0.isEmpty }
    }
  }

  /// Returns the bytes that are in both sets.
  ///
  /// - Complexity: O(n + m) for n and m ranges.
  package func intersection(_ other: Self) -> Self {
    var result = Self()
    var (left, right) = (0, 0)
    while left < ranges.count, right < other.ranges.count {
      result.insert(ranges[left].clamped(to: other.ranges[right]))
      if ranges[left].upperBound < other.ranges[right].upperBound { left += 1 } else { right += 1 }
    }
    return result
  }

  /// Returns the bytes that are in either set.
  ///
  /// - Complexity: O(n + m) log (n + m) for n and m ranges.
  package func union(_ other: Self) -> Self {
    if other.isEmpty { return self }
    return isEmpty ? other : Self(ranges + other.ranges)
  }

  /// Returns the bytes of a range that are missing.
  ///
  /// - Complexity: O(n) for n ranges.
  package func gaps(in range: Range<Int64>) -> Self {
    var result = Self()
    var start = max(0, range.lowerBound)
    for old in ranges where old.upperBound > start {
      guard old.lowerBound < range.upperBound else { break }
      if old.lowerBound > start { result.insert(start..<old.lowerBound) }
      start = old.upperBound
    }
    if start < range.upperBound { result.insert(start..<range.upperBound) }
    return result
  }
}

// MARK: - Coding

extension ByteRanges {
  /// The stored form: for each range the distance from the end of the previous one, and the length,
  /// as unsigned LEB128 numbers.
  ///
  /// Only the first ``storedLimit`` ranges are stored. The bytes of the others do not count, and are
  /// downloaded again.
  package var encoded: Data {
    var bytes: [UInt8] = []
    var end: Int64 = 0
    for range in ranges.prefix(Self.storedLimit) {
      Self.append(UInt64(range.lowerBound - end), to: &bytes)
      Self.append(UInt64(range.upperBound - range.lowerBound), to: &bytes)
      end = range.upperBound
    }
    return Data(bytes)
  }

  /// Decodes the stored form.
  ///
  /// `nil` if it is invalid: only the bytes that ``encoded`` produces are accepted.
  package init?(encoded: Data) {
    self.init()
    var rest = encoded[...]
    while !rest.isEmpty {
      guard ranges.count < Self.storedLimit, let gap = Self.next(&rest),
        let length = Self.next(&rest), length > 0, gap > 0 || ranges.isEmpty
      else { return nil }
      let start = end.addingReportingOverflow(gap)
      let upper = start.partialValue.addingReportingOverflow(length)
      guard !start.overflow, !upper.overflow else { return nil }
      ranges.append(start.partialValue..<upper.partialValue)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Takes a number of at most 63 bits in its shortest form; `nil` if there is none.
  private static func next(_ bytes: inout Data.SubSequence) -> Int64? {
    var number: UInt64 = 0
    for shift in stride(from: 0 as UInt64, to: 63, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return byte == 0 && shift > 0 ? nil : Int64(number) }
    }
    return nil
  }
}

extension ByteRanges: CustomStringConvertible {
  /// The ranges with inclusive bounds, as in a `Range` field: `0-99,200-299`.
  package var description: String {
    ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
  }
}

// MARK: - Records

extension DownloadRecord {
  /// The bytes on disk that are synced and counted.
  ///
  /// Empty if the record contradicts itself; see ``isConsistent``.
  package var committed: ByteRanges {
    ranges == nil ? ByteRanges(upTo: received) : storedRanges ?? ByteRanges()
  }

  /// Whether `ranges` can be read, has `received` bytes, and is stored only if it is needed.
  package var isConsistent: Bool {
    ranges == nil ? received >= 0 : storedRanges != nil
  }

  /// The ranges in `ranges`; `nil` if there are none, or if they contradict the record.
  private var storedRanges: ByteRanges? {
    guard let ranges, let decoded = ByteRanges(encoded: ranges), decoded.byteCount == received,
      !decoded.isPrefix, expected.map({ decoded.end <= $0 }) ?? true
    else { return nil }
    return decoded
  }
}
