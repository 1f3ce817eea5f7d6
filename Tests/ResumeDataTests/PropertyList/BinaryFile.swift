/// A builder of binary property lists, valid or invalid.
struct BinaryFile {
  var objects: [[UInt8]]
  var top = 0
  var offsetSize = 1
  var referenceSize = 1
  /// The object count in the trailer, if it differs from the real one.
  var objectCount: Int?
  /// The table offset in the trailer, if it differs from the real one.
  var tableOffset: Int?
  /// The offsets in the table, if they differ from the real ones.
  var offsets: [Int]?

  init(_ objects: [UInt8]...) {
    self.objects = objects
  }

  init(objects: [[UInt8]]) {
    self.objects = objects
  }

  func with(_ change: (inout BinaryFile) -> Void) -> [UInt8] {
    var file = self
    change(&file)
    return file.bytes
  }

  var bytes: [UInt8] {
    var bytes = Array("bplist00".utf8)
    var objectOffsets: [Int] = []
    for object in objects {
      objectOffsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for offset in offsets ?? objectOffsets { bytes += Self.bigEndian(offset, offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    bytes += Self.bigEndian(objectCount ?? (offsets ?? objectOffsets).count, 8)
    bytes += Self.bigEndian(top, 8)
    bytes += Self.bigEndian(tableOffset ?? table, 8)
    return bytes
  }

  static func bigEndian(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
