internal import SystemInterface

/// A check of every page of one commit, and of its list of free pages.
///
/// LMDB trusts its pages: some damage ends the process, by a failed assertion or by an access
/// outside the map. Reading and writing a file that passes this check accesses only its own pages:
/// every page is in the file and belongs to one place in one tree; nodes fill their page without
/// overlapping; keys are in order; and every free page is listed once and is in no tree.
///
/// The file is read with `pread`, so that a failing disk causes an error, not a signal. A database
/// with several values for one key does not pass; this package never creates one.
struct PageVerifier {
  private let descriptor: Int32
  private let pageSize: Int
  private let transaction: UInt64
  /// The number of pages in the file.
  private let fileCount: UInt64
  /// The number of pages of the commit, used or free; free pages at the end may be missing in the
  /// file.
  private var pageCount: UInt64 = 0
  private var used = PageSet(limit: 0)
  private var page = DataFilePage(bytes: [])
  private var freePages: [UInt64] = []

  /// The named databases, found in the main database.
  private var named: [DataFileReader.Tree] = []

  /// Prepares to check the commit `transaction`.
  ///
  /// The caller keeps a read transaction on it open, so that its pages are not reused.
  ///
  /// - Throws: ``LMDBError`` if the size of the file cannot be read.
  init(descriptor: Int32, pageSize: Int, transaction: UInt64) throws(LMDBError) {
    self.descriptor = descriptor
    self.pageSize = pageSize
    self.transaction = transaction
    fileCount = UInt64(try EnvironmentFile.size(of: descriptor)) / UInt64(pageSize)
  }

  /// Checks all pages of the commit.
  ///
  /// - Returns: False if a later commit has overwritten its meta page, so that nothing was checked.
  /// - Throws: ``LMDBError`` with `corrupted` or `inputOutput`.
  /// - Complexity: O(n) in the pages of the file.
  mutating func run() throws(LMDBError) -> Bool {
    // The offsets below are those of 64-bit systems; files of 32-bit systems are not compatible.
    guard MemoryLayout<Int>.size == 8 else { return true }
    guard let meta = try readMeta() else { return false }
    let lastPage = meta.lastPage
    guard lastPage >= 1, lastPage < 1 << 48, transaction < 1 << 62 else {
      throw damage(transaction & 1, "the meta page contains invalid numbers")
    }
    pageCount = lastPage + 1
    used = PageSet(limit: min(fileCount, pageCount))
    _ = used.insert(0)
    _ = used.insert(1)
    try walk(meta.freePagesTree, .freePages)
    try walk(meta.mainTree, .names)
    for tree in named { try walk(tree, .entries) }
    try checkFreePages()
    return true
  }

  /// The kind of entries in a tree.
  private enum Content {
    case freePages, names, entries
  }

  /// Reads the meta page of the commit, which LMDB chooses by the parity of the transaction number.
  private mutating func readMeta() throws(LMDBError) -> DataFilePage? {
    let number = transaction & 1
    // Another process may be writing the page. Two equal reads mean that the page was not changing.
    for _ in 0..<100 {
      try read(number)
      let first = page.bytes
      try read(number)
      if first == page.bytes { break }
    }
    let written = page.transaction
    if written > transaction, written & 1 == number { return nil }
    guard written == transaction else {
      throw damage(number, "the meta page does not belong to the last commit")
    }
    return page
  }

  // MARK: Trees

  private struct Pending {
    var number: UInt64
    var depth: Int
    /// The lower bound of the keys in the page; `nil` for the leftmost page.
    var separator: [UInt8]?
  }

  private mutating func walk(_ tree: DataFileReader.Tree, _ content: Content) throws(LMDBError) {
    guard tree.isPlausible, tree.branchPages <= pageCount, tree.leafPages <= pageCount,
      tree.overflowPages <= pageCount
    else { throw damage(tree.root, "the description of a database is invalid") }
    guard !tree.isEmpty else {
      guard tree.entries == 0, tree.depth == 0 else {
        throw damage(tree.root, "a database without pages claims to have entries")
      }
      return
    }
    let keys: DataFilePage.KeyOrder = tree.hasIntegerKeys ? .integers : .bytes
    var pending = [Pending(number: tree.root, depth: 1)]
    var entries: UInt64 = 0
    // The last key of the previous leaf.
    var last: [UInt8] = []
    while let next = pending.popLast() {
      try read(tree: next.number)
      if let flaw = page.flaw(keys: keys) { throw damage(next.number, flaw) }
      guard page.isLeaf == (next.depth == tree.depth), let count = page.nodeCount else {
        throw damage(next.number, "the depth of a database does not match its description")
      }
      if let separator = next.separator {
        guard keys.isAscending(last[...], separator[...]) else {
          throw damage(next.number, "keys are not in order")
        }
      }
      if page.isBranch {
        try addChildren(of: next, count, keys, to: &pending)
      } else {
        entries += UInt64(count)
        try checkOrder(of: next, count, keys, &last)
        try visit(next.number, count, content)
      }
    }
    guard entries == tree.entries else {
      throw damage(tree.root, "found \(entries) entries instead of \(tree.entries)")
    }
  }

  private func addChildren(
    of parent: Pending,
    _ count: Int,
    _ keys: DataFilePage.KeyOrder,
    to pending: inout [Pending]
  ) throws(LMDBError) {
    for index in (0..<count).reversed() {
      guard let node = page.node(index) else { throw damage(parent.number, Self.nodeOutside) }
      let separator = index == 0 ? parent.separator : Array(page.bytes[node.key])
      pending.append(Pending(number: node.child, depth: parent.depth + 1, separator: separator))
    }
  }

