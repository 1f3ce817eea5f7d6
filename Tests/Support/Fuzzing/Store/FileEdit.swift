/// A change of a few bytes of a file, encoded in eight bytes of an input.
struct FileEdit {
  /// The kind of change.
  enum Kind: UInt8, CaseIterable {
    case setByte, setUInt16, setUInt32, setUInt64, setEnd, flipBit, copyPage, fillPage, truncate
  }

  static let pageSize = 4_096
  static let size = 8

  var kind: Kind
  var page: UInt16
  var offset: UInt16
  /// A byte, the low bits of a number, or a page.
  var value: UInt16
  /// Whether the high bits of the number are set.
  ///
  /// For `copyPage`, whether the copy gets its own page number.
  var isNegative = false

  /// Returns the edits of an input, without an incomplete one at its end.
  static func edits(of input: [UInt8]) -> [FileEdit] {
    stride(from: 0, to: input.count - size + 1, by: size).map { start in
      func pair(_ offset: Int) -> UInt16 {
        UInt16(input[start + offset]) | UInt16(input[start + offset + 1]) << 8
      }
      return FileEdit(
        kind: Kind.allCases[Int(input[start]) % Kind.allCases.count],
        page: pair(2),
        offset: pair(4),
        value: pair(6),
        isNegative: input[start + 1] & 1 != 0
      )
    }
  }

  /// The encoded edit.
  var bytes: [UInt8] {
    [kind.rawValue, isNegative ? 1 : 0]
      + [page, offset, value].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
  }

  /// Applies the edit to the bytes of a file.
  func apply(to file: inout [UInt8]) {
    let pageCount = file.count / Self.pageSize
    guard pageCount > 0 else { return }
    let start = Int(page) % pageCount * Self.pageSize
    let position = start + Int(offset) % Self.pageSize
    let number = isNegative ? ~UInt64(value) : UInt64(value)
    switch kind {
    case .setByte: set(number, 1, at: position, &file)
    case .setUInt16: set(number, 2, at: position, &file)
    case .setUInt32: set(number, 4, at: position, &file)
    case .setUInt64: set(number, 8, at: position, &file)
    case .setEnd: set(number, 2, at: start + Self.pageSize - 2 - Int(offset % 32), &file)
    case .flipBit: file[position] ^= 1 << UInt8(value % 8)
    case .copyPage:
      let other = Int(value) % pageCount * Self.pageSize
      file.replaceSubrange(
        start..<start + Self.pageSize,
        with: Array(file[other..<other + Self.pageSize])
      )
      // A copy with its own page number is a second path to the same child pages.
      if isNegative { set(UInt64(start / Self.pageSize), 8, at: start, &file) }
    case .fillPage:
      for index in position..<start + Self.pageSize {
        file[index] = UInt8(truncatingIfNeeded: value)
      }
    case .truncate: file.removeLast(min(file.count - 1, Int(value)))
    }
  }

  private func set(_ number: UInt64, _ count: Int, at position: Int, _ file: inout [UInt8]) {
    for index in 0..<count where position + index < file.count {
      file[position + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }
}

/// Generates random edits, mostly of page fields that LMDB trusts.
struct FileEditMutator {
  private var random: RandomChoices
  private let file: [UInt8]
  private let pageCount: Int

  private static let maximumEditCount = 12

  init(seed: UInt64, _ file: [UInt8]) {
    random = RandomChoices(seed: seed)
    self.file = file
    pageCount = file.count / FileEdit.pageSize
  }

  /// Returns a mutation of `input`, which may contain parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var edits = FileEdit.edits(of: input)
    switch random.number(6) {
    case 0 where !edits.isEmpty: edits.remove(at: random.number(edits.count))
    case 1: edits += FileEdit.edits(of: other).prefix(1 + random.number(3))
    case 2 where !edits.isEmpty:
      let index = random.number(edits.count)
      edits[index].value = value()
    case 3: edits = []
    default: break
    }
    for _ in 0..<1 + random.number(2) { edits.append(edit()) }
    return edits.suffix(Self.maximumEditCount).flatMap(\.bytes)
  }

  private mutating func value() -> UInt16 {
    let interesting: [UInt16] = [
      0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 47, 48, 49, 255, 256, 511, 512, 2_048, 4_080, 4_095, 4_096,
      0x7FFF, 0x8000, 0xFFFE, 0xFFFF,
    ]
    switch random.number(4) {
    case 0: return UInt16(random.number(pageCount + 2))
    case 1: return UInt16(random.number(1 << 16))
    default: return random.pick(interesting)
    }
  }

  private mutating func edit() -> FileEdit {
    let page = random.number(8) == 0 ? random.number(2) : random.number(pageCount)
    let kind = random.pick(FileEdit.Kind.allCases)
    // Truncates few files, because that is detected early.
    return FileEdit(
      kind: kind == .truncate && random.number(8) > 0 ? .setUInt16 : kind,
      page: UInt16(page),
      offset: UInt16(offset(inPage: page)),
      value: value(),
      isNegative: random.number(3) == 0
    )
  }

  /// Returns an offset in a page: in its header, a pointer, a node or a field of a meta page.
  private mutating func offset(inPage page: Int) -> Int {
    let start = page * FileEdit.pageSize
    func pair(_ offset: Int) -> Int {
      Int(file[start + offset]) | Int(file[start + offset + 1]) << 8
    }
    if page < 2 {
      let fields = [10, 16, 20, 24, 32, 40, 44, 46, 48, 72, 80, 88, 92, 94, 120, 128, 136, 144]
      return random.pick(fields) + random.number(3) * random.number(2)
    }
    let header = [0, 2, 7, 8, 10, 11, 12, 13, 14, 15]
    let nodeCount = (pair(12) - 16) / 2
    guard nodeCount > 0, nodeCount < 2_000, random.number(4) > 0 else {
      return random.number(3) == 0 ? random.number(FileEdit.pageSize) : random.pick(header)
    }
    let pointer = 16 + 2 * random.number(nodeCount)
    guard random.number(4) > 0 else { return pointer }
    let node = min(pair(pointer), FileEdit.pageSize - 16)
    // The sizes and flags of the node, its key, or the value after the key.
    return switch random.number(3) {
    case 0: node + 8 + random.number(16)
    case 1: min(node + 8 + pair(node + 6) + random.number(48), FileEdit.pageSize - 1)
    default: node + random.number(8)
    }
  }
}
