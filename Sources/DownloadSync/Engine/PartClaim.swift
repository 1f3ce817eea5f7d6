internal import DownloadStore

/// The bytes that a connection is to write, and its position in the response.
///
/// A response delivers its bytes in order. The connection writes those that the claim has, and skips
/// the others, which other connections have written or are to write. Bytes are reserved before they
/// are written, so that no byte is written by two connections.
struct PartClaim: Sendable, Hashable {
  /// What to do with the next bytes of the response.
  enum Step: Sendable, Hashable {
    /// Write them at this range.
    case write(Range<Int64>)
    /// Skip this number of them.
    case skip(Int)
    /// Nothing: the connection has no bytes left to write.
    case end
    /// Nothing: the response has more bytes than it has declared.
    case excess
  }

  /// The offset of the next byte of the response.
  private(set) var position: Int64
  /// The offset after the last byte that the response has declared; the largest number if unknown.
  private(set) var responseEnd: Int64
  /// The bytes that are being written.
  private(set) var reserved: Range<Int64>
  /// Whether the connection was told that it has no bytes left to write.
  private(set) var hasEnded = false
  /// The next bytes to write.
  private(set) var current: Range<Int64>
  /// The bytes to write after a gap.
  private(set) var later = ByteRanges()

  /// Creates a claim.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to write, none of them before `position`.
  ///   - position: The offset of the first byte of the response.
  ///   - responseEnd: The offset after the last byte of the response; `nil` if unknown.
  init(_ bytes: ByteRanges, from position: Int64, to responseEnd: Int64? = nil) {
    self.position = position
    self.responseEnd = responseEnd ?? .max
    reserved = position..<position
    current = position..<position
    own(bytes)
  }

  /// The bytes that are left to write, without those that are being written.
  var rest: ByteRanges {
    var rest = later
    rest.insert(current)
    return rest
  }

  /// Whether the response has so many bytes before the next ones to write that a request for these
  /// would cost less.
  var skipsLong: Bool { !current.isEmpty && current.lowerBound - position > Self.longestSkip }

  /// The number of bytes that cost less than a request.
  private static let longestSkip: Int64 = 1 << 20

  private mutating func own(_ bytes: ByteRanges) {
    current = bytes.ranges.first ?? position..<position
    later = bytes
    later.remove(current)
  }

  /// Takes the next bytes of the response, up to a number.
  mutating func next(_ count: Int) -> Step {
    guard position < responseEnd else { return .excess }
    guard !current.isEmpty else {
      hasEnded = true
      return .end
    }
    // Bytes after the declared end are excess, although the claim may have their offsets.
    let count = min(Int64(count), responseEnd - position)
    guard position >= current.lowerBound else {
      let skipped = min(count, current.lowerBound - position)
      position += skipped
      return .skip(Int(skipped))
    }
    let end = position + min(count, current.upperBound - position)
    reserved = position..<end
    position = end
    if end < current.upperBound {
      current = end..<current.upperBound
    } else {
      own(later)
    }
    return .write(reserved)
  }

  /// Notes that the reserved bytes are written.
  ///
  /// - Returns: Whether the connection is to end although the response has more bytes.
  mutating func noteWritten() -> Bool {
    reserved = position..<position
    guard current.isEmpty, position < responseEnd else { return false }
    hasEnded = true
    return true
  }

  /// Gives up the bytes of a range that are not being written.
  mutating func give(_ range: Range<Int64>) {
    guard current.overlaps(range) || !later.isEmpty else { return }
    var bytes = rest
    bytes.remove(range)
    own(bytes)
  }

  /// Gives up the bytes of a range that the response reaches only after a gap, and returns them.
  mutating func giveSpare(_ range: Range<Int64>) -> ByteRanges {
    guard skipsLong else { return giveLater(range) }
    let given = rest.intersection(ByteRanges(CollectionOfOne(range)))
    give(range)
    return given
  }

  /// Gives up the bytes of a range that follow a gap, and returns them.
  mutating func giveLater(_ range: Range<Int64>) -> ByteRanges {
    let given = later.intersection(ByteRanges(CollectionOfOne(range)))
    later.remove(range)
    return given
  }

  /// Takes the bytes of a range, all of which the response still has.
  mutating func take(_ range: Range<Int64>) {
    var bytes = rest
    bytes.insert(range)
    own(bytes)
  }
}
