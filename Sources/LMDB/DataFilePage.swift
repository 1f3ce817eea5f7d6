internal import SystemInterface

/// One page of a data file, as read from disk; none of its contents can be trusted.
///
/// Integers are in native byte order, with the layout of 64-bit systems.
struct DataFilePage {
  enum Flag {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
  }

  var bytes: [UInt8]
  /// The format of the file that contains the page.
  var format = DataFileFormat.installed

  private var headerSize: Int { format.headerSize }

  var number: UInt64 { integer(0) }
  /// The page flags.
  ///
  /// Pages on disk have exactly one of those in ``Flag``, or that of a meta page.
  var flags: UInt16 { integer(headerSize - 6) }
  var isBranch: Bool { flags == Flag.branch }
  var isLeaf: Bool { flags == Flag.leaf }
  var isOverflow: Bool { flags == Flag.overflow }
  /// The number of pages of the large value that begins here.
  var overflowCount: UInt64 { UInt64(integer(headerSize - 4, as: UInt32.self)) }
  /// The number of nodes, or `nil` if it is not possible in a page.
  var nodeCount: Int? {
    let lower = place(headerSize - 4)
    guard lower >= headerSize, lower <= bytes.count, lower.isMultiple(of: 2) else {
      return nil
    }
    return (lower - headerSize) / 2
  }

  /// An entry of a leaf page, or a branch page's reference to a child.
  struct Node {
    var flags: UInt16
    var key: Range<Int>
    /// The size of the value; in a branch page, the lower 32 bits of the child's page number.
    var size: UInt64
    /// The offset of the value, or of the number of its first page.
    var dataStart: Int

    /// Whether the value is stored in overflow pages.
    var isBig: Bool { flags & 0x01 != 0 }
    /// Whether the value describes a database.
    var isTree: Bool { flags & 0x02 != 0 }
    /// The page number of the child; valid in a branch page.
    var child: UInt64 { size | UInt64(flags) << 32 }
  }

  /// Returns the node at an index, or `nil` if it extends past the page.
  func node(_ index: Int) -> Node? {
    let nodeHeaderSize = 8
    let start = place(headerSize + index * 2)
    guard start >= headerSize, start + nodeHeaderSize <= bytes.count else { return nil }
    let keyEnd = start + nodeHeaderSize + Int(integer(start + 6, as: UInt16.self))
    guard keyEnd <= bytes.count else { return nil }
    return Node(
      flags: integer(start + 4),
      key: start + nodeHeaderSize..<keyEnd,
      size: UInt64(integer(start, as: UInt16.self))
        | UInt64(integer(start + 2, as: UInt16.self)) << 16,
      dataStart: keyEnd
    )
  }

  /// The order of the keys of a database.
  enum KeyOrder {
    /// Lexicographic by bytes; a prefix comes first.
    case bytes
    /// By value, as native 64-bit unsigned integers.
    case integers

    func allows(keySize: Int) -> Bool {
      switch self {
      case .bytes: (1...511).contains(keySize)
      case .integers: keySize == 8
      }
    }

