/// Writes the binary format `bplist00`.
///
/// Equal strings, numbers and references are written once.
///
/// Objects are numbered in CoreFoundation's order: a container, its keys, then its values.
struct BinaryPropertyListWriter {
  private enum Object {
    case scalar([UInt8])
    case container(marker: UInt8, references: [Int])
  }

  private let limits: PropertyListLimits
  private var budget: SizeBudget
  private var objects: [Object] = []
  private var numbers: [[UInt8]: Int] = [:]

  /// Encodes a property list.
  static func write(
    _ value: PropertyList,
    limits: PropertyListLimits
  ) throws(ResumeDataError) -> [UInt8] {
    var writer = Self(limits)
    _ = try writer.add(value, depth: 0)
    return writer.file
  }

  private init(_ limits: PropertyListLimits) {
    self.limits = limits
    budget = SizeBudget(limits)
  }

  // MARK: Numbering

  private mutating func add(
    _ value: PropertyList,
    depth: Int
  ) throws(ResumeDataError) -> Int {
    switch value {
    case .array(let values):
      return try addContainer(0xA0, depth: depth, [], values)
    case .set(let values):
      return try addContainer(0xC0, depth: depth, [], values)
    case .dictionary(let members):
      let entries = members.entries
      return try addContainer(0xD0, depth: depth, entries.map(\.key), entries.map(\.value))
    case .null: return try addScalar([0x00])
    case .bool(let value): return try addScalar([value ? 0x09 : 0x08])
    case .integer(let value): return try addScalar(Self.bytes(of: value))
    case .real(let value): return try addScalar([0x23] + value.bitPattern.bigEndianBytes)
    case .date(let value): return try addScalar([0x33] + value.bitPattern.bigEndianBytes)
    case .data(let bytes): return try addScalar(Self.head(0x40, count: bytes.count) + bytes)
    case .string(let text): return try addScalar(Self.bytes(of: text))
    case .uid(let value):
      let size = Self.size(of: Int(value))
      return try addScalar([0x80 | UInt8(size - 1)] + value.bigEndianBytes.suffix(size))
    }
  }

  private mutating func addContainer(
    _ marker: UInt8,
    depth: Int,
    _ keys: [String],
    _ values: [PropertyList]
  ) throws(ResumeDataError) -> Int {
    guard depth < limits.depth else {
      throw ResumeDataError(.tooLarge, "the property list is nested more than \(limits.depth) deep")
    }
    try budget.spend()
    let number = objects.count
    objects.append(.container(marker: marker, references: []))
    var references: [Int] = []
    references.reserveCapacity(keys.count + values.count)
    for key in keys { references.append(try addScalar(Self.bytes(of: key))) }
    for value in values { references.append(try add(value, depth: depth + 1)) }
    objects[number] = .container(marker: marker, references: references)
    return number
  }

  private mutating func addScalar(_ bytes: [UInt8]) throws(ResumeDataError) -> Int {
    try budget.spend(bytes: bytes.count)
    if let number = numbers[bytes] { return number }
    numbers[bytes] = objects.count
    objects.append(.scalar(bytes))
    return objects.count - 1
  }

  // MARK: Bytes

  private var file: [UInt8] {
    let referenceSize = Self.size(of: objects.count - 1)
    var file = PropertyListFormat.binaryMagic
    var offsets: [Int] = []
    for object in objects {
      offsets.append(file.count)
      switch object {
      case .scalar(let bytes): file += bytes
      case .container(let marker, let references):
        let count = marker == 0xD0 ? references.count / 2 : references.count
        file += Self.head(marker, count: count)
        for reference in references { file.append(reference, size: referenceSize) }
      }
    }
    let tableOffset = file.count
    let offsetSize = Self.size(of: tableOffset)
    for offset in offsets { file.append(offset, size: offsetSize) }
    file += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    file.append(objects.count, size: 8)
    file.append(0, size: 8)
    file.append(tableOffset, size: 8)
    return file
  }

  /// A negative integer takes at least 8 bytes, because shorter ones are unsigned.
  private static func bytes(of value: Int128) -> [UInt8] {
    if let value = UInt64(exactly: value), value <= UInt64(Int64.max) {
      let size = size(of: Int(value))
      return [0x10 | UInt8(size.trailingZeroBitCount)] + value.bigEndianBytes.suffix(size)
    }
    if let value = Int64(exactly: value) { return [0x13] + value.bigEndianBytes }
    return [0x14] + value.bigEndianBytes
  }

  private static func bytes(of text: String) -> [UInt8] {
    let ascii = Array(text.utf8)
    if ascii.allSatisfy({ $0 < 0x80 }) { return head(0x50, count: ascii.count) + ascii }
    let units = Array(text.utf16)
    var bytes = head(0x60, count: units.count)
    bytes.reserveCapacity(bytes.count + 2 * units.count)
    for unit in units { bytes += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
    return bytes
  }

  private static func head(_ marker: UInt8, count: Int) -> [UInt8] {
    count < 0xF ? [marker | UInt8(count)] : [marker | 0xF] + bytes(of: Int128(count))
  }

  /// The smallest of 1, 2, 4 and 8 bytes that holds a number.
  private static func size(of value: Int) -> Int {
    switch value {
    case ...0xFF: 1
    case ...0xFFFF: 2
    case ...0xFFFF_FFFF: 4
    default: 8
    }
  }
}

extension FixedWidthInteger {
  fileprivate var bigEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ value: Int, size: Int) {
    append(contentsOf: value.bigEndianBytes.suffix(size))
  }
}
