internal import SystemInterface

/// A reader for LMDB data files that may be damaged.
///
/// LMDB trusts its pages: some damage ends the process, by a failed assertion or by an access
/// outside the map. This type reads the file with `pread` and checks each page. It records damage
/// and continues with the rest of the file. Databases with several values for one key are not
/// supported.
///
/// It reads the last commit. If other processes may write, keep a read transaction open while using
/// it. It also reads files of a format that the linked LMDB does not.
package final class DataFileReader {
  /// A damaged page, or a damaged part of one.
  package struct Damage: Sendable, Hashable {
    /// The number of the page.
    package var page: UInt64
    /// A description of the damage.
    package var reason: String
  }

  /// A database: a B+ tree of pages.
  package struct Tree: Sendable, Hashable {
    package var flags: UInt16
    package var depth: Int
    package var branchPages: UInt64
    package var leafPages: UInt64
    package var overflowPages: UInt64
    package var entries: UInt64
    var root: UInt64

    /// Whether the flags and the depth are those of a database that this package could have
    /// created.
    ///
    /// The only supported flag is the one for integer keys. LMDB's cursors hold 32 levels, and a
    /// write may add one.
    var isPlausible: Bool { flags & ~0x08 == 0 && depth < 31 }
    var hasIntegerKeys: Bool { flags & 0x08 != 0 }
    var isEmpty: Bool { root == UInt64.max }
  }

  /// The first damages found, at most 1,000.
  package private(set) var damagedPages: [Damage] = []
  /// The number of damages found, including those that ``damages`` leaves out.
  package private(set) var damageCount = 0
  /// The pages read so far.
  private var visited: Set<UInt64> = []

  private let descriptor: Int32
  private let format: DataFileFormat
  let pageSize: Int
  private let pageCount: UInt64
  /// The number of the last commit that is readable.
  package let lastTransaction: UInt64
  /// The number of the last page of the last commit, used or free.
  private let lastPage: UInt64
  private let freePagesTree: Tree
  /// Whether both meta pages are valid: that of the last commit and that of the previous one.
  package let hasBothMetaPages: Bool
  /// The tree that maps names to databases.
  private let mainTree: Tree
  private static let maximumDamages = 1_000

  /// Opens the file and finds the last commit in it.
  ///
  /// - Throws: ``LMDBError`` with `noSuchFile`, `accessDenied`, or `invalid` if neither meta page
  ///   is valid.
  package init(path: String) throws(LMDBError) {
    let descriptor = try StoreFile.openRegular(path, flags: O_RDONLY)
    do throws(LMDBError) {
      let size = try EnvironmentFile.size(of: descriptor)
      let meta = try Self.newestMeta(descriptor, fileSize: size)
      format = meta.page.format
      pageSize = meta.pageSize
      hasBothMetaPages = (0..<2).allSatisfy { number in
        let start = number * meta.pageSize
        let bytes = Self.read(descriptor, at: start, count: 512)
        let page = DataFilePage(bytes: bytes, format: meta.page.format)
        return Self.isMeta(page, number, pageSize: meta.pageSize)
      }
      pageCount = UInt64(size) / UInt64(meta.pageSize)
      guard pageCount >= 2 else { throw LMDBError(.invalid, operation: "reading the meta pages") }
      lastTransaction = meta.page.transaction
      lastPage = meta.page.lastPage
      freePagesTree = meta.page.freePagesTree
      mainTree = meta.page.mainTree
    } catch {
      EnvironmentFile.close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit {
    EnvironmentFile.close(descriptor)
  }

  // MARK: Meta pages

  /// Returns the number of the last commit of an open data file, and that of the commit before, which
  /// is 0 if its meta page is not valid.
  ///
  /// - Throws: ``LMDBError`` with `invalid` if neither meta page is valid.
  static func transactions(
    of descriptor: Int32
  ) throws(LMDBError) -> (last: UInt64, previous: UInt64) {
    let size = try EnvironmentFile.size(of: descriptor)
    let newest = try newestMeta(descriptor, fileSize: size)
    let number = newest.page.transaction
    let other = newest.page.number == 0 ? 1 : 0
    let start = other * newest.pageSize
    let bytes = read(descriptor, at: start, count: 512)
    let page = DataFilePage(bytes: bytes, format: newest.page.format)
    guard isMeta(page, other, pageSize: newest.pageSize) else { return (number, 0) }
    return (number, page.transaction)
  }

  /// The place of the commit number of a meta page in the file.
  func transactionOffset(ofMetaPage number: UInt64) -> Int64 {
    Int64(number) * Int64(pageSize) + Int64(format.transactionOffset)
  }

  private static func newestMeta(
    _ descriptor: Int32,
    fileSize: Int64
  ) throws(LMDBError) -> (page: DataFilePage, pageSize: Int) {
    var newest: (page: DataFilePage, pageSize: Int)?
    // The first meta page contains the page size. If it is damaged, the second one lies at one of
    // these offsets.
    for size in [4_096, 8_192, 16_384, 32_768, 65_536, 512, 1_024, 2_048] {
      for number in 0..<2 {
        let bytes = read(descriptor, at: number * size, count: 512)
        for format in DataFileFormat.allCases {
          let page = DataFilePage(bytes: bytes, format: format)
          guard isMeta(page, number, pageSize: size) else { continue }
          if let other = newest, other.page.transaction >= page.transaction { continue }
          newest = (page, size)
        }
      }
      if newest != nil { break }
    }
    if let newest { return newest }
    if let number = unknownFormat(descriptor) { throw DataFileFormat.mismatch(number) }
    throw LMDBError(.invalid, operation: "reading the meta pages")
  }

  /// Returns the number of the file's format if it is a known one that the linked LMDB does not read.
  private static func otherFormat(_ descriptor: Int32) -> UInt32? {
    let bytes = read(descriptor, at: 0, count: 512)
    let others = DataFileFormat.allCases.filter { $0 != .installed }
    return others.first { DataFilePage(bytes: bytes, format: $0).isMetaPage }?.rawValue
  }

  /// Returns the number of the file's format if both meta pages state the same one and this module
  /// does not know it.
  ///
  /// If only one of them states it, that page is damaged.
  private static func unknownFormat(_ descriptor: Int32) -> UInt32? {
    for format in DataFileFormat.allCases {
      let first = DataFilePage(bytes: read(descriptor, at: 0, count: 512), format: format)
      let bytes = read(descriptor, at: first.pageSize, count: 512)
      let number = DataFilePage(bytes: bytes, format: format).formatNumber
      if let number, number == first.formatNumber, DataFileFormat(rawValue: number) == nil {
        return number
      }
    }
    return nil
  }

  private static func isMeta(_ page: DataFilePage, _ number: Int, pageSize: Int) -> Bool {
    page.bytes.count == 512 && page.isMetaPage && page.flags == 0x08
      && page.number == UInt64(number) && page.pageSize == pageSize
  }

  /// Validates the fields of the meta pages that LMDB uses unchecked when it opens a file.
  ///
  /// LMDB divides by the page size, and maps as many pages as the meta page claims.
  ///
  /// - Throws: ``LMDBError`` with `versionMismatch` for a file of a format that the linked LMDB cannot
  ///   read, `invalid` for a damaged or missing meta page.
  static func checkMetaPages(in folder: String) throws(LMDBError) {
    // The offsets below are those of 64-bit systems.
    guard MemoryLayout<Int>.size == 8 else { return }
    let descriptor = try StoreFile.openRegular(folder + "/data.mdb", flags: O_RDONLY)
    defer { EnvironmentFile.close(descriptor) }
    guard try EnvironmentFile.size(of: descriptor) > 0 else { return }
    let first = DataFilePage(bytes: read(descriptor, at: 0, count: 512))
    if !first.isMetaPage, let number = otherFormat(descriptor) ?? unknownFormat(descriptor) {
      throw DataFileFormat.mismatch(number)
    }
    let pageSize = first.pageSize
    let second = DataFilePage(bytes: read(descriptor, at: pageSize, count: 512))
    // LMDB refuses a file of something else.
    guard first.isMetaPage || second.isMetaPage else { return }
    for (number, page) in [first, second].enumerated() {
      let (free, main) = (page.freePagesTree, page.mainTree)
      guard isMeta(page, number, pageSize: pageSize),
        (4_096...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1,
        page.transaction < 1 << 62, page.mapSize <= 1 << 47, page.lastPage >= 1,
        page.lastPage < page.mapSize / UInt64(pageSize),
        free.flags == 0x08, main.flags == 0, free.isPlausible, main.isPlausible
      else { throw LMDBError(.invalid, operation: "reading meta page \(number)") }
    }
  }

  // MARK: Trees

  /// Returns every named database that can be read.
  package func trees() -> [String: Tree] {
    var trees: [String: Tree] = [:]
    walk(mainTree, "main database") { page, node in
      guard node.isTree, node.size == 48 else {
        note(page.number, "an entry of the main database does not describe a database")
        return
      }
      let bytes = page.bytes[node.key]
      let end = format.namesEndWithZero && bytes.last == 0 ? 1 : 0
      let name = String(decoding: bytes.dropLast(end), as: UTF8.self)
      let tree = page.tree(node.dataStart)
      guard tree.isPlausible else {
        return note(page.number, "\(name): invalid description of a database")
      }
      trees[name] = tree
    }
    return trees
  }

  /// Calls `body` with each readable entry of a database, in key order.
  package func forEachEntry(
    of tree: Tree,
    named name: String,
    _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Void
  ) rethrows {
    try walk(tree, name) { page, node in
      if node.isTree {
        note(page.number, "\(name): an entry describes a database")
      } else if let value = value(of: node, in: page) {
        try body(page.bytes[node.key].span, value.span)
      }
    }
  }

  /// Returns the free pages, or `nil` if the free list is damaged.
  package func freePages() -> Set<UInt64>? {
    let before = damageCount
    var pages: Set<UInt64> = []
    walk(freePagesTree, "free list") { page, node in
      guard let value = value(of: node, in: page) else { return }
      let list = DataFilePage(bytes: Array(value))
      let count = list.integer(0, as: UInt64.self)
      // LMDB may reserve more space than the list needs.
      guard value.count.isMultiple(of: 8), count < UInt64(value.count / 8) else {
        return note(page.number, "a list of free pages exceeds its entry")
      }
      var previous = UInt64.max
      for index in 0..<Int(count) {
        let number: UInt64 = list.integer(8 + index * 8)
        defer { previous = number }
        // LMDB merges these lists, and relies on their descending order.
        if number < 2 || number > lastPage || number >= previous || !pages.insert(number).inserted {
          note(page.number, "invalid or repeated number \(number) in the list of free pages")
        }
      }
    }
    return damageCount == before ? pages : nil
  }

  /// Calls `body` with each node of the leaves of a tree, from left to right.
  private func walk(
    _ tree: Tree,
    _ name: String,
    _ body: (DataFilePage, DataFilePage.Node) throws -> Void
  ) rethrows {
    guard !tree.isEmpty else { return }
    var pending: [(number: UInt64, depth: Int)] = [(tree.root, 1)]
    var entries: UInt64 = 0
    let before = damageCount
    while let (number, depth) = pending.popLast() {
      guard number > 1, visited.insert(number).inserted else {
        note(number, "\(name): a page is invalid or already in use")
        continue
      }
      guard let page = page(number), page.number == number, page.isBranch || page.isLeaf,
        let count = page.nodeCount, count >= (page.isBranch ? 2 : 1)
      else {
        note(number, "\(name): not a branch or leaf page")
        continue
      }
      if let flaw = page.flaw(keys: tree.hasIntegerKeys ? .integers : .bytes) { note(number, flaw) }
      if page.isLeaf != (depth == tree.depth) {
        note(number, "\(name): the depth does not match its description")
      }
      if page.isBranch {
        guard depth < 32 else { continue }
        for index in (0..<count).reversed() {
          guard let node = page.node(index) else {
            note(number, "\(name): a node extends past its page")
            continue
          }
          pending.append((node.child, depth + 1))
        }
      } else {
        entries += UInt64(count)
        for index in 0..<count {
          guard let node = page.node(index) else {
            note(number, "\(name): a node extends past its page")
            continue
          }
          try body(page, node)
        }
      }
    }
    if damageCount == before, entries != tree.entries {
      note(tree.root, "\(name): found \(entries) entries instead of \(tree.entries)")
    }
  }

  // MARK: Unreachable pages

  /// Calls `body` with each entry of the leaf pages that are neither free nor reachable from a
  /// tree, because a page above them is damaged.
  ///
  /// Read every tree first. A leaf does not contain the name of its database. Free pages are left
  /// out, because their entries belong to earlier commits.
  ///
  /// - Parameters:
  ///   - free: The pages that are left out. Without any, several copies of a page, which earlier
  ///     commits have left, may refer to the same large value.
  ///   - body: Called with the number of the page, and the key and the value of each entry.
  package func forEachUnreachableEntry(
    free: Set<UInt64>,
    _ body: (_ page: UInt64, _ key: Span<UInt8>, _ value: Span<UInt8>) -> Void
  ) {
    for number in stride(from: 2, through: min(lastPage, pageCount - 1), by: 1)
    where !visited.contains(number) && !free.contains(number) {
      guard let page = page(number), page.number == number, page.isLeaf,
        let count = page.nodeCount
      else { continue }
      for index in 0..<count {
        guard let node = page.node(index), !node.isTree,
          let value = value(of: node, in: page, isShared: free.isEmpty)
        else { continue }
        body(number, page.bytes[node.key].span, value.span)
      }
    }
  }

  /// The number of pages found in use so far.
  package var visitedPageCount: Int { visited.count }

  /// Records a damage for each page that is both free and in use.
  package func checkFreePages(_ free: Set<UInt64>) {
    for number in free where visited.contains(number) {
      note(number, "a page in use is also listed as free")
    }
  }

  // MARK: Bytes

  /// Returns a value; `nil` if it is damaged, or if its pages are in use and not shared.
  private func value(
    of node: DataFilePage.Node,
    in page: DataFilePage,
    isShared: Bool = false
  ) -> ArraySlice<UInt8>? {
    guard node.isBig else {
      let end = node.dataStart + Int(node.size)
      guard end <= page.bytes.count else {
        note(page.number, "a value extends past its page")
        return nil
      }
      return page.bytes[node.dataStart..<end]
    }
    let number: UInt64 = page.integer(node.dataStart)
    guard node.dataStart + format.largeReferenceSize <= page.bytes.count, number > 1,
      let first = self.page(number),
      first.number == number, first.isOverflow
    else {
      note(number, "not the first page of a large value")
      return nil
    }
    let size = UInt64(format.headerSize) + node.size
    guard first.overflowCount <= pageCount - number,
      // A value that a transaction replaces by a smaller one keeps its pages.
      first.overflowCount >= (size - 1) / UInt64(pageSize) + 1
    else {
      note(number, "a large value has too few pages")
      return nil
    }
    for other in number..<number + first.overflowCount
    where !isShared && !visited.insert(other).inserted {
      note(other, "a page of a large value is already in use")
      return nil
    }
    let start = Int(number) * pageSize + format.headerSize
    let bytes = Self.read(descriptor, at: start, count: Int(node.size))
    guard bytes.count == Int(node.size) else {
      note(number, "a large value is truncated")
      return nil
    }
    return bytes[...]
  }

  private func page(_ number: UInt64) -> DataFilePage? {
    guard number < pageCount, number <= lastPage else { return nil }
    let bytes = Self.read(descriptor, at: Int(number) * pageSize, count: pageSize)
    return bytes.count == pageSize ? DataFilePage(bytes: bytes, format: format) : nil
  }

  static func read(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
    bytes(ofFile: descriptor, at: offset, count: count)
  }

  private func note(_ page: UInt64, _ reason: String) {
    damageCount += 1
    if damagedPages.count < Self.maximumDamages {
      damagedPages.append(Damage(page: page, reason: reason))
    }
  }
}
