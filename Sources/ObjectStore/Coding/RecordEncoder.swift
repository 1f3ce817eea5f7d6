/// Builds the bytes of a record, field by field in the order of the schema.
public struct RecordEncoder: Sendable {
  /// One part of the record while it grows.
  private struct Part: Sendable {
    var presence: [UInt8]
    var fixed = ByteWriter()
    var ends: [UInt32] = []
    var heap = ByteWriter()

    init(_ shape: RecordLayout.PartShape) {
      presence = Array(repeating: 0, count: shape.presenceSize)
    }

    mutating func append<Value: FieldValue>(_ value: Value?, _ place: RecordLayout.Place) {
      if value != nil {
        presence[place.presenceBit / 8] |= 1 << UInt8(place.presenceBit % 8)
      }
      switch place.slot {
      case .fixed(_, let width):
        let start = fixed.bytes.count
        if let value { value.encode(to: &fixed) } else { fixed.appendZeros(width) }
        precondition(
          fixed.bytes.count == start + width,
          "a value of \(Value.self) wrote another number of bytes than its type is wide"
        )
      case .variable:
        value?.encode(to: &heap)
        ends.append(UInt32(heap.bytes.count))
      }
    }
  }

  private let layout: RecordLayout
  private let layoutNumber: UInt16
  private var position = 0
  private var cold: Part
  private var hot: Part

  init(layout: RecordLayout, layoutNumber: UInt16) {
    self.layout = layout
    self.layoutNumber = layoutNumber
    cold = Part(layout.cold)
    hot = Part(layout.hot)
  }

  /// Writes the next field.
  ///
  /// - Precondition: The schema has a next field.
  public mutating func encode<Value: FieldValue>(_ value: Value) {
    append(value)
  }

  /// Writes the next field, which is optional.
  ///
  /// - Precondition: The schema has a next field.
  public mutating func encode<Value: FieldValue>(_ value: Value?) {
    append(value)
  }

  private mutating func append<Value: FieldValue>(_ value: Value?) {
    precondition(position < layout.places.count, "more fields are encoded than the schema has")
    let place = layout.places[position]
    position += 1
    switch place.part {
    case .cold: cold.append(value, place)
    case .hot: hot.append(value, place)
    }
  }

  /// The finished part.
  ///
  /// `extras` are the fields of the record that this program does not know.
  func finish(_ part: RecordPart, objectID: UInt64, extras: [UInt8] = []) -> [UInt8] {
    precondition(position == layout.places.count, "fewer fields are encoded than the schema has")
    let source = part == .hot ? hot : cold
    var writer = ByteWriter()
    writer.write(0 as UInt32)
    writer.write(layoutNumber)
    writer.write(RecordHeader.codingVersion)
    writer.write(extras.isEmpty ? 0 as UInt8 : 1)
    writer.write(source.presence)
    writer.write(source.fixed.bytes)
    for end in source.ends { writer.write(end) }
    writer.write(source.heap.bytes)
    writer.write(extras)
    let checksum = unsafe writer.bytes.withUnsafeBytes {
      unsafe RecordHeader.checksum(of: $0, objectID: objectID)
    }
    writer.patch(checksum, at: 0)
    return writer.bytes
  }
}
