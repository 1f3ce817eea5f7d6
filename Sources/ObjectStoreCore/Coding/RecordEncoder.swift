/// An encoder of records, which takes the fields of a record in the order of the schema.
///
/// One encoder serves all records of a model in a transaction and reuses its memory.
public struct RecordEncoder: ~Copyable {
  @usableFromInline let binding: LayoutBinding
  /// The position of the next field in the schema.
  @usableFromInline var position = 0
  @usableFromInline var cold = ByteWriter(capacity: 512)
  @usableFromInline package var hot = ByteWriter(capacity: 64)
  /// Whether the record carries fields that its layout does not have.
  private(set) var hasExtras = false

  /// Creates an encoder for the layout of `binding`, which must be the program's own layout.
  package init(_ binding: LayoutBinding) {
    self.binding = binding
  }

  /// Starts a new record.
  @usableFromInline
  package mutating func start() {
    position = 0
    hasExtras = false
    cold.removeAll()
    hot.removeAll()
    cold.appendZeros(binding.coldSize)
    hot.appendZeros(binding.hotSize)
  }

  /// Encodes the next field.
  ///
  /// - Precondition: Fewer fields have been encoded than the schema has.
  @inlinable
  public mutating func encode<Value: FieldValue>(_ value: Value) {
    let place = nextPlace()
    if place.isHot { hot.encode(value, at: place) } else { cold.encode(value, at: place) }
  }

  /// Encodes the next field, which is optional.
  ///
  /// - Precondition: Fewer fields have been encoded than the schema has.
  @inlinable
  public mutating func encode<Value: FieldValue>(_ value: Value?) {
    guard let value else { return encodeNil() }
    encode(value)
  }

  @usableFromInline
  package mutating func encodeNil() {
    let place = nextPlace()
    guard !place.isFixed else { return }
    if place.isHot { hot.endField(at: place) } else { cold.endField(at: place) }
  }

  @usableFromInline
  @inline(__always)
  mutating func nextPlace() -> FieldPlace {
    let places = unsafe binding.places
    precondition(position < places.count, "more fields were encoded than the schema has")
    defer { position += 1 }
    return unsafe places[position]
  }

  /// Encodes the next field from already encoded bytes, or as `nil`.
  ///
  /// - Precondition: For a field of fixed width, `bytes` has that width.
  package mutating func encode(_ bytes: UnsafeRawBufferPointer?) {
    guard let bytes = unsafe bytes else { return encodeNil() }
    let place = nextPlace()
    if place.isHot {
      unsafe hot.encode(bytes, at: place)
    } else {
      unsafe cold.encode(bytes, at: place)
    }
  }

  /// Loads an existing hot part to change it; the record keeps its stored cold part.
  mutating func startHot(_ bytes: UnsafeRawBufferPointer) {
    hot.removeAll()
    unsafe hot.append(bytes)
  }

  /// Sets a hot field of fixed width; `nil` removes its value.
  mutating func setHot(_ bytes: UnsafeRawBufferPointer?, at place: FieldPlace) {
    guard let bytes = unsafe bytes else { return hot.clear(place) }
    unsafe hot.encode(bytes, at: place)
  }

  /// Completes the record except for its checksum, which ``seal(objectID:)`` writes.
  ///
  /// - Parameter extras: The encoded fields that this program's schema does not have, from
  ///   ``RecordView/encodedUnknownFields()``.
  mutating func finish(extras: [UInt8] = []) {
    unsafe precondition(
      position == binding.places.count,
      "fewer fields were encoded than the schema has"
    )
    cold.patch(binding.number, at: 4)
    cold.patch(RecordHeader.codingVersion, at: 6)
    hasExtras = !extras.isEmpty
    cold.patch(hasExtras ? 1 as UInt8 : 0, at: 7)
    if hasExtras { cold.write(extras) }
  }

  /// Writes the checksum of the cold part, which is seeded with the object's id.
  mutating func seal(objectID: UInt64) {
    let checksum = unsafe RecordHeader.checksum(of: cold.buffer, seed: objectID)
    cold.patch(checksum, at: 0)
  }
}

extension ByteWriter {
  /// Encodes a field into its slot, or at the end of the heap.
  @inlinable
  mutating func encode<Value: FieldValue>(_ value: Value, at place: FieldPlace) {
    unsafe base.storeBytes(
      of: unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
        | place.presenceMask,
      toByteOffset: place.presenceOffset,
      as: UInt8.self
    )
    if place.isFixed {
      slot = place.offset
      value.encode(to: &self)
      precondition(
        slot == place.offset + place.width,
        "a value encoded a different number of bytes than its field type's width"
      )
      slot = -1
    } else {
      value.encode(to: &self)
      endField(at: place)
    }
  }

  /// Writes a field from already encoded bytes.
  @unsafe
  mutating func encode(_ bytes: UnsafeRawBufferPointer, at place: FieldPlace) {
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    patch(presence | place.presenceMask, at: place.presenceOffset)
    if place.isFixed {
      precondition(
        bytes.count == place.width,
        "the number of bytes differs from the width of the field type"
      )
      unsafe overwrite(bytes, at: place.offset)
    } else {
      unsafe append(bytes)
      endField(at: place)
    }
  }

  /// Sets a field of fixed width to `nil`.
  mutating func clear(_ place: FieldPlace) {
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    patch(presence & ~place.presenceMask, at: place.presenceOffset)
    for offset in 0..<place.width { patch(0 as UInt8, at: place.offset + offset) }
  }

  /// Records the current end of the heap as the end of a field.
  @inlinable
  mutating func endField(at place: FieldPlace) {
    patch(UInt32(count - place.heapStart), at: place.offset)
  }
}

extension RecordEncoder {
  /// Encodes the next field from already encoded bytes, or as `nil`.
  ///
  /// - Precondition: For a field of fixed width, `bytes` has that width.
  package mutating func encode(stored bytes: [UInt8]?) {
    guard let bytes else { return encodeNil() }
    unsafe bytes.withUnsafeBytes { unsafe encode($0) }
  }

  /// Encodes the next field from already encoded bytes.
  ///
  /// - Precondition: For a field of fixed width, `bytes` has that width.
  package mutating func encode(stored bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe encode($0) }
  }
}
