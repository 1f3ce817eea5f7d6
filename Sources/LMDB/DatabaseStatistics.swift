internal import CLMDB

/// The sizes of one database at one moment.
public struct DatabaseStatistics: Sendable, Hashable {
  /// How many entries there are.
  public var entries: Int
  /// How many pages lie between the root and an entry, both included; 0 without entries.
  public var depth: Int
  /// The pages that lead to others.
  public var branchPages: Int
  /// The pages that hold entries.
  public var leafPages: Int
  /// The pages of values too large for a leaf.
  public var overflowPages: Int

  init(_ statistics: MDB_stat) {
    entries = Int(statistics.ms_entries)
    depth = Int(statistics.ms_depth)
    branchPages = Int(statistics.ms_branch_pages)
    leafPages = Int(statistics.ms_leaf_pages)
    overflowPages = Int(statistics.ms_overflow_pages)
  }
}
