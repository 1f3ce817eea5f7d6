/// The steps in which processes open, replace and close data files.
///
/// `Tests/Models/replacement.pml` has the same steps under the same names, in the same order, and a
/// check of all their interleavings (decision 0060). Tests observe them, to delay or kill a process
/// at each.
package enum ReplacementStep: String, CaseIterable, Sendable {
  // Opening, in this order.

  /// Opens the file named `data.mdb`.
  case openDataFile
  /// Waits for a shared lock on it.
  case shareDataFile
  /// Starts again if another file has the name now.
  case compareDataFile
  /// Opens the lock file, and announces which one it is.
  case announceLockFile
  /// Fails if another process uses another lock file.
  case compareLockFiles
  /// Lets LMDB open both files.
  case openEnvironment
  /// Starts again if LMDB has opened other files.
  case compareEnvironment
  /// Starts again if the lock file has the commit number of another data file.
  case compareCommitNumber

  // Closing, in this order.

  /// Lets LMDB close both files.
  case closeEnvironment
  /// Releases the shared lock.
  case unshareDataFile

  // Replacing, in this order.

  /// Takes an exclusive lock on the data file.
  case claimDataFile
  /// Fails if another file has the name now.
  case compareClaimedFile
  /// Takes LMDB's lock, which excludes programs that do not know the other one.
  case claimLockFile
  /// Invalidates the commit number in the lock file.
  case invalidateLockFile
  /// Reads the data file and writes the new one.
  case writeNewFile
  /// Takes an exclusive lock on the new file.
  case claimNewFile
  /// Renames the new file over the data file.
  case renameNewFile
  /// Lets LMDB write the lock file again, and release its lock.
  case releaseLockFile
  /// Releases the exclusive locks.
  case unclaimDataFiles

  /// A closure called before each step that the current task makes.
  @TaskLocal package static var observer: (@Sendable (ReplacementStep) -> Void)?

  static func begin(_ step: ReplacementStep) {
    observer?(step)
  }
}
