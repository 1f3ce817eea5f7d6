/// The last 32 bytes of a binary property list, checked against its length.
struct BinaryPropertyListTrailer {
  static let size = 32

  /// The width of a table entry in bytes, 1 to 8.
  var offsetSize: Int
  /// The width of an object reference in bytes, 1 to 8.
  var referenceSize: Int
  var objectCount: Int
  var topObject: Int
  /// The offset of the table, which follows the objects.
  var tableOffset: Int

  init(of bytes: [UInt8]) throws(ResumeDataError) {
    let header = PropertyListFormat.binaryMagic.count
    let start = bytes.count - Self.size
    guard start > header else {
      throw ResumeDataError(.malformed, "the binary property list is cut short", at: bytes.count)
    }
    let offsetSize = Int(bytes[start + 6])
    let referenceSize = Int(bytes[start + 7])
    let sizes = 1...8
    guard sizes.contains(offsetSize), sizes.contains(referenceSize),
      let objectCount = Int(exactly: bytes.bigEndian(at: start + 8, size: 8)),
      let topObject = Int(exactly: bytes.bigEndian(at: start + 16, size: 8)),
      let tableOffset = Int(exactly: bytes.bigEndian(at: start + 24, size: 8)),
      topObject < objectCount, tableOffset > header, tableOffset <= start,
      objectCount <= (start - tableOffset) / offsetSize
    else {
      throw ResumeDataError(.malformed, "the trailer does not fit the property list", at: start)
    }
    self.offsetSize = offsetSize
    self.referenceSize = referenceSize
    self.objectCount = objectCount
    self.topObject = topObject
    self.tableOffset = tableOffset
  }
}

extension [UInt8] {
  /// Reads an unsigned number of 1 to 8 bytes, which must be within bounds.
  func bigEndian(at offset: Int, size: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in offset..<(offset + size) { value = value << 8 | UInt64(self[index]) }
    return value
  }
}
