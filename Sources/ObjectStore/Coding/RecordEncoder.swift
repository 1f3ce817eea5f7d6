/// Builds the bytes of a record, field by field in the order of the schema.
///
/// Its memory is used again for the next record of the transaction.
public struct RecordEncoder: ~Copyable {
  @usableFromInline let binding: LayoutBinding
  /// The next field.
  @usableFromInline var position = 0
  @usableFromInline var cold = ByteWriter(capacity: 512)
  @usableFromInline var hot = ByteWriter(capacity: 64)
  /// Whether the record carries fields that the layout does not have.
  private(set) var hasExtras = false

  /// Encodes in the layout of the binding, which must be the program's own.
  init(_ binding: LayoutBinding) {
    self.binding = binding
  }

  /// Begins a record.
  @usableFromInline
  mutating func start() {
    position = 0
    hasExtras = false
    cold.removeAll()
    hot.removeAll()
    cold.appendZeros(binding.coldSize)
    hot.appendZeros(binding.hotSize)
  }

  /// Writes the next field.
  ///
  /// - Precondition: The schema has a next field.
  @inlinable
  public mutating func encode<Value: FieldValue>(_ value: Value) {
    let place = nextPlace()
    if place.isHot { hot.encode(value, at: place) } else { cold.encode(value, at: place) }
  }

  /// Writes the next field, which is optional.
  ///
  /// - Precondition: The schema has a next field.
  @inlinable
  public mutating func encode<Value: FieldValue>(_ value: Value?) {
    guard let value else { return encodeNil() }
    encode(value)
  }

  @usableFromInline
  mutating func encodeNil() {
    let place = nextPlace()
    guard !place.isFixed else { return }
    if place.isHot { hot.endField(at: place) } else { cold.endField(at: place) }
  }

  @usableFromInline
  @inline(__always)
  mutating func nextPlace() -> FieldPlace {
    let places = unsafe binding.places
    precondition(position < places.count, "more fields are encoded than the schema has")
    defer { position += 1 }
    return unsafe places[position]
  }

  /// Writes the next field from the bytes of its value; `nil` for no value.
  ///
  /// - Precondition: A field of a fixed width has bytes of that width.
  mutating func encode(_ bytes: UnsafeRawBufferPointer?) {
    guard let bytes = unsafe bytes else { return encodeNil() }
    let place = nextPlace()
    if place.isHot {
      unsafe hot.encode(bytes, at: place)
    } else {
      unsafe cold.encode(bytes, at: place)
    }
  }

  /// Begins the hot part of a record that keeps its cold part.
  mutating func startHot(_ bytes: UnsafeRawBufferPointer) {
    hot.removeAll()
    unsafe hot.append(bytes)
  }

  /// Sets a hot field of a fixed width, or with `nil` has it hold no value.
  mutating func setHot(_ bytes: UnsafeRawBufferPointer?, at place: FieldPlace) {
    guard let bytes = unsafe bytes else { return hot.clear(place) }
    unsafe hot.encode(bytes, at: place)
  }

  /// Completes the record but for its checksum, which the object's id is part of.
  ///
  /// `extras` are the fields of the record that this program does not know.
  mutating func finish(extras: [UInt8] = []) {
    unsafe precondition(
      position == binding.places.count,
      "fewer fields are encoded than the schema has"
    )
    cold.patch(binding.number, at: 4)
    cold.patch(RecordHeader.codingVersion, at: 6)
    hasExtras = !extras.isEmpty
    cold.patch(hasExtras ? 1 as UInt8 : 0, at: 7)
    if hasExtras { cold.write(extras) }
  }

  /// Writes the checksum of the cold part.
  mutating func seal(objectID: UInt64) {
    let checksum = unsafe RecordHeader.checksum(of: cold.buffer, seed: objectID)
    cold.patch(checksum, at: 0)
  }
}

extension ByteWriter {
  /// Writes a field of a record into its slot or at the end of the heap.
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
        "a value wrote another number of bytes than its type is wide"
      )
      slot = -1
    } else {
      value.encode(to: &self)
      endField(at: place)
    }
  }

  /// Writes a field of a record whose bytes are there already.
  @unsafe
  mutating func encode(_ bytes: UnsafeRawBufferPointer, at place: FieldPlace) {
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    patch(presence | place.presenceMask, at: place.presenceOffset)
    if place.isFixed {
      precondition(bytes.count == place.width, "a value has not as many bytes as its type is wide")
      unsafe overwrite(bytes, at: place.offset)
    } else {
      unsafe append(bytes)
      endField(at: place)
    }
  }

  /// Has a field of a fixed width hold no value.
  mutating func clear(_ place: FieldPlace) {
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    patch(presence & ~place.presenceMask, at: place.presenceOffset)
    for offset in 0..<place.width { patch(0 as UInt8, at: place.offset + offset) }
  }

  /// Notes where a field ends in the heap.
  @inlinable
  mutating func endField(at place: FieldPlace) {
    patch(UInt32(count - place.heapStart), at: place.offset)
  }
}
