/// Reads the binary format `bplist00`.
///
/// CoreFoundation's `CFBinaryPList.c` describes the format: a header, objects, a table of their offsets,
/// and a trailer of 32 bytes. Objects refer to each other by number, so a file can contain cycles, share
/// an object a million times, and overlap objects. The reader detects cycles, reads each object once,
/// and counts size and depth with shared objects counted each time.
struct BinaryPropertyListReader {
  /// The size and depth of an object, including everything below it.
  private struct Extent {
    var size: Int
    var height: Int
  }

  private struct Object {
    var value: PropertyList
    var extent: Extent
  }

  private enum Slot {
    case unread
    case reading
    case read(Object)
  }

  private let bytes: [UInt8]
  private let limits: PropertyListLimits
  private let trailer: BinaryPropertyListTrailer
  private var slots: [Slot]
  private var budget: SizeBudget

  /// Reads the root value.
  static func read(
    _ bytes: [UInt8],
    limits: PropertyListLimits
  ) throws(ResumeDataError) -> PropertyList {
    var reader = try Self(bytes, limits)
    return try reader.object(reader.trailer.topObject, depth: 0).value
  }

  private init(_ bytes: [UInt8], _ limits: PropertyListLimits) throws(ResumeDataError) {
    trailer = try BinaryPropertyListTrailer(of: bytes)
    var budget = SizeBudget(limits)
    try budget.spend(values: trailer.objectCount)
    self.budget = SizeBudget(limits)
    self.bytes = bytes
    self.limits = limits
    slots = Array(repeating: .unread, count: trailer.objectCount)
  }

  private func malformed(_ message: String, at offset: Int) -> ResumeDataError {
    ResumeDataError(.malformed, message, at: offset)
  }

  // MARK: Objects

  private mutating func object(
    _ number: Int,
    depth: Int
  ) throws(ResumeDataError) -> Object {
    switch slots[number] {
    case .read(let object):
      // It may have been read at a smaller depth.
      guard depth + object.extent.height <= limits.depth else { throw tooDeep }
      return object
    case .reading:
      throw malformed("a value holds itself", at: try offset(of: number))
    case .unread:
      slots[number] = .reading
      let object = try read(at: try offset(of: number), depth: depth)
      slots[number] = .read(object)
      return object
    }
  }

  private var tooDeep: ResumeDataError {
    ResumeDataError(.tooLarge, "the property list is nested more than \(limits.depth) deep")
  }

  private func offset(of number: Int) throws(ResumeDataError) -> Int {
    let entry = trailer.tableOffset + number * trailer.offsetSize
    let offset = bytes.bigEndian(at: entry, size: trailer.offsetSize)
    guard offset >= UInt64(PropertyListFormat.binaryMagic.count),
      offset < UInt64(trailer.tableOffset)
    else { throw malformed("an object lies outside of the objects", at: entry) }
    return Int(offset)
  }

  private mutating func read(at offset: Int, depth: Int) throws(ResumeDataError) -> Object {
    let marker = bytes[offset]
    switch marker >> 4 {
    case 0x4, 0x5, 0x6: return try readPayload(at: offset)
    case 0xA, 0xC, 0xD: return try readContainer(at: offset, depth: depth)
    default:
      try budget.spend()
      return Object(value: try readScalar(at: offset), extent: Extent(size: 1, height: 0))
    }
  }

  private func readScalar(at offset: Int) throws(ResumeDataError) -> PropertyList {
    let marker = bytes[offset]
    switch (marker >> 4, marker & 0xF) {
    case (0x0, 0x0): return .null
    case (0x0, 0x8): return .bool(false)
    case (0x0, 0x9): return .bool(true)
    case (0x1, let power) where power <= 4: return .integer(try readInteger(at: offset))
    case (0x2, 0x2):
      let bits = UInt32(truncatingIfNeeded: try readBigEndian(at: offset + 1, size: 4))
      return .real(Double(Float(bitPattern: bits)))
    case (0x2, 0x3): return .real(Double(bitPattern: try readBigEndian(at: offset + 1, size: 8)))
    case (0x3, 0x3): return .date(Double(bitPattern: try readBigEndian(at: offset + 1, size: 8)))
    case (0x8, let size) where size < 8:
      let value = try readBigEndian(at: offset + 1, size: Int(size) + 1)
      guard let uid = UInt32(exactly: value) else {
        throw malformed("a reference has more than 32 bits", at: offset)
      }
      return .uid(uid)
    default:
      throw malformed("the marker \(marker) is of no kind of value", at: offset)
    }
  }

  /// Reads an integer of 1, 2, 4 (unsigned), 8 or 16 bytes (signed).
  private func readInteger(at offset: Int) throws(ResumeDataError) -> Int128 {
    let size = 1 << Int(bytes[offset] & 0xF)
    guard size == 16 else {
      let value = try readBigEndian(at: offset + 1, size: size)
      return size == 8 ? Int128(Int64(bitPattern: value)) : Int128(value)
    }
    let high = Int64(bitPattern: try readBigEndian(at: offset + 1, size: 8))
    let low = try readBigEndian(at: offset + 9, size: 8)
    return Int128(high) << 64 | Int128(low)
  }

