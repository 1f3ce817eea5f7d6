internal import ObjectStore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// One change of the world that outlasts the process: what a kill comes before or after.
package enum Effect: Sendable, Hashable {
  /// A partial file is opened, and made where there is none.
  case open(path: String)
  /// A file is cut, or lengthened with zeros.
  case cut(path: String, size: Int64)
  /// Bytes are written at a position.
  case write(path: String, offset: Int64, byteCount: Int)
  /// What was written to a file before the call is made to outlast a power cut.
  case synchronize(path: String)
  /// A file gets a second name that nothing has.
  case link(from: String, to: String)
  /// A file gets another name.
  case rename(from: String, to: String)
  /// A name goes.
  case remove(path: String)
  /// A folder is made.
  case makeFolder(path: String)
  /// The names in a folder are made to outlast a power cut.
  case synchronizeFolder(path: String)
  /// The store commits.
  case commit
}

/// Is asked before every effect of an engine, and told of it afterwards: the place where a simulation
/// has disks fail and processes die.
///
/// What an engine only reads it reads without asking.
package protocol FaultInjector: Sendable {
  /// The error number with which the effect fails without having happened; `nil` to let it happen.
  func refusal(of effect: Effect) -> Int32?

  /// The effect has happened.
  func didPerform(_ effect: Effect)

  /// A file was locked, until the engine unlocks it or the process ends.
  func didLock(_ lock: any ProcessLock)
}

extension FaultInjector {
  /// Does nothing: the system unlocks the files of a process that ends.
  package func didLock(_ lock: any ProcessLock) {}
}

/// A lock that ends with its process.
package protocol ProcessLock: AnyObject, Sendable {
  /// Ends the lock.
  func unlock()
}

/// The gate does not let a commit happen.
package struct CommitRefusal: Error, Sendable, Hashable {
  /// The error number.
  package var code: Int32
}

extension FaultInjector {
  /// Asks for leave to commit.
  ///
  /// - Throws: `StoreError` with `diskFull`, as the store does; ``CommitRefusal``.
  func passCommit() throws {
    guard let code = refusal(of: .commit) else { return }
    guard code != ENOSPC else { throw StoreError(.diskFull, "the disk is full") }
    throw CommitRefusal(code: code)
  }
}
