#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Checks every page that one commit uses, and the list of free pages.
///
/// LMDB trusts its pages: some damage ends the process, by a failed assertion or by an access outside
/// the map. Reads and writes of a file that passes this check stay inside of it: pages lie in the
/// file, belong to one tree at one place, are filled by nodes that do not overlap, and have their
/// keys in order; free pages are listed once and used by no tree.
///
/// The file is read with `pread`, so that a failing disk is an error too. Databases with several
/// values for one key do not pass; nothing here makes them.
struct PageWalk {
  private let descriptor: Int32
  private let pageSize: Int
  private let transaction: UInt64
  /// The pages of the file.
  private let fileCount: UInt64
  /// The pages that the commit has, used or free; the last ones need not be in the file.
  private var pageCount: UInt64 = 0
  private var used = PageSet(limit: 0)
  private var page = DataFilePage(bytes: [])
  private var freePages: [UInt64] = []

  /// The trees that the names of the main one describe.
  private var named: [DataFileReader.Tree] = []

  /// Begins at the commit of that number.
  ///
  /// A read transaction on it must be open, so that no page of it is used again.
  ///
  /// - Throws: ``LMDBError`` with what the system answers.
  init(descriptor: Int32, pageSize: Int, transaction: UInt64) throws(LMDBError) {
    self.descriptor = descriptor
    self.pageSize = pageSize
    self.transaction = transaction
    fileCount = UInt64(try EnvironmentFile.size(of: descriptor)) / UInt64(pageSize)
  }

  /// Checks all pages of the commit.
  ///
  /// - Returns: False when the commit is not the last one any more, so that nothing was checked.
  /// - Throws: ``LMDBError`` with `corrupted` or `inputOutput`.
  /// - Complexity: O(n) in the pages of the file.
  mutating func run() throws(LMDBError) -> Bool {
    // The layout below is that of machines of 64 bits; others have files of their own.
    guard MemoryLayout<Int>.size == 8 else { return true }
    guard let meta = try readMeta() else { return false }
    let lastPage: UInt64 = meta.integer(136)
    guard lastPage >= 1, lastPage < 1 << 48, transaction < 1 << 62 else {
      throw damage(transaction & 1, "the numbers of the last commit are impossible")
    }
    pageCount = lastPage + 1
    used = PageSet(limit: min(fileCount, pageCount))
    _ = used.insert(0)
    _ = used.insert(1)
    try walk(Self.tree(meta, 40), .freePages)
    try walk(Self.tree(meta, 88), .names)
    for tree in named { try walk(tree, .entries) }
    try checkFreePages()
    return true
  }

  /// What the entries of a tree are.
  private enum Content {
    case freePages, names, entries
  }

  /// The meta page of the commit, which LMDB chooses by the parity of the number.
  private mutating func readMeta() throws(LMDBError) -> DataFilePage? {
    let number = transaction & 1
    // A later commit may be writing it. Between two equal reads it was not.
    for _ in 0..<100 {
      try read(number)
      let first = page.bytes
      try read(number)
      if first == page.bytes { break }
    }
    let written: UInt64 = page.integer(144)
    if written > transaction, written & 1 == number { return nil }
    guard written == transaction else {
      throw damage(number, "the last commit is not the one that its page names")
    }
    return page
  }

  private static func tree(_ page: DataFilePage, _ offset: Int) -> DataFileReader.Tree {
    DataFileReader.tree(page, offset)
  }

  // MARK: Trees

  private struct Pending {
    var number: UInt64
    var depth: Int
    /// The least key that the page may have; `nil` for the leftmost page.
    var separator: [UInt8]?
  }

