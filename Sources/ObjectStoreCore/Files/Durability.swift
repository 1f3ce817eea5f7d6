internal import LMDB

/// The durability of a commit once the write has returned.
///
/// With every durability, a commit survives the end of the process, even by SIGKILL. The cases
/// differ in the effect of a power failure or an operating system crash.
///
/// ```swift
/// for batch in batches {
///   try store.write(durability: Durability.ordered) { tx in try tx.upsert(contentsOf: batch) }
/// }
/// try store.sync()
/// ```
public enum Durability: Sendable, Hashable, CaseIterable, Comparable {
  /// A power failure may corrupt the file.
  ///
  /// This holds until a later commit with ``ordered`` or ``full`` has changed something, or
  /// ``Store/sync()`` was called. Use it only for data that can be recreated. Does not wait
  /// for the disk.
  case deferred

  /// A power failure may undo the commit, and previous `ordered` commits, but does not corrupt the
  /// file: it is left in the state of an earlier commit.
  ///
  /// The commit survives once a later commit with `ordered` or ``full`` has changed something, or
  /// ``Store/sync()`` was called. Costs one disk sync.
  case ordered

  /// The commit survives a power failure.
  ///
  /// Costs two disk syncs.
  case full

  var sync: CommitSync {
    switch self {
    case .deferred: .deferred
    case .ordered: .ordered
    case .full: .full
    }
  }
}
