internal import DownloadStore

/// Chooses the range of the next connection of a download.
///
/// Pure.
enum ConnectionPlan {
  /// The range that a running connection is to fetch.
  struct Claim: Sendable, Hashable {
    /// The number of the connection.
    var number: Int
    /// The bytes that are not written yet.
    var range: Range<Int64>
    /// The offset from which on the range may be given to another connection.
    var reserved: Int64

    /// The number of bytes that may be given to another connection.
    var remaining: Int64 { range.upperBound - reserved }
  }

  /// What the next connection fetches.
  enum Step: Sendable, Hashable {
    /// A range that no connection is fetching.
    case fetch(Range<Int64>)
    /// The range of a running connection from an offset on.
    case split(number: Int, at: Int64)
  }

  /// Chooses what the next connection fetches.
  ///
  /// A range without a connection comes first, and of several the longest. Otherwise the longest
  /// rest of a running connection is halved, so that a fast connection takes over the rest of a slow
  /// one.
  ///
  /// - Parameters:
  ///   - missing: The bytes that are not written.
  ///   - claims: The ranges of the running connections.
  ///   - minimumLength: The shortest length of each half; `nil` to split no range.
  /// - Returns: The step; `nil` if there is nothing to fetch.
  static func next(missing: ByteRanges, claims: [Claim], minimumLength: Int64?) -> Step? {
    var free = missing
    for claim in claims { free.remove(claim.range) }
    let longest = free.ranges.max { left, right in
      // Of equally long ranges the first one.
      (left.count, right.lowerBound) < (right.count, left.lowerBound)
    }
    if let longest { return .fetch(longest) }
    guard let minimumLength = minimumLength.map({ max(1, $0) }),
      let claim = claims.max(by: { ($0.remaining, $1.number) < ($1.remaining, $0.number) }),
      claim.remaining / 2 >= minimumLength
    else { return nil }
    return .split(number: claim.number, at: claim.range.upperBound - claim.remaining / 2)
  }
}
