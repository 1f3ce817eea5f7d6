/// A point in the history of a store: everything up to some commit.
///
/// Keep it, in a file or in another store, to ask later what has changed since. The tokens of one
/// store are ordered as its commits are.
public struct HistoryToken: Sendable, Hashable, Codable, Comparable {
  /// The number of the last commit that changed objects.
  let number: UInt64
  /// Tells it from a commit of the same number in a copy that went another way.
  let nonce: UInt32

  /// Whether the left one is of an earlier commit.
  public static func < (left: Self, right: Self) -> Bool {
    (left.number, left.nonce) < (right.number, right.nonce)
  }
}
