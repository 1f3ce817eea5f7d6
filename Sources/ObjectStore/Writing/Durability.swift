internal import LMDB

/// What a commit outlasts from the moment that the write returns.
///
/// Each of them outlasts the end of the process, a kill with SIGKILL too: from then on the commit
/// is the system's to write. They differ in what a power cut, or a crash of the system, can undo.
public enum Durability: Sendable, Hashable, CaseIterable, Comparable {
  /// A power cut may damage the file, until a later commit that is not deferred has changed
  /// something, or ``ObjectStore/sync()`` was called.
  ///
  /// For what can be made anew. Waits for no disk.
  case deferred

  /// A power cut may undo the commit, and those before it that were ordered too, but leaves the
  /// file sound, as some commit before made it.
  ///
  /// It outlasts one once a later commit that is not deferred has changed something, or
  /// ``ObjectStore/sync()`` was called. Waits for the disk once.
  case ordered

  /// A power cut undoes nothing.
  ///
  /// Waits for the disk twice.
  case full

  var sync: CommitSync {
    switch self {
    case .deferred: .deferred
    case .ordered: .ordered
    case .full: .full
    }
  }
}
