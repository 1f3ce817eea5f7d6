/// A binary property list put together by hand, right or wrong.
struct BinaryFile {
  var objects: [[UInt8]]
  var top = 0
  var offsetSize = 1
  var referenceSize = 1
  /// What the trailer says in place of the truth.
  var objectCount: Int?
  var tableOffset: Int?
  /// What the table says in place of the truth.
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
    var places: [Int] = []
    for object in objects {
      places.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for place in offsets ?? places { bytes += Self.bigEndian(place, offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    bytes += Self.bigEndian(objectCount ?? (offsets ?? places).count, 8)
    bytes += Self.bigEndian(top, 8)
    bytes += Self.bigEndian(tableOffset ?? table, 8)
    return bytes
  }

  static func bigEndian(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
