/// The range that a connection is to write.
///
/// Bytes are reserved before they are written, so that a range that is given to another connection
/// is written by that connection only.
struct PartClaim: Sendable, Hashable {
  /// The offset of the first byte.
  private(set) var start: Int64
  /// The offset before which all bytes of the claim are written.
  private(set) var written: Int64
  /// The offset before which all bytes are written or being written.
  private(set) var reserved: Int64
  /// The offset after the last byte; `nil` if the claim ends with the body.
  private(set) var end: Int64?
  /// The offset after the last requested byte; `nil` for the end of the body.
  private let requestedEnd: Int64?

  init(from start: Int64, to end: Int64? = nil) {
    self.start = start
    requestedEnd = end
    written = start
    reserved = start
    self.end = end
  }

  /// Whether all bytes of a claim with an end are reserved.
  var isFull: Bool { end.map { reserved >= $0 } ?? false }

  /// Reserves the next bytes, up to a number.
  mutating func reserve(_ count: Int) -> Range<Int64> {
    let start = reserved
    reserved += Int64(count)
    if let end { reserved = max(start, min(reserved, end)) }
    return start..<reserved
  }

  /// Notes that the reserved bytes are written.
  mutating func noteWritten() {
    written = reserved
  }

  /// Gives the bytes from an offset on to another connection.
  ///
  /// - Returns: Whether none of them were reserved.
  mutating func shorten(to offset: Int64) -> Bool {
    guard offset > reserved, end.map({ offset < $0 }) ?? true else { return false }
    end = offset
    return true
  }

  /// Takes back the bytes of a range that was given to another connection.
  ///
  /// - Parameters:
  ///   - range: The range, of which the other connection has written nothing.
  ///   - total: The size of the file.
  /// - Returns: Whether the range begins at the end of the claim, and the response still has it.
  mutating func takeBack(_ range: Range<Int64>, ofSize total: Int64) -> Bool {
    guard end == range.lowerBound, reserved < range.lowerBound,
      range.upperBound <= requestedEnd ?? total
    else { return false }
    end = range.upperBound == requestedEnd ?? total ? requestedEnd : range.upperBound
    return true
  }
}
