#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

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

  var bytes: [UInt8]

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

  /// How the keys of a tree compare, as the flags of its description say.
  enum KeyOrder {
    /// As strings of bytes, shorter first.
    case bytes
    /// As unsigned integers of 8 bytes.
    case integers

    func allows(keySize: Int) -> Bool {
      switch self {
      case .bytes: (1...511).contains(keySize)
      case .integers: keySize == 8
      }
    }

    /// Whether the first key is less than the second one.
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

  /// Checks what LMDB trusts in a branch or leaf: its header, and that its nodes fill it from the end
  /// of the free space to its own end, in any order and without overlaps.
  ///
  /// - Returns: What is wrong, or `nil`.
  func flaw(keys: KeyOrder) -> String? {
    guard isBranch || isLeaf, let count = nodeCount else { return "a page is no branch or leaf" }
    let freeEnd = Int(integer(14, as: UInt16.self))
    guard freeEnd >= Self.headerSize + count * 2, freeEnd <= bytes.count else {
      return "the free space of a page does not lie in it"
    }
    guard count >= (isBranch ? 2 : 1) else { return "a page has too few nodes" }
    // Nodes begin at even offsets. Each but the first begins where another ends, and no two share a
    // beginning or an end: so they follow each other.
    var starts = PageSet(limit: UInt64(bytes.count / 2) + 1)
    var ends = starts
    let nodeLimit = (((bytes.count - Self.headerSize) / 2) & ~1) - 2
    for index in 0..<count {
      guard let node = node(index) else { return "a node does not lie in its page" }
      let start = node.key.lowerBound - 8
      let isFirstOfBranch = isBranch && index == 0
      guard keys.allows(keySize: node.key.count) || isFirstOfBranch && node.key.count <= 511 else {
        return "a key has an impossible size"
      }
      var end = node.dataStart
      if isLeaf {
        guard node.flags <= 2 else { return "a node has unknown flags" }
        end += node.isBig ? 8 : Int(node.size)
        guard end <= bytes.count, end - start <= nodeLimit else {
          return "a value does not lie in its page"
        }
      }
      guard start.isMultiple(of: 2), start >= freeEnd, starts.insert(UInt64(start / 2)),
        ends.insert(UInt64((end + 1) / 2))
      else { return "the nodes of a page overlap" }
    }
    guard starts.insert(UInt64(bytes.count / 2)), ends.insert(UInt64(freeEnd / 2)),
      freeEnd.isMultiple(of: 2), starts == ends
    else { return "the nodes of a page do not fill it" }
    return nil
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
