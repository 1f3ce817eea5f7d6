/// The trees of the databases that a read transaction has searched.
///
/// A transaction finds where a tree begins once, and keeps it while it is reset and renewed, until
/// another commit is read. A read transaction owns this memory and is used by one thread at a time;
/// its copies in references do not outlive it.
@unsafe
struct SnapshotTrees {
  @unsafe
  private struct Entry {
    /// The value of ``Storage/number`` when the tree was found.
    var number: UInt64 = 0
    /// The name of the database, because LMDB uses the handle for another one if the transaction that
    /// opened it ends without a commit.
    var name = ""
    /// `nil` if LMDB must be asked.
    var tree: IntegerTree?
  }

  @unsafe
  private struct Storage {
    /// The commit that the transaction reads.
    var commit: UInt64 = 0
    /// Increases when all entries become invalid.
    var number: UInt64 = 1
    /// By handle of the database.
    var entries = unsafe UnsafeMutableBufferPointer<Entry>(start: nil, count: 0)
  }

  private let storage: UnsafeMutablePointer<Storage>

  /// Allocates memory, in which no tree has been found.
  static func allocate() -> SnapshotTrees {
    let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
    unsafe storage.initialize(to: Storage())
    return unsafe SnapshotTrees(storage: storage)
  }

  func deallocate() {
    unsafe storage.pointee.entries.deinitialize()
    unsafe storage.pointee.entries.deallocate()
    unsafe storage.deallocate()
  }

  /// Notes the commit that the transaction reads from now on.
  func begin(_ commit: UInt64) {
    guard unsafe storage.pointee.commit != commit else { return }
    unsafe storage.pointee.commit = commit
    unsafe forget()
  }

  /// Forgets all trees, because the map has moved.
  func forget() { unsafe storage.pointee.number += 1 }

  /// Returns the tree of a database in the snapshot of a transaction; `nil` if LMDB must be asked.
  @inline(__always)
  func tree(
    of database: Database,
    in transaction: TransactionReference
  ) throws(LMDBError) -> IntegerTree? {
    let handle = Int(database.handle)
    if unsafe handle < storage.pointee.entries.count {
      let entry = unsafe storage.pointee.entries.baseAddress.unsafelyUnwrapped + handle
      if unsafe entry.pointee.number == storage.pointee.number,
        unsafe entry.pointee.name == database.name
      {
        return unsafe entry.pointee.tree
      }
    }
    return unsafe try findTree(of: database, in: transaction)
  }

  @inline(never)
  private func findTree(
    of database: Database,
    in transaction: TransactionReference
  ) throws(LMDBError) -> IntegerTree? {
    let tree = unsafe try IntegerTree(transaction, database)
    let handle = Int(database.handle)
    if unsafe handle >= storage.pointee.entries.count { unsafe makeRoom(for: handle) }
    unsafe storage.pointee.entries[handle] = unsafe Entry(
      number: storage.pointee.number,
      name: database.name,
      tree: tree
    )
    return unsafe tree
  }

  private func makeRoom(for handle: Int) {
    let old = unsafe storage.pointee.entries
    let count = max(handle + 1, old.count * 2, 16)
    let new = UnsafeMutableBufferPointer<Entry>.allocate(capacity: count)
    let end = unsafe new.moveInitialize(fromContentsOf: old)
    unsafe new[end...].initialize(repeating: Entry())
    unsafe old.deallocate()
    unsafe storage.pointee.entries = unsafe new
  }
}
