internal import CLMDB

/// The tree of a database with integer keys in one snapshot, which searches the map itself.
///
/// It reads the pages in the layout of LMDB 0.9, and finds what `mdb_get` finds in less time. Like LMDB
/// it trusts the pages, which ``PageVerifier`` checks when the environment is opened. A page that is
/// not what its parent says ends a search, and the caller asks LMDB instead.
@unsafe
struct IntegerTree {
  let map: UnsafeRawPointer
  let pageSize: Int
  let lastPage: UInt64
  let root: UInt64
  let depth: Int
  /// The number of leaves.
  let leafPageCount: Int

  /// Whether the tree has at least 16 MiB; most of a smaller one is in the caches of the processor.
  @inline(__always)
  var isLarge: Bool { unsafe leafPageCount >= 4_096 }

  /// The number of nodes on each side of the first estimate that a single search requests.
  @inline(__always)
  var neighbors: Int { unsafe isLarge ? 3 : 0 }

  /// Finds the tree of a database.
  ///
  /// `nil` if LMDB must be asked, which is so for an empty database. Costs one lookup of the name.
  init?(_ transaction: TransactionReference, _ database: Database) throws(LMDBError) {
    // The layout is that of 64-bit systems.
    guard MemoryLayout<Int>.size == 8 else { return nil }
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
    unsafe lastPage = UInt64(info.me_last_pgno)
    guard unsafe number <= lastPage else { return nil }
    unsafe map = unsafe page - Int(number) * pageSize
    unsafe depth = unsafe Int(description.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    unsafe leafPageCount = unsafe description.loadUnaligned(fromByteOffset: 16, as: Int.self)
    unsafe root = unsafe description.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    // The root of an empty tree is no page.
    guard unsafe depth > 0, unsafe root <= lastPage else { return nil }
  }

  /// Returns the value of a key, in the map; a buffer without an address if there is none.
  ///
  /// `nil` if a page was not what its parent says.
  func value(of key: UInt64) -> UnsafeRawBufferPointer? {
    guard let root = unsafe page(root) else { return nil }
    var search = unsafe PageSearch(page: root)
    for level in unsafe 1...depth {
      let isLeaf = unsafe level == depth
      guard
        unsafe search.begin(
          key,
          isLeaf: isLeaf,
          pageSize,
          requestingAround: neighbors
        )
      else { return nil }
      while unsafe search.step(key) {}
      guard !isLeaf else { break }
      guard let child = unsafe page(search.child) else { return nil }
      unsafe search.page = unsafe child
    }
    return unsafe value(search, key)
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

  /// Returns the value that a search in a leaf has found; see ``value(of:)``.
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
      return unsafe UnsafeRawBufferPointer(start: first + DataFilePage.headerSize, count: size)
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
struct PageSearch {
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
  /// Requests the node to compare with first, and `neighbors` on each side of it, so that a search that
  /// runs alone waits for several at a time.
  @inline(__always)
  mutating func begin(
    _ key: UInt64,
    isLeaf: Bool,
    _ pageSize: Int,
    requestingAround neighbors: Int = 0
  ) -> Bool {
    let flags = unsafe page.load(fromByteOffset: 10, as: UInt16.self)
    let end = unsafe Int(page.load(fromByteOffset: 12, as: UInt16.self))
    guard flags == (isLeaf ? DataFilePage.Flag.leaf : DataFilePage.Flag.branch),
      end >= DataFilePage.headerSize + 2,
      end <= pageSize
    else { return false }
    unsafe first = 0
    unsafe count = (end - DataFilePage.headerSize) / 2
    unsafe estimatesLeft = Self.estimates
    unsafe chooseNode(key)
    if neighbors > 0 {
      for index in unsafe max(middle - neighbors, 0)..<min(middle + neighbors + 1, count) {
        unsafe clmdb_prefetch(node(at: index))
      }
    }
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
    let place = DataFilePage.headerSize + index * 2
    // LMDB keeps pages below 64 KiB, so the offset is within one.
    return unsafe page + Int(page.load(fromByteOffset: place, as: UInt16.self))
  }

  @inline(__always)
  static func key(of node: UnsafeRawPointer) -> UInt64 {
    unsafe node.loadUnaligned(fromByteOffset: PageLayout.nodeHeaderSize, as: UInt64.self)
  }
}

private enum PageLayout {
  /// The size of the header of a page and the offsets of its first 184 nodes.
  static let headSize = 384
  /// The size of a description.
  static let descriptionSize = 48
  /// The size of a node in front of its key.
  static let nodeHeaderSize = 8
  /// The flag of a node whose value has pages of its own.
  static let isLarge: UInt16 = 0x01
}
