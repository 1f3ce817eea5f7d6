internal import CLMDB

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A data file that is being opened, and that something else than a commit may have changed.
struct ChangedFile {
  let descriptor: Int32
  let pageSize: Int
  let isReadOnly: Bool
  /// Whether a file with a mark is checked too.
  let checksAlways: Bool

  private static let mostAttempts = 100
  /// The size from which it is worth waiting until another process ends a commit.
  private static let largeSize = 32 << 20

  /// Checks the pages of a file without a ``CheckedMark``, before LMDB trusts them, and lengthens a
  /// file that lacks only free pages at its end.
  ///
  /// LMDB does not write pages at the end that the same transaction freed again. Reading other
  /// missing pages would end the process.
  ///
  /// - Throws: ``LMDBError`` with `corrupted`, or what the system answers.
  /// - Complexity: O(1) for a file with a mark, otherwise O(n) in its pages.
  func check(_ handle: OpaquePointer) throws(LMDBError) {
    for attempt in 0..<Self.mostAttempts {
      let status = try EnvironmentFile.status(of: descriptor)
      let last = unsafe UInt64(UInt(bitPattern: try environmentInfo(handle).me_last_txnid))
      let isShort = unsafe try missingBytes(handle) > 0
      if !isShort {
        if !checksAlways, CheckedMark.isValid(status, transaction: last) { return }
        // Another process may be committing.
        if !checksAlways, status.st_size > Self.largeSize, attempt < 10 {
          usleep(1_000)
          continue
        }
      }
      if unsafe try checkPages(handle, lengthening: isShort && !isReadOnly, status) { return }
    }
    throw LMDBError(.corrupted, operation: "finding the last commit")
  }

  /// Returns false when a later commit came between.
  private func checkPages(
    _ handle: OpaquePointer,
    lengthening: Bool,
    _ status: stat
  ) throws(LMDBError) -> Bool {
    // A writer keeps others from lengthening the file meanwhile, and a reader from using again the
    // pages that are looked at.
    let flags = lengthening ? 0 : MDB_RDONLY
    let transaction = unsafe try transactionBegin(handle, flags: flags)
    defer { unsafe transactionAbort(transaction) }
    let number = unsafe transactionID(transaction) - (lengthening ? 1 : 0)
    var walk = try PageWalk(descriptor: descriptor, pageSize: pageSize, transaction: number)
    guard try walk.run() else { return false }
    guard !isReadOnly else { return true }
    let missing = unsafe try missingBytes(handle)
    if lengthening, missing > 0 { try EnvironmentFile.extend(descriptor, by: missing) }
    // Otherwise another process has changed the file, and leaves a mark of its own.
    let now = try EnvironmentFile.status(of: descriptor)
    if lengthening || CheckedMark.isUnchanged(now, status) {
      let inode = UInt64(status.st_ino)
      CheckedMark.set(descriptor, inode: inode, transaction: number, isSynced: false)
    }
    return true
  }

  private func missingBytes(_ handle: OpaquePointer) throws(LMDBError) -> Int64 {
    let lastPage = unsafe Int64(try environmentInfo(handle).me_last_pgno)
    return (lastPage + 1) * Int64(pageSize) - (try EnvironmentFile.size(of: descriptor))
  }
}
