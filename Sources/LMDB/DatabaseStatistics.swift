internal import CLMDB

/// The size of a database at one moment.
///
/// ```swift
/// let size: DatabaseStatistics = try transaction.statistics(of: notes)
/// let pages = size.branchPages + size.leafPages + size.overflowPages
/// print("\(notes.name): \(size.entries) entries on \(pages) pages")
/// ```
public struct DatabaseStatistics: Sendable, Hashable {
  /// The number of entries.
  public var entries: Int
  /// The number of levels of the tree; 0 for an empty database.
  public var depth: Int
  /// The number of inner pages of the tree.
  public var branchPages: Int
  /// The number of pages that hold entries.
  public var leafPages: Int
  /// The number of pages of values that are too large for a leaf page.
  public var overflowPages: Int

  init(_ statistics: MDB_stat) {
    entries = Int(statistics.ms_entries)
    depth = Int(statistics.ms_depth)
    branchPages = Int(statistics.ms_branch_pages)
    leafPages = Int(statistics.ms_leaf_pages)
    overflowPages = Int(statistics.ms_overflow_pages)
  }
}
