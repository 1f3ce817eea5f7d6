internal import CLMDB

/// How far a commit is synced when it returns.
///
/// With any of these, a commit survives the end of the process, even a crash. They differ in what
/// survives a power cut.
///
/// ```swift
/// for batch in batches {
///   var transaction = try environment.beginWrite()
///   for (key, value) in batch { try transaction.put(value.span, for: key.span, in: cache) }
///   try transaction.commit(CommitSync.deferred)
/// }
/// try environment.sync()
/// ```
public enum CommitSync: Sendable, Hashable, CaseIterable {
  /// The commit survives a power cut. Synced on return.
  ///
  /// Costs two syncs: one for the pages and one for the meta page that refers to them.
  case full

  /// A power cut may undo the commit, but leaves the file consistent, in the state of an
  /// earlier commit.
  ///
  /// The commit is durable after a later commit that has changes and is not ``deferred``, or after
  /// ``Environment/sync()``. Costs one sync. The corresponding C flag is `MDB_NOMETASYNC`.
  case ordered

  /// A power cut may damage the file, until a later commit that has changes and is not
  /// deferred, or until ``Environment/sync()``.
  ///
  /// For data that can be created again. Costs no sync. The corresponding C flag is `MDB_NOSYNC`.
  case deferred

  var flags: Int32 {
    switch self {
    case .full: 0
    case .ordered: MDB_NOMETASYNC
    case .deferred: MDB_NOSYNC
    }
  }
}