    /// Returns whether the first key is less than the second.
    func isAscending(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> Bool {
      unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          if self == .integers, first.count == 8, second.count == 8 {
            return unsafe first.loadUnaligned(as: UInt64.self)
              < second.loadUnaligned(as: UInt64.self)
          }
          guard let one = first.baseAddress, let other = second.baseAddress else {
            return first.count < second.count
          }
          let order = unsafe memcmp(one, other, min(first.count, second.count))
          return order == 0 ? first.count < second.count : order < 0
        }
      }
    }
  }

  /// Validates the header and the nodes of a branch or leaf page, which LMDB uses unchecked.
  ///
  /// The nodes must fill the page from the end of its free space to its own end, in any order and
  /// without overlapping.
  ///
  /// - Returns: A description of the first problem, or `nil`.
  func flaw(keys: KeyOrder) -> String? {
    guard isBranch || isLeaf, let count = nodeCount else { return "not a branch or leaf page" }
    let freeEnd = place(headerSize - 2)
    guard freeEnd >= headerSize + count * 2, freeEnd <= bytes.count else {
      return "the free space extends past the page"
    }
    guard count >= (isBranch ? 2 : 1) else { return "the page has too few nodes" }
    // Nodes begin at even offsets. If the set of starts plus the page's end equals the set of ends
    // plus the end of the free space, and neither has duplicates, then the nodes are contiguous.
    var starts = PageSet(limit: UInt64(bytes.count / 2) + 1)
    var ends = starts
    let nodeLimit = (((bytes.count - headerSize) / 2) & ~1) - 2
    for index in 0..<count {
      guard let node = node(index) else { return "a node extends past its page" }
      let start = node.key.lowerBound - 8
      let isFirstOfBranch = isBranch && index == 0
      guard keys.allows(keySize: node.key.count) || isFirstOfBranch && node.key.count <= 511 else {
        return "a key has an invalid size"
      }
      var end = node.dataStart
      if isLeaf {
        guard node.flags <= 2 else { return "a node has unknown flags" }
        end += node.isBig ? format.largeReferenceSize : Int(node.size)
        guard end <= bytes.count, end - start <= nodeLimit else {
          return "a value extends past its page"
        }
      }
      guard start.isMultiple(of: 2), start >= freeEnd, starts.insert(UInt64(start / 2)),
        ends.insert(UInt64((end + 1) / 2))
      else { return "the nodes overlap" }
    }
    guard starts.insert(UInt64(bytes.count / 2)), ends.insert(UInt64(freeEnd / 2)),
      freeEnd.isMultiple(of: 2), starts == ends
    else { return "the nodes do not fill the page" }
    return nil
  }

  // MARK: Meta pages

  /// Whether the page is a meta page of ``format``.
  var isMetaPage: Bool { formatNumber == format.rawValue }
  /// The number of the format that a meta page states, or `nil` for another page.
  ///
  /// It is ``format`` where that determines the places in the page, and that of a future version
  /// or of a damaged page otherwise.
  var formatNumber: UInt32? {
    guard flags & 0x08 != 0, integer(headerSize, as: UInt32.self) == 0xBEEF_C0DE else { return nil }
    return integer(headerSize + 4)
  }
  /// The size of the map of the process that wrote the meta page, in bytes.
  var mapSize: UInt64 { integer(headerSize + 16) }
  /// The size of the pages of the file, in bytes.
  var pageSize: Int { Int(integer(headerSize + 24, as: UInt32.self)) }
  /// The tree of free pages.
  var freePagesTree: DataFileReader.Tree { tree(headerSize + 24) }
  /// The tree that maps names to databases.
  var mainTree: DataFileReader.Tree { tree(headerSize + 72) }
  /// The number of the last page of the commit, used or free.
  var lastPage: UInt64 { integer(headerSize + 120) }
  /// The number of the commit.
  var transaction: UInt64 { integer(format.transactionOffset) }

  /// The description of a tree at an offset.
  func tree(_ offset: Int) -> DataFileReader.Tree {
    DataFileReader.Tree(
      flags: integer(offset + 4) & 0x7FFF,
      depth: Int(integer(offset + 6, as: UInt16.self)),
      branchPages: integer(offset + 8),
      leafPages: integer(offset + 16),
      overflowPages: integer(offset + 24),
      entries: integer(offset + 32),
      root: integer(offset + 40)
    )
  }

  /// Returns the place in the page that the 16 bits at an offset name.
  private func place(_ offset: Int) -> Int {
    Int(integer(offset, as: UInt16.self)) + format.firstPlace
  }

  /// Returns the integer at an offset, or 0 if it extends past the page.
  func integer<Integer: FixedWidthInteger>(
    _ offset: Int,
    as type: Integer.Type = Integer.self
  ) -> Integer {
    guard offset >= 0, offset + MemoryLayout<Integer>.size <= bytes.count else { return 0 }
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }
  }
}