  /// Checks that the keys of a leaf are not below its separator and are in ascending order.
  private func checkOrder(
    of leaf: Pending,
    _ count: Int,
    _ keys: DataFilePage.KeyOrder,
    _ last: inout [UInt8]
  ) throws(LMDBError) {
    var previous: Range<Int>?
    for index in 0..<count {
      guard let node = page.node(index) else { throw damage(leaf.number, Self.nodeOutside) }
      let key = page.bytes[node.key]
      let isInOrder =
        if let previous {
          keys.isAscending(page.bytes[previous], key)
        } else if let separator = leaf.separator {
          !keys.isAscending(key, separator[...])
        } else {
          true
        }
      guard isInOrder else { throw damage(leaf.number, "keys are not in order") }
      previous = node.key
    }
    if let previous { last = Array(page.bytes[previous]) }
  }

  /// Checks the values of a leaf, and collects the databases and the free pages that it describes.
  private mutating func visit(
    _ number: UInt64,
    _ count: Int,
    _ content: Content
  ) throws(LMDBError) {
    for index in 0..<count {
      guard let node = page.node(index) else { throw damage(number, Self.nodeOutside) }
      var first: UInt64?
      if node.isBig {
        let start: UInt64 = page.integer(node.dataStart)
        try checkLargeValue(start, size: node.size)
        first = start
      }
      switch content {
      case .entries:
        guard !node.isTree else { throw damage(number, "an entry describes a database") }
      case .names:
        guard node.isTree else { continue }
        guard node.size == 48 else {
          throw damage(number, "the description of a database has the wrong size")
        }
        named.append(page.tree(node.dataStart))
      case .freePages:
        let commit: UInt64 = page.integer(node.key.lowerBound)
        guard !node.isTree, commit > 0, commit <= transaction else {
          throw damage(number, "free pages belong to a commit that does not exist")
        }
        let size = Int(node.size)
        let list =
          if let first {
            try bytes(at: Int(first) * pageSize + page.format.headerSize, size)
          } else {
            Array(page.bytes[node.dataStart..<node.dataStart + size])
          }
        try addFreePages(list, listedIn: number)
      }
    }
  }

  private mutating func checkLargeValue(_ number: UInt64, size: UInt64) throws(LMDBError) {
    let header = DataFilePage(
      bytes: try bytes(at: try offset(of: number), page.format.headerSize)
    )
    let count = header.overflowCount
    guard header.number == number, header.isOverflow, count <= fileCount - number,
      size + UInt64(page.format.headerSize) <= count * UInt64(pageSize)
    else { throw damage(number, "not the first page of a large value") }
    for other in number..<number + count where !used.insert(other) {
      throw damage(other, "a page of a large value is out of range or already in use")
    }
  }

  // MARK: Free pages

  private mutating func addFreePages(_ list: [UInt8], listedIn page: UInt64) throws(LMDBError) {
    let list = DataFilePage(bytes: list)
    let count: UInt64 = list.integer(0)
    // LMDB may reserve more space than the list needs.
    guard list.bytes.count.isMultiple(of: 8), count < UInt64(list.bytes.count / 8) else {
      throw damage(page, "a list of free pages exceeds its entry")
    }
    var previous = UInt64.max
    for index in 0..<Int(count) {
      let number: UInt64 = list.integer(8 + index * 8)
      // LMDB merges these lists, and relies on their descending order.
      guard number > 1, number < pageCount, number < previous else {
        throw damage(page, "invalid number \(number) in the list of free pages")
      }
      freePages.append(number)
      previous = number
    }
  }

  /// Checks that no free page is used or listed twice, and that all pages past the end of the file
  /// are free.
  private mutating func checkFreePages() throws(LMDBError) {
    var beyond: Set<UInt64> = []
    for number in freePages {
      guard number < fileCount ? used.insert(number) : beyond.insert(number).inserted else {
        throw damage(number, "a free page is in use or listed twice")
      }
    }
    let missing = pageCount > fileCount ? pageCount - fileCount : 0
    guard UInt64(beyond.count) == missing else {
      throw damage(fileCount, "the file is truncated")
    }
  }

  // MARK: Bytes

  private mutating func read(tree number: UInt64) throws(LMDBError) {
    guard used.insert(number) else {
      throw damage(number, "a page is out of range or already in use")
    }
    try read(number)
    guard page.number == number else {
      throw damage(number, "a page contains the wrong page number")
    }
  }

  private func offset(of number: UInt64) throws(LMDBError) -> Int {
    guard number < min(fileCount, 1 << 48) else {
      throw damage(number, "a page is not in the file")
    }
    return Int(number) * pageSize
  }

  private mutating func read(_ number: UInt64) throws(LMDBError) {
    let offset = try offset(of: number)
    if page.bytes.count != pageSize { page.bytes = Array(repeating: 0, count: pageSize) }
    let count = pread(descriptor, into: &page.bytes, at: Int64(offset))
    guard count < 0 || count == pageSize else { throw damage(number, "a page is truncated") }
    if count < 0 { throw LMDBError(LMDBError.Code(rawValue: errno), operation: "pread") }
  }

  private func bytes(at offset: Int, _ count: Int) throws(LMDBError) -> [UInt8] {
    let bytes = DataFileReader.read(descriptor, at: offset, count: count)
    guard bytes.count == count else { throw LMDBError(.inputOutput, operation: "pread") }
    return bytes
  }

  private static let nodeOutside = "a node extends past its page"

  private func damage(_ number: UInt64, _ reason: String) -> LMDBError {
    LMDBError(.corrupted, operation: "page \(number): \(reason)")
  }
}