  // MARK: Text and data

  private mutating func readPayload(at offset: Int) throws(ResumeDataError) -> Object {
    let (count, start) = try readCount(at: offset)
    let kind = bytes[offset] >> 4
    let unit = kind == 0x6 ? 2 : 1
    guard count <= (trailer.tableOffset - start) / unit else {
      throw malformed("text or data extends past the end of the objects", at: offset)
    }
    let payload = bytes[start..<(start + count * unit)]
    try budget.spend(bytes: payload.count)
    let value: PropertyList
    switch kind {
    case 0x4: value = .data(Array(payload))
    case 0x5:
      guard payload.allSatisfy({ $0 < 0x80 }) else {
        throw malformed("ASCII text has a byte above 127", at: offset)
      }
      value = .string(String(decoding: payload, as: UTF8.self))
    default:
      var units: [UInt16] = []
      units.reserveCapacity(count)
      for index in 0..<count {
        units.append(UInt16(bytes[start + 2 * index]) << 8 | UInt16(bytes[start + 2 * index + 1]))
      }
      guard let text = String(validating: units, as: UTF16.self) else {
        throw malformed("text is no UTF-16", at: offset)
      }
      value = .string(text)
    }
    let cost = PropertyListLimits.valueCost
    return Object(value: value, extent: Extent(size: 1 + payload.count / cost, height: 0))
  }

  // MARK: Containers

  private mutating func readContainer(
    at offset: Int,
    depth: Int
  ) throws(ResumeDataError) -> Object {
    guard depth < limits.depth else { throw tooDeep }
    let (count, start) = try readCount(at: offset)
    let isDictionary = bytes[offset] >> 4 == 0xD
    let size = trailer.referenceSize
    guard count <= (trailer.tableOffset - start) / size / (isDictionary ? 2 : 1) else {
      throw malformed("a container extends past the end of the objects", at: offset)
    }
    // Checked before memory is allocated: a thousand containers may overlap.
    try budget.spend(values: 1 + count)
    var extent = Extent(size: 1, height: 0)
    let value: PropertyList
    if isDictionary {
      value = .dictionary(try readMembers(count, at: start, depth: depth, &extent))
    } else {
      var values: [PropertyList] = []
      values.reserveCapacity(count)
      for index in 0..<count {
        values.append(try element(at: start + index * size, depth: depth, &extent))
      }
      value = bytes[offset] >> 4 == 0xA ? .array(values) : .set(values)
    }
    extent.height += 1
    return Object(value: value, extent: extent)
  }

  private mutating func readMembers(
    _ count: Int,
    at start: Int,
    depth: Int,
    _ extent: inout Extent
  ) throws(ResumeDataError) -> PropertyListDictionary {
    let size = trailer.referenceSize
    var members = PropertyListDictionary()
    for index in 0..<count {
      let place = start + index * size
      guard case .string(let key) = try element(at: place, depth: depth, &extent) else {
        throw malformed("a member of a dictionary is not named by text", at: place)
      }
      let value = try element(at: place + count * size, depth: depth, &extent)
      guard members.append(value, for: key) else {
        throw malformed("two members of a dictionary have the same name", at: place)
      }
    }
    return members
  }

  /// Reads the value of a container's reference and adds it to the container's extent.
  private mutating func element(
    at place: Int,
    depth: Int,
    _ extent: inout Extent
  ) throws(ResumeDataError) -> PropertyList {
    let number = bytes.bigEndian(at: place, size: trailer.referenceSize)
    guard number < UInt64(trailer.objectCount) else {
      throw malformed("there is no object \(number)", at: place)
    }
    let object = try object(Int(number), depth: depth + 1)
    extent.size += object.extent.size
    extent.height = max(extent.height, object.extent.height)
    guard extent.size <= limits.expandedByteCount / PropertyListLimits.valueCost else {
      throw ResumeDataError(.tooLarge, "the property list is too large when it is spread out")
    }
    return object.value
  }

  // MARK: Numbers

  /// The count in a marker or in the following integer, and the start of the contents.
  private func readCount(at offset: Int) throws(ResumeDataError) -> (count: Int, start: Int) {
    let short = bytes[offset] & 0xF
    guard short == 0xF else { return (Int(short), offset + 1) }
    guard offset + 1 < trailer.tableOffset, bytes[offset + 1] & 0xFC == 0x10 else {
      throw malformed("a count is missing", at: offset)
    }
    let size = 1 << Int(bytes[offset + 1] & 0x3)
    guard let count = Int(exactly: try readBigEndian(at: offset + 2, size: size)) else {
      throw malformed("a count is too large", at: offset)
    }
    return (count, offset + 2 + size)
  }

  private func readBigEndian(at offset: Int, size: Int) throws(ResumeDataError) -> UInt64 {
    guard size <= trailer.tableOffset - offset else {
      throw malformed("a value extends past the end of the objects", at: offset)
    }
    return bytes.bigEndian(at: offset, size: size)
  }
}
