/// How much of what has changed a store remembers.
///
/// The oldest commits are forgotten in the commit that would go beyond either bound.
public struct HistoryLimit: Sendable, Hashable {
  /// At most so many commits; 0 for none.
  public var commits: Int
  /// At most so many bytes; 0 for none.
  ///
  /// A commit that changed one object takes about 30 bytes.
  public var byteCount: Int

  /// Bounds the history.
  public init(commits: Int = 10_000, byteCount: Int = 16 << 20) {
    self.commits = commits
    self.byteCount = byteCount
  }

  /// Ten thousand commits, and 16 MiB.
  public static let standard = HistoryLimit()

  /// No history: commits cost less, and a reader cannot learn what those of other processes
  /// changed without reading everything again.
  public static let off = HistoryLimit(commits: 0, byteCount: 0)

  var isOff: Bool { commits <= 0 || byteCount <= 0 }
}
