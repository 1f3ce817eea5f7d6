#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Visits every page of a data file that is in use, and checks that it is what it should be.
///
/// LMDB trusts its pages: some damage ends the process, by a failed assertion or by reading outside
/// the map. This reads the file by itself, so that nothing in it can. It does not know databases
/// with several values for one key, which nothing here makes.
struct PageWalk {
  /// How a database is described: in a meta page, or in the node of its name.
  private static let descriptionSize = 48
  private static let headerSize = 16
  private static let noPage = UInt64.max

  private enum PageFlag {
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
  }

  private enum NodeFlag {
    static let bigData: UInt16 = 0x01
    static let database: UInt16 = 0x02
  }

  private let descriptor: Int32
  private let pageSize: Int
  private let pageCount: UInt64
  private var visited: Set<UInt64> = []
  private var pending: [UInt64] = []

  init(descriptor: Int32, pageSize: Int) throws(LMDBError) {
    self.descriptor = descriptor
    self.pageSize = pageSize
    pageCount = UInt64(try EnvironmentFile.size(of: descriptor)) / UInt64(pageSize)
  }

  /// Checks all pages of the last commit.
  ///
  /// - Throws: ``LMDBError`` with `corrupted`.
  mutating func run() throws(LMDBError) {
    // The layout below is that of machines of 64 bits; others have files of their own.
    guard MemoryLayout<Int>.size == 8 else { return }
    let metas = [try bytes(ofPage: 0), try bytes(ofPage: 1)]
    let fixedSize = 24
    let start = Self.headerSize + fixedSize
    let numberOffset = start + 2 * Self.descriptionSize + 8
    let newest =
      integer(metas[0], numberOffset, as: UInt64.self)
        >= integer(metas[1], numberOffset, as: UInt64.self) ? metas[0] : metas[1]
    for index in 0..<2 { try addRoot(newest, start + index * Self.descriptionSize) }
    while let number = pending.popLast() { try visit(number) }
  }

  private mutating func visit(_ number: UInt64) throws(LMDBError) {
    let page = try bytes(ofPage: number)
    let flags = integer(page, 10, as: UInt16.self)
    let lower = Int(integer(page, 12, as: UInt16.self))
    guard
      integer(page, 0, as: UInt64.self) == number,
      flags == PageFlag.branch || flags == PageFlag.leaf,
      lower >= Self.headerSize, lower <= pageSize
    else { throw damage(number) }
    guard DataFilePage(bytes: page).flaw(keySize: nil) == nil else { throw damage(number) }
    let nodeHeaderSize = 8
    for index in 0..<(lower - Self.headerSize) / 2 {
      let node = Int(integer(page, Self.headerSize + index * 2, as: UInt16.self))
      guard node >= lower, node + nodeHeaderSize <= pageSize else { throw damage(number) }
      let low = UInt64(integer(page, node, as: UInt16.self))
      let high = UInt64(integer(page, node + 2, as: UInt16.self))
      let nodeFlags = integer(page, node + 4, as: UInt16.self)
      let data = node + nodeHeaderSize + Int(integer(page, node + 6, as: UInt16.self))
      guard data <= pageSize else { throw damage(number) }
      if flags & PageFlag.branch != 0 {
        try add(low | high << 16 | UInt64(nodeFlags) << 32)
        continue
      }
      let size = low | high << 16
      let isBig = nodeFlags & NodeFlag.bigData != 0
      let inlineSize = isBig ? 8 : Int(size)
      guard data + inlineSize <= pageSize else { throw damage(number) }
      if isBig {
        try checkOverflow(integer(page, data, as: UInt64.self), size: size)
      } else if nodeFlags & NodeFlag.database != 0 {
        guard size == Self.descriptionSize else { throw damage(number) }
        try addRoot(page, data)
      }
    }
  }

  private mutating func addRoot(_ page: [UInt8], _ offset: Int) throws(LMDBError) {
    let rootOffset = 40
    let root = integer(page, offset + rootOffset, as: UInt64.self)
    if root != Self.noPage { try add(root) }
  }

  private mutating func add(_ number: UInt64) throws(LMDBError) {
    guard number > 1, visited.insert(number).inserted else { throw damage(number) }
    pending.append(number)
  }

  private mutating func checkOverflow(_ number: UInt64, size: UInt64) throws(LMDBError) {
    let page = try bytes(ofPage: number)
    let count = UInt64(integer(page, 12, as: UInt32.self))
    guard
      visited.insert(number).inserted,
      integer(page, 0, as: UInt64.self) == number,
      integer(page, 10, as: UInt16.self) & PageFlag.overflow != 0,
      count <= pageCount - number,
      size + UInt64(Self.headerSize) <= count * UInt64(pageSize)
    else { throw damage(number) }
  }

  private func bytes(ofPage number: UInt64) throws(LMDBError) -> [UInt8] {
    guard number < pageCount else { throw damage(number) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: pageSize) { buffer, count in
      let offset = off_t(number) * off_t(pageSize)
      count = unsafe max(pread(descriptor, buffer.baseAddress, pageSize, offset), 0)
    }
    guard bytes.count == pageSize else { throw damage(number) }
    return bytes
  }

  /// Numbers in the file are in the machine's own order; `offset` lies inside the page.
  private func integer<Integer: FixedWidthInteger>(
    _ page: [UInt8],
    _ offset: Int,
    as type: Integer.Type
  ) -> Integer {
    guard offset + MemoryLayout<Integer>.size <= page.count else { return 0 }
    return unsafe page.withUnsafeBytes { bytes in
      unsafe bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }
  }

  private func damage(_ number: UInt64) -> LMDBError {
    LMDBError(.corrupted, operation: "page \(number)")
  }
}
