/// One page of a data file, read by itself: every number in it may lie.
///
/// Numbers are in the machine's own order, of 64 bits.
struct DataFilePage {
  enum Flag {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
  }

  static let headerSize = 16

  let bytes: [UInt8]

  var number: UInt64 { integer(0) }
  /// What kind of page it is, as far as one that is not being written can be.
  var flags: UInt16 { integer(10) }
  var isBranch: Bool { flags == Flag.branch }
  var isLeaf: Bool { flags == Flag.leaf }
  var isOverflow: Bool { flags == Flag.overflow }
  /// How many pages a value takes that begins here.
  var overflowCount: UInt64 { UInt64(integer(12, as: UInt32.self)) }
  /// How many nodes there are; `nil` when there cannot be so many.
  var nodeCount: Int? {
    let lower = Int(integer(12, as: UInt16.self))
    guard lower >= Self.headerSize, lower <= bytes.count, lower.isMultiple(of: 2) else {
      return nil
    }
    return (lower - Self.headerSize) / 2
  }

  /// An entry of a leaf, or the way to another page.
  struct Node {
    var flags: UInt16
    var key: Range<Int>
    /// The size of the value, or the lower half of a page's number.
    var size: UInt64
    /// Where the value, or the number of its first page, begins.
    var dataStart: Int

    /// The value lies in pages of its own.
    var isBig: Bool { flags & 0x01 != 0 }
    /// The value describes a tree.
    var isTree: Bool { flags & 0x02 != 0 }
    /// Of a branch: the page that the node leads to.
    var child: UInt64 { size | UInt64(flags) << 32 }
  }

  /// The node of that number; `nil` when it does not lie in the page.
  func node(_ index: Int) -> Node? {
    let nodeHeaderSize = 8
    let start = Int(integer(Self.headerSize + index * 2, as: UInt16.self))
    guard start >= Self.headerSize, start + nodeHeaderSize <= bytes.count else { return nil }
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

  /// Checks what LMDB trusts in a branch or leaf.
  ///
  /// Nodes fill the page from the end of its free space to its own end, in any order.
  ///
  /// - Parameter keySize: The size of every key, or `nil` for keys of 1 to 511 bytes.
  /// - Returns: What is wrong, or `nil`.
  func flaw(keySize: Int?) -> String? {
    guard isBranch || isLeaf, let count = nodeCount else { return "a page is no branch or leaf" }
    let freeEnd = Int(integer(14, as: UInt16.self))
    guard freeEnd >= Self.headerSize + count * 2, freeEnd <= bytes.count else {
      return "the free space of a page does not lie in it"
    }
    var nodes: [Range<Int>] = []
    for index in 0..<count {
      guard let node = node(index) else { return "a node does not lie in its page" }
      if isLeaf || index > 0 {
        guard keySize.map({ $0 == node.key.count }) ?? (1...511).contains(node.key.count) else {
          return "a key has an impossible size"
        }
      }
      guard isBranch || node.flags <= 2 else { return "a node has unknown flags" }
      let valueSize = isBranch ? 0 : node.isBig ? 8 : Int(node.size)
      nodes.append(node.key.lowerBound - 8..<node.dataStart + valueSize)
    }
    nodes.sort { $0.lowerBound < $1.lowerBound }
    var place = freeEnd
    for node in nodes {
      guard node.lowerBound == place else { return "the nodes of a page overlap" }
      place = node.upperBound + node.upperBound % 2
    }
    return place == bytes.count ? nil : "the nodes of a page do not fill it"
  }

  /// 0 for one that lies outside.
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
