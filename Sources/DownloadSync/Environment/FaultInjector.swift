internal import ObjectStore
internal import SystemInterface

/// A change that outlasts the process: a simulation kills the process before or after it.
package enum Effect: Sendable, Hashable {
  /// Opens a partial file, and creates it if missing.
  case open(path: String)
  /// Truncates a file, or extends it with zeros.
  case cut(path: String, size: Int64)
  /// Extends a file with zeros to the size that it will have, and may reserve the space.
  case reserve(path: String, size: Int64)
  /// Writes bytes at an offset.
  case write(path: String, offset: Int64, byteCount: Int)
  /// Syncs a file: the data written before the call survives a power failure.
  case synchronize(path: String)
  /// Gives a file a second name, which must be unused.
  case link(from: String, to: String)
  /// Renames a file.
  case rename(from: String, to: String)
  /// Removes a name.
  case remove(path: String)
  /// Creates a folder.
  case makeFolder(path: String)
  /// Syncs a folder: its entries survive a power failure.
  case synchronizeFolder(path: String)
  /// Commits to the store.
  case commit
}

/// Allows or refuses each effect of an engine, and is notified after it.
///
/// A simulation uses it to make disks fail and processes die. Reads are not reported.
package protocol FaultInjector: Sendable {
  /// Returns the error number with which an effect fails without taking place; `nil` to allow it.
  func refusal(of effect: Effect) -> Int32?

  /// Notes that an effect has taken place.
  func didPerform(_ effect: Effect)

  /// Notes that the engine has locked a file, until it unlocks it or the process ends.
  func didLock(_ lock: any ProcessLock)
}

extension FaultInjector {
  /// Does nothing: the system releases the locks of a process that ends.
  package func didLock(_ lock: any ProcessLock) {}
}

/// A lock that is released when its process ends.
package protocol ProcessLock: AnyObject, Sendable {
  /// Releases the lock.
  func unlock()
}

/// The error of a commit that the fault injector refused.
package struct CommitRefusal: Error, Sendable, Hashable {
  /// The error number.
  package var code: Int32
}

extension FaultInjector {
  /// Checks whether the store may commit.
  ///
  /// - Throws: `StoreError` with `diskFull` if the commit is refused with `ENOSPC`, as by the store
  ///   itself; ``CommitRefusal`` for any other error number.
  func checkCommit() throws {
    guard let code = refusal(of: .commit) else { return }
    guard code != ENOSPC else { throw StoreError(.diskFull, "the disk is full") }
    throw CommitRefusal(code: code)
  }
}
