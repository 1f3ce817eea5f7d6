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
  /// transaction. Costs a lookup of the database's name.
  package init?(_ transaction: TransactionReference, _ database: Database) throws(LMDBError) {
    guard unsafe transaction.isSnapshot,
      let tree = unsafe try IntegerTree(transaction, database),
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

/// The tree of a database with integer keys in one snapshot, which searches the map itself.
///
/// It reads the pages in the layout of LMDB 0.9, and finds what `mdb_get` finds. Like LMDB it trusts
/// the pages, which ``PageVerifier`` checks when the environment is opened. A page that is not what its
/// parent says ends a search, and the caller asks LMDB instead.
@unsafe
private struct IntegerTree {
  let map: UnsafeRawPointer
  let pageSize: Int
  let lastPage: UInt64
  let root: UInt64
  let depth: Int
  /// The number of leaves.
  let leafPageCount: Int

  /// Finds the tree of a database.
  ///
  /// `nil` if LMDB must be asked, which is so for an empty database. Costs one lookup of the name.
  init?(_ transaction: TransactionReference, _ database: Database) throws(LMDBError) {
    guard PageLayout.isKnown else { return nil }
    let info = unsafe try environmentInfo(transaction.environment.handle)
    let description = unsafe try Array(database.name.utf8).span.withUnsafeBytes {
      name throws(LMDBError) in
      unsafe try databaseGet(transaction.raw, mainDatabase, name)
    }
    guard let description = unsafe description, description.count == PageLayout.descriptionSize,
      let address = description.baseAddress
    else { return nil }
    // The description is in a leaf of the database of names, which states its own number.
    unsafe pageSize = transaction.environment.pageSize
    let page = unsafe address - Int(bitPattern: address) % pageSize
    let number = unsafe page.load(as: UInt64.self)
    unsafe lastPage = info.lastPage
    guard unsafe number <= lastPage else { return nil }
    unsafe map = unsafe page - Int(number) * pageSize
    unsafe depth = unsafe Int(description.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    unsafe leafPageCount = unsafe description.loadUnaligned(fromByteOffset: 16, as: Int.self)
    unsafe root = unsafe description.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    // The root of an empty tree is no page.
    guard unsafe depth > 0, unsafe root <= lastPage else { return nil }
  }

  /// Requests the start of a page, and returns its address; `nil` if there is no such page.
  @inline(__always)
  func page(_ number: UInt64) -> UnsafeRawPointer? {
    guard unsafe number <= lastPage else { return nil }
    let page = unsafe map + Int(number) * pageSize
    for offset in stride(from: 0, to: PageLayout.headSize, by: 64) {
      unsafe clmdb_prefetch(page + offset)
    }
    return unsafe page
  }

  /// Returns the value that a search in a leaf has found; a buffer without an address if it is the
  /// value of another key, and `nil` if it exceeds its page.
  @inline(__always)
  func value(_ search: PageSearch, _ key: UInt64) -> UnsafeRawBufferPointer? {
    let node = unsafe search.node
    guard unsafe PageSearch.key(of: node) == key else {
      return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    }
    let size = unsafe Int(node.loadUnaligned(as: UInt32.self))
    let flags = unsafe node.load(fromByteOffset: 4, as: UInt16.self)
    let start = unsafe node + PageLayout.nodeHeaderSize + 8
    guard flags & PageLayout.isLarge == 0 else {
      // The value has pages of its own.
      guard let first = unsafe page(start.loadUnaligned(as: UInt64.self)) else { return nil }
      return unsafe UnsafeRawBufferPointer(start: first + PageLayout.headerSize, count: size)
    }
    guard unsafe start + size <= search.page + pageSize else { return nil }
    return unsafe UnsafeRawBufferPointer(start: start, count: size)
  }
}

/// The search of a key in a page, and in its child.
///
/// Integer keys are nearly always evenly distributed: they are hashes, or the numbers of objects one
/// after another. So the first comparisons are where the key would be if it were so, and fewer nodes
/// are read than in a binary search. The rest is a binary search, so other keys cost at most four
/// comparisons more.
@unsafe
private struct PageSearch {
  /// The number of comparisons that follow the distribution.
  private static let estimates = 4

  /// A page of the map.
  var page: UnsafeRawPointer
  /// The first node that may be the last one whose key is not greater than the key.
  private var first = 0
  /// The number of nodes that may be.
  private var count = 0
  /// The node to compare with.
  private var middle = 0
  /// Not greater than the keys of the nodes from ``first`` on, nor than those of the child there.
  private var lower: UInt64 = 0
  /// Not less than these keys.
  private var upper: UInt64 = .max
  private var estimatesLeft = 0

  init(page: UnsafeRawPointer) { unsafe self.page = unsafe page }

  /// Begins in the page; returns false if it is not of the expected kind.
  ///
  /// Requests the node to compare with first.
  @inline(__always)
  mutating func begin(_ key: UInt64, isLeaf: Bool, _ pageSize: Int) -> Bool {
    let flags = unsafe page.load(fromByteOffset: 10, as: UInt16.self)
    let end = unsafe Int(page.load(fromByteOffset: 12, as: UInt16.self))
    guard flags == (isLeaf ? DataFilePage.Flag.leaf : DataFilePage.Flag.branch),
      end >= PageLayout.headerSize + 2,
      end <= pageSize
    else { return false }
    unsafe first = 0
    unsafe count = (end - PageLayout.headerSize) / 2
    unsafe estimatesLeft = Self.estimates
    unsafe chooseNode(key)
    return true
  }

  /// Compares the key with one node, and requests the next; returns whether there is a next one.
  ///
  /// The first node of a branch is never compared: its key counts as less than all others.
  @inline(__always)
  mutating func step(_ key: UInt64) -> Bool {
    guard unsafe count > 1 else { return false }
    let other = unsafe Self.key(of: node(at: middle))
    let skipped = unsafe middle - first
    // No branch on the result, which the processor would predict wrongly half of the time.
    let isBefore = other <= key
    unsafe first += isBefore ? skipped : 0
    unsafe count = unsafe other == key ? 1 : isBefore ? count - skipped : skipped
    unsafe lower = unsafe isBefore ? other : lower
    unsafe upper = unsafe isBefore ? upper : other
    unsafe chooseNode(key)
    return unsafe count > 1
  }

  /// Chooses the node to compare with, behind the first one, and requests it.
  @inline(__always)
  private mutating func chooseNode(_ key: UInt64) {
    if unsafe estimatesLeft > 0 {
      unsafe estimatesLeft -= 1
      // More than 1 only on a damaged page.
      let share = unsafe min(Double(key &- lower) / (Double(upper &- lower) + 1), 1)
      let estimate = unsafe Int(share * Double(count))
      unsafe middle = unsafe first + min(max(estimate, 1), count - 1)
    } else {
      unsafe middle = unsafe first + count / 2
    }
    unsafe clmdb_prefetch(node(at: middle))
  }

  /// The last node whose key is not greater than the key, at the end of the search; the first node
  /// if there is none.
  @inline(__always)
  var node: UnsafeRawPointer { unsafe node(at: first) }

  /// The page number in the last node of a branch.
  @inline(__always)
  var child: UInt64 { unsafe node.loadUnaligned(as: UInt64.self) & 0xFFFF_FFFF_FFFF }

  @inline(__always)
  private func node(at index: Int) -> UnsafeRawPointer {
    let place = PageLayout.headerSize + index * 2
    // LMDB keeps pages below 64 KiB, so the offset is within one.
    return unsafe page + Int(page.load(fromByteOffset: place, as: UInt16.self))
  }

  @inline(__always)
  static func key(of node: UnsafeRawPointer) -> UInt64 {
    unsafe node.loadUnaligned(fromByteOffset: PageLayout.nodeHeaderSize, as: UInt64.self)
  }
}

private enum PageLayout {
  /// Whether the linked LMDB has this layout: version 0.9, on a 64-bit system.
  ///
  /// LMDB itself refuses files of another version.
  static let isKnown = DataFileFormat.installed == .one && MemoryLayout<Int>.size == 8

  /// The size of the header of a page; that of ``DataFileFormat/one``, as a literal for the compiler.
  static let headerSize = 16
  /// The size of the header of a page and the offsets of its first 184 nodes.
  static let headSize = 384
  /// The size of a description.
  static let descriptionSize = 48
  /// The size of a node in front of its key.
  static let nodeHeaderSize = 8
  /// The flag of a node whose value has pages of its own.
  static let isLarge: UInt16 = 0x01
}
