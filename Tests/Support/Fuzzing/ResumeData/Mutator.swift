internal import ResumeData

/// Mutates inputs at random: values of property lists, XML tags, and bytes.
struct Mutator {
  private var random: RandomChoices
  private var values: ValueMutator

  /// The maximum size of an input in bytes.
  ///
  /// Larger inputs would only be slower.
  private static let maximumSize = 1 << 15

  /// Creates a mutator whose mutations are determined by a seed.
  init(seed: UInt64) {
    random = RandomChoices(seed: seed)
    values = ValueMutator(seed: seed ^ 0x5EED)
  }

  /// Returns a mutation of `input`, which may contain parts of `other`.
  mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var bytes = input
    let kind = random.number(8)
    if kind < 4, let changed = changedValues(bytes) { bytes = changed }
    if kind == 4 { changeTags(&bytes) }
    if kind > 3 || random.number(3) == 0 {
      for _ in 0...random.number(4) { changeBytes(&bytes, with: other) }
    }
    return bytes.count > Self.maximumSize ? Array(bytes[..<Self.maximumSize]) : bytes
  }

  /// Changes values and encodes the list, sometimes in another format or form.
  private mutating func changedValues(_ bytes: [UInt8]) -> [UInt8]? {
    guard var list = try? PropertyList(bytes), let format = PropertyListFormat(of: bytes) else {
      return nil
    }
    if random.number(12) == 0, let data = try? URLSessionResumeData(bytes) {
      let forms = URLSessionResumeData.Form.allCases
      return try? data.converted(to: random.pick(forms)).bytes
    }
    for _ in 0...random.number(3) { list = values.changed(list) }
    let formats = PropertyListFormat.allCases
    return try? list.encoded(as: random.number(10) == 0 ? random.pick(formats) : format)
  }

  // MARK: Tags

  /// Moves, copies or removes the bytes between two tags, or inserts new ones.
  private mutating func changeTags(_ bytes: inout [UInt8]) {
    let tags = bytes.indices.filter { bytes[$0] == UInt8(ascii: "<") }
    guard tags.count > 2 else { return }
    let first = random.number(tags.count - 1)
    let from = tags[first]
    let to = tags[min(tags.count - 1, first + 1 + random.number(4))]
    let part = bytes[from..<to]
    switch random.number(4) {
    case 0: bytes.removeSubrange(from..<to)
    case 1: bytes.insert(contentsOf: part, at: random.pick(tags))
    case 2:
      let fragments = [
        "<integer>", "0x7fffffffffffffffffffffff", "&#x110000;", "<![CDATA[", "]]>", "<!--",
        "</dict>",
        "<dict><key>CF$UID</key><integer>1</integer></dict>", "\u{FEFF}", "<real>nan</real>",
        "<date>9999-12-31T23:59:59Z</date>", "<date>0000-01-01T00:00:00Z</date>",
        "<integer>-9223372036854775808</integer>", "<real>-9223372036854775808</real>",
        "<real>-1e308</real>", "<!DOCTYPE a [", "<?x ?>",
      ]
      bytes.insert(
        contentsOf: random.pick(fragments).utf8,
        at: random.pick(tags)
      )
    default:
      let depth = random.number(200)
      let nested =
        String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
      bytes.insert(contentsOf: nested.utf8, at: from)
    }
  }

  // MARK: Bytes

  private static let interesting: [UInt8] = [
    0, 1, 7, 8, 9, 0x0F, 0x10, 0x13, 0x14, 0x1F, 0x23, 0x33, 0x4F, 0x5F, 0x6F, 0x7F, 0x80, 0x81,
    0x8F,
    0xA0, 0xA1, 0xAF, 0xC1, 0xD0, 0xD1, 0xDF, 0xFE, 0xFF,
  ]

  private mutating func changeBytes(_ bytes: inout [UInt8], with other: [UInt8]) {
    guard !bytes.isEmpty else {
      bytes = other
      return
    }
    let offset = random.number(bytes.count)
    switch random.number(9) {
    case 0: bytes[offset] ^= 1 << UInt8(random.number(8))
    case 1: bytes[offset] = random.pick(Self.interesting)
    case 2: bytes[offset] &+= UInt8(random.number(256))
    case 3: bytes.removeSubrange(offset..<min(bytes.count, offset + 1 + random.number(16)))
    case 4:
      let part = bytes[offset..<min(bytes.count, offset + 1 + random.number(64))]
      bytes.insert(contentsOf: part, at: random.number(bytes.count))
    case 5:
      let from = random.number(other.count)
      bytes.insert(
        contentsOf: other[from..<min(other.count, from + 1 + random.number(256))],
        at: offset
      )
    case 6: bytes.removeSubrange(offset...)
    case 7: changeTrailer(&bytes)
    default:
      for index in offset..<min(bytes.count, offset + 1 << random.number(4)) {
        bytes[index] = random.pick(Self.interesting)
      }
    }
  }

  /// Changes the trailer of a binary property list, or its offset table.
  private mutating func changeTrailer(_ bytes: inout [UInt8]) {
    let size = 32
    guard bytes.count > size else { return }
    let start = bytes.count - size
    let fields = [6, 7, 15, 14, 23, 22, 31, 30, 29, 8, 16, 24]
    if random.number(2) == 0 {
      bytes[start + random.pick(fields)] = UInt8(random.number(256))
    } else {
      bytes[max(0, start - 1 - random.number(300))] = UInt8(random.number(256))
    }
  }
}
