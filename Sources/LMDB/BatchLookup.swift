internal import CLMDB

/// Looks up several keys of a database with integer keys at a time.
///
/// A lookup waits for memory at each step: for a page of each level of the tree, for the nodes that
/// the search of the page compares, and for the value. The searches of several keys do not depend on
/// each other, so this runs them in turn: it requests what the next step of each one needs before it
/// returns to the first. LMDB can only finish one search after the other.
@unsafe
package struct BatchLookup {
  /// The largest number of keys in a batch.
  ///
  /// A processor waits for some tens of cache lines at a time.
  package static let size = 32

  /// Trees with fewer leaves stay in the caches, so single lookups are as fast.
  private static let leastLeafPageCount = 64

  private let tree: IntegerTree

  /// Prepares for lookups in a database, while the transaction is open.
  ///
  /// `nil` if single lookups are as fast, or LMDB must be asked: for a small database, and in a write
  /// transaction.
  package init?(_ transaction: TransactionReference, _ database: Database) throws(LMDBError) {
    guard let tree = unsafe try transaction.tree(of: database),
      unsafe tree.leafPageCount >= Self.leastLeafPageCount
    else { return nil }
    unsafe self.tree = unsafe tree
  }

  /// Looks up keys, and requests the memory of their values.
  ///
  /// - Parameters:
  ///   - keys: At most ``size`` keys. Ascending keys share pages.
  ///   - byteCount: The number of bytes to request at the start of each value.
  ///   - values: Receives the value of each key, in the map; a buffer without an address if there is
  ///     none.
  /// - Returns: False if a page was not what its parent says. The values are undefined then.
  package func find(
    _ keys: UnsafeBufferPointer<UInt64>,
    requesting byteCount: Int,
    _ values: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
  ) -> Bool {
    let count = keys.count
    precondition(unsafe count <= Self.size, "too many keys in a batch")
    guard let root = unsafe tree.page(tree.root) else { return false }
    return unsafe withUnsafeTemporaryAllocation(
      of: PageSearch.self,
      capacity: Self.size
    ) { searches in
      for index in 0..<count {
        unsafe searches.initializeElement(at: index, to: PageSearch(page: root))
      }
      for level in unsafe 1...tree.depth {
        let isLeaf = unsafe level == tree.depth
        for index in 0..<count {
          guard unsafe searches[index].begin(keys[index], isLeaf: isLeaf, tree.pageSize) else {
            return false
          }
        }
        var isSearching = true
        while isSearching {
          isSearching = false
          for index in 0..<count where unsafe searches[index].step(keys[index]) {
            isSearching = true
          }
        }
        guard !isLeaf else { break }
        for index in 0..<count {
          guard let child = unsafe tree.page(searches[index].child) else { return false }
          unsafe searches[index].page = unsafe child
        }
      }
      for index in 0..<count {
        guard let value = unsafe tree.value(searches[index], keys[index]) else { return false }
        unsafe values[index] = unsafe value
        unsafe Self.request(value.prefix(byteCount))
      }
      return true
    }
  }

  /// Requests the memory of bytes that will be read soon.
  @inline(__always)
  package static func request(_ bytes: Slice<UnsafeRawBufferPointer>) {
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes)
    guard let start = bytes.baseAddress else { return }
    for offset in stride(from: 0, to: bytes.count, by: 64) {
      unsafe clmdb_prefetch(start + offset)
    }
  }
}
