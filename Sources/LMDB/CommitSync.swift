internal import CLMDB

/// How a commit is synced, and so what it outlasts from the moment it returns.
///
/// All of them outlast the end of the process, however it ends.
public enum CommitSync: Sendable, Hashable, CaseIterable {
  /// Outlasts a power cut.
  ///
  /// Costs two waits for the disk, one for the pages and one for the page that names them.
  case full

  /// A power cut may undo it, but leaves the file sound, as some commit before made it.
  ///
  /// It outlasts one once a later commit that is not deferred has changed something, or
  /// ``Environment/sync()`` was called. Costs one wait for the disk. The corresponding C flag is
  /// `MDB_NOMETASYNC`.
  case ordered

  /// A power cut may damage the file, until a later commit that is not deferred has changed
  /// something, or ``Environment/sync()`` was called.
  ///
  /// For what can be made anew. Costs no wait for the disk. The corresponding C flag is
  /// `MDB_NOSYNC`.
  case deferred

  var flags: Int32 {
    switch self {
    case .full: 0
    case .ordered: MDB_NOMETASYNC
    case .deferred: MDB_NOSYNC
    }
  }
}