  private mutating func walk(_ tree: DataFileReader.Tree, _ content: Content) throws(LMDBError) {
    guard tree.isPlausible, tree.branchPages <= pageCount, tree.leafPages <= pageCount,
      tree.overflowPages <= pageCount
    else { throw damage(tree.root, "a database is described by impossible numbers") }
    guard !tree.isEmpty else {
      guard tree.entries == 0, tree.depth == 0 else {
        throw damage(tree.root, "a database without pages has entries")
      }
      return
    }
    let keys: DataFilePage.KeyOrder = tree.hasIntegerKeys ? .integers : .bytes
    var pending = [Pending(number: tree.root, depth: 1)]
    var entries: UInt64 = 0
    // The greatest key so far, or the separator before the next one.
    var last: [UInt8] = []
    while let next = pending.popLast() {
      try read(tree: next.number)
      if let flaw = page.flaw(keys: keys) { throw damage(next.number, flaw) }
      guard page.isLeaf == (next.depth == tree.depth), let count = page.nodeCount else {
        throw damage(next.number, "a database has another depth than it says")
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
      throw damage(tree.root, "a database has \(entries) entries and says \(tree.entries)")
    }
  }

  private func addChildren(
    of parent: Pending,
    _ count: Int,
    _ keys: DataFilePage.KeyOrder,
    to pending: inout [Pending]
  ) throws(LMDBError) {
    for index in (0..<count).reversed() {
      guard let node = page.node(index) else { throw damage(parent.number, "a node is outside") }
      let separator = index == 0 ? parent.separator : Array(page.bytes[node.key])
      pending.append(Pending(number: node.child, depth: parent.depth + 1, separator: separator))
    }
  }

  /// Checks that the keys of a leaf follow its separator and each other.
  private func checkOrder(
    of leaf: Pending,
    _ count: Int,
    _ keys: DataFilePage.KeyOrder,
    _ last: inout [UInt8]
  ) throws(LMDBError) {
    var previous: Range<Int>?
    for index in 0..<count {
      guard let node = page.node(index) else { throw damage(leaf.number, "a node is outside") }
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

  /// Checks the values of a leaf.
  private mutating func visit(
    _ number: UInt64,
    _ count: Int,
    _ content: Content
  ) throws(LMDBError) {
    for index in 0..<count {
      guard let node = page.node(index) else { throw damage(number, "a node is outside") }
      var first: UInt64?
      if node.isBig {
        let start: UInt64 = page.integer(node.dataStart)
        try checkLargeValue(start, size: node.size)
        first = start
      }
      switch content {
      case .entries:
        guard !node.isTree else { throw damage(number, "an entry is a database") }
      case .names:
        guard node.isTree else { continue }
        guard node.size == 48 else { throw damage(number, "a name is no name of a database") }
        named.append(Self.tree(page, node.dataStart))
      case .freePages:
        let commit: UInt64 = page.integer(node.key.lowerBound)
        guard !node.isTree, commit > 0, commit <= transaction else {
          throw damage(number, "free pages are of an impossible commit")
        }
        let size = Int(node.size)
        let list =
          if let first {
            try bytes(at: Int(first) * pageSize + DataFilePage.headerSize, size)
          } else {
            Array(page.bytes[node.dataStart..<node.dataStart + size])
          }
        try addFreePages(list, listedIn: number)
      }
    }
  }

  private mutating func checkLargeValue(_ number: UInt64, size: UInt64) throws(LMDBError) {
    let header = DataFilePage(
      bytes: try bytes(at: try offset(of: number), DataFilePage.headerSize)
    )
    let count = header.overflowCount
    guard header.number == number, header.isOverflow, count <= fileCount - number,
      size + UInt64(DataFilePage.headerSize) <= count * UInt64(pageSize)
    else { throw damage(number, "the first page of a large value is none") }
    for other in number..<number + count where !used.insert(other) {
      throw damage(other, "a page of a large value belongs to something else")
    }
  }

  // MARK: Free pages

  private mutating func addFreePages(_ list: [UInt8], listedIn page: UInt64) throws(LMDBError) {
    let list = DataFilePage(bytes: list)
    let count: UInt64 = list.integer(0)
    // LMDB may leave more room than it used.
    guard list.bytes.count.isMultiple(of: 8), count < UInt64(list.bytes.count / 8) else {
      throw damage(page, "a list of free pages is longer than its entry")
    }
    var previous = UInt64.max
    for index in 0..<Int(count) {
      let number: UInt64 = list.integer(8 + index * 8)
      // LMDB merges lists by their order, greatest number first.
      guard number > 1, number < pageCount, number < previous else {
        throw damage(page, "page \(number) cannot be free")
      }
      freePages.append(number)
      previous = number
    }
  }

  /// Checks that no page is free twice or used, and that those beyond the file's end are all free.
  private mutating func checkFreePages() throws(LMDBError) {
    var beyond: Set<UInt64> = []
    for number in freePages {
      guard number < fileCount ? used.insert(number) : beyond.insert(number).inserted else {
        throw damage(number, "a free page is used, or free twice")
      }
    }
    let missing = pageCount > fileCount ? pageCount - fileCount : 0
    guard UInt64(beyond.count) == missing else {
      throw damage(fileCount, "the file is cut off")
    }
  }

  // MARK: Bytes

  private mutating func read(tree number: UInt64) throws(LMDBError) {
    guard used.insert(number) else { throw damage(number, "a page belongs to something else") }
    try read(number)
    guard page.number == number else { throw damage(number, "a page has another number") }
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
    let count = unsafe page.bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    }
    guard count < 0 || count == pageSize else { throw damage(number, "a page is cut off") }
    if count < 0 { throw LMDBError(LMDBError.Code(rawValue: errno), operation: "pread") }
  }

  private func bytes(at offset: Int, _ count: Int) throws(LMDBError) -> [UInt8] {
    let bytes = DataFileReader.read(descriptor, at: offset, count: count)
    guard bytes.count == count else { throw LMDBError(.inputOutput, operation: "pread") }
    return bytes
  }

  private func damage(_ number: UInt64, _ reason: String) -> LMDBError {
    LMDBError(.corrupted, operation: "page \(number): \(reason)")
  }
}
