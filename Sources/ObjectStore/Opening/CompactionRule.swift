/// When an open first gives the free pages of a store back to the disk.
///
/// LMDB uses free pages again and never shortens its file, so a store that has once been large stays
/// so. A compaction writes the pages that are in use to a new file: it is worth its time when much
/// is free.
public struct CompactionRule: Sendable, Hashable {
  /// The size of a file below which it is left as it is, in bytes.
  public var leastFileSize: Int64
  /// The part of the file that must be free, from 0 to 1.
  public var leastFreePart: Double

  /// A rule; without arguments: half of a file of 64 MiB or more.
  public init(leastFileSize: Int64 = 64 << 20, leastFreePart: Double = 0.5) {
    self.leastFileSize = leastFileSize
    self.leastFreePart = leastFreePart
  }

  /// Whether a file of that size, so much of it free, is to be compacted.
  ///
  /// One without free bytes never is.
  public func applies(fileSize: Int64, freeBytes: Int64) -> Bool {
    guard freeBytes > 0, fileSize >= leastFileSize else { return false }
    return Double(freeBytes) >= leastFreePart * Double(fileSize)
  }
}
