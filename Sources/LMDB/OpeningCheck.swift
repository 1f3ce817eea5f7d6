internal import CLMDB
internal import SystemInterface

/// The check of a data file's pages when it is opened, unless only commits have changed it since
/// the last check.
struct OpeningCheck {
  let descriptor: Int32
  let pageSize: Int
  let isReadOnly: Bool
  /// Whether to check a file even if it has a valid mark.
  let checksAlways: Bool

  private static let maximumAttempts = 100
  /// The file size, in bytes, above which it is worth waiting for another process to finish a
  /// commit and set the mark.
  private static let largeSize = 32 << 20

  /// Checks the pages of a file that has no valid ``CheckedMark``, and extends a file from which
  /// only free pages at the end are missing.
  ///
  /// LMDB does not write pages at the end of the file that the same transaction allocated and
  /// freed. If any other page is missing, reading it would end the process.
  ///
  /// - Throws: ``LMDBError`` with `corrupted`, or another system error.
  /// - Complexity: O(1) for a file with a valid mark, otherwise O(n) in its pages.
  func run(_ handle: EnvironmentHandle) throws(LMDBError) {
    for attempt in 0..<Self.maximumAttempts {
      let status = try EnvironmentFile.status(of: descriptor)
      let last = try environmentInfo(handle).lastTransaction
      let isShort = try missingBytes(handle) > 0
      if !isShort {
        if !checksAlways, CheckedMark.isValid(status, transaction: last) { return }
        // Another process may be committing.
        if !checksAlways, status.st_size > Self.largeSize, attempt < 10 {
          usleep(1_000)
          continue
        }
      }
      if try checkPages(handle, lengthening: isShort && !isReadOnly, status) { return }
    }
    throw LMDBError(.corrupted, operation: "finding the last commit")
  }

  /// Checks the pages and sets the mark; returns false if another commit intervened.
  private func checkPages(
    _ handle: EnvironmentHandle,
    lengthening: Bool,
    _ status: stat
  ) throws(LMDBError) -> Bool {
    // A write transaction prevents other processes from extending the file; a read transaction
    // prevents the reuse of the pages being checked.
    let flags = lengthening ? 0 : MDB_RDONLY
    return try withTransaction(handle, flags: flags) { number throws(LMDBError) in
      let number = number &- (lengthening ? 1 : 0)
      return try checkPages(of: number, handle, lengthening: lengthening, status)
    }
  }

  private func checkPages(
    of number: UInt64,
    _ handle: EnvironmentHandle,
    lengthening: Bool,
    _ status: stat
  ) throws(LMDBError) -> Bool {
    var verifier = try PageVerifier(descriptor: descriptor, pageSize: pageSize, transaction: number)
    guard try verifier.run() else { return false }
    guard !isReadOnly else { return true }
    let missing = try missingBytes(handle)
    if lengthening, missing > 0 { try EnvironmentFile.extend(descriptor, by: missing) }
    // If the file has changed, another process has committed, and sets its own mark.
    let now = try EnvironmentFile.status(of: descriptor)
    if lengthening || CheckedMark.isUnchanged(now, status) {
      let inode = UInt64(status.st_ino)
      CheckedMark.set(descriptor, inode: inode, transaction: number, isSynced: false)
    }
    return true
  }

  private func missingBytes(_ handle: EnvironmentHandle) throws(LMDBError) -> Int64 {
    let lastPage = Int64(try environmentInfo(handle).lastPage)
    return (lastPage + 1) * Int64(pageSize) - (try EnvironmentFile.size(of: descriptor))
  }
}
