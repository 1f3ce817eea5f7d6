/// The encoding of index keys, whose byte order is the order of the values.
///
/// A key consists of a tag (0 for `nil`, 1 for a value) and the encoded value for each field of the
/// index, followed by the object's id. It is computed from the stored bytes of the fields, so a
/// program can maintain indexes on fields that its own schema does not have.
package enum KeyEncoding {
  /// The maximum size of a value of variable width in a key, in bytes.
  ///
  /// A longer value is truncated, and the key has a hash of the whole value. Together with the tag,
  /// the terminator, the hash and the object's id, a key stays below LMDB's limit of 511 bytes. In
  /// an index on several fields of variable width each has less: see
  /// ``IndexDescription/maximumContentSize``.
  static let maximumContentSize = 440
  package static let idSize = 8

  /// The key of `nil`, without the object's id.
  static let null: [UInt8] = [0]

  /// The transformation of a type's stored bytes into bytes that sort like the values.
  enum Form: Sendable {
    /// Unchanged.
    case plain
    /// Big-endian.
    case unsigned
    /// Big-endian with the sign bit inverted.
    case signed
    /// IEEE 754 numbers: big-endian; all bits of negative numbers and the sign bit of others are
    /// inverted.
    case number
    /// Zero bytes escaped, followed by a terminator, and truncated when long.
    case text
  }

  // MARK: One value

  /// Appends the key of one value, without the object's id.
  ///
  /// - Precondition: For a type of fixed width, `bytes` has that width.
  static func append(
    _ bytes: UnsafeRawBufferPointer,
    _ form: Form,
    maximumContentSize: Int = maximumContentSize,
    to key: inout ByteWriter
  ) {
    key.write(1 as UInt8)
    switch form {
    case .plain: unsafe key.append(bytes)
    case .unsigned, .signed, .number: unsafe appendNumber(bytes, form, to: &key)
    case .text: unsafe appendText(bytes, maximumContentSize, to: &key)
    }
  }

  /// Appends the key of one value, without the object's id.
  ///
  /// - Precondition: For a type of fixed width, `bytes` has that width.
  static func append(
    _ bytes: Span<UInt8>,
    _ form: Form,
    maximumContentSize: Int = maximumContentSize,
    to key: inout ByteWriter
  ) {
    unsafe bytes.withUnsafeBytes {
      unsafe append($0, form, maximumContentSize: maximumContentSize, to: &key)
    }
  }

  private static func appendNumber(
    _ bytes: UnsafeRawBufferPointer,
    _ form: Form,
    to key: inout ByteWriter
  ) {
    var word: UInt64 = 0
    for index in stride(from: bytes.count - 1, through: 0, by: -1) {
      word = unsafe word << 8 | UInt64(bytes[index])
    }
    let sign: UInt64 = 1 << UInt64(bytes.count * 8 - 1)
    switch form {
    case .signed: word ^= sign
    case .number:
      // -0.0 equals 0.0, so both have the same key.
      if word == sign { word = 0 }
      // The bits of positive numbers sort like the numbers, those of negative ones in reverse.
      word = word & sign == 0 ? word | sign : ~word
    case .plain, .unsigned, .text: break
    }
    for index in stride(from: bytes.count - 1, through: 0, by: -1) {
      key.write(UInt8(truncatingIfNeeded: word >> UInt64(index * 8)))
    }
  }

  /// Appends the bytes with each 0 escaped as 0 255, then a terminator.
  ///
  /// The terminator is 0 0, or, when the value is truncated, 0 1 and a hash of the whole value. It
  /// sorts before every continuation, so a value sorts before longer values that start with it.
  private static func appendText(
    _ bytes: UnsafeRawBufferPointer,
    _ maximumContentSize: Int,
    to key: inout ByteWriter
  ) {
    var count = 0
    for offset in 0..<bytes.count {
      let byte = unsafe bytes[offset]
      let size = byte == 0 ? 2 : 1
      guard count + size <= maximumContentSize else {
        key.write(0 as UInt8)
        key.write(1 as UInt8)
        key.write(unsafe XXHash64.hash(bytes, seed: 0).byteSwapped)
        return
      }
      key.write(byte)
      if byte == 0 { key.write(0xFF as UInt8) }
      count += size
    }
    key.write(0 as UInt16)
  }

  /// The key of one value, without the object's id.
  static func key(
    for bytes: UnsafeRawBufferPointer,
    type: FieldType,
    maximumContentSize: Int = maximumContentSize
  ) -> [UInt8] {
    var key = ByteWriter()
    unsafe append(bytes, type.keyForm, maximumContentSize: maximumContentSize, to: &key)
    return key.bytes
  }

  /// The key of one value, without the object's id.
  static func key(
    for bytes: [UInt8],
    type: FieldType,
    maximumContentSize: Int = maximumContentSize
  ) -> [UInt8] {
    unsafe bytes.withUnsafeBytes {
      unsafe key(for: $0, type: type, maximumContentSize: maximumContentSize)
    }
  }

  /// The key of a Swift value, without the object's id.
  static func key<Value: FieldValue>(
    for value: Value,
    maximumContentSize: Int = maximumContentSize
  ) -> [UInt8] {
    unsafe value.storedBytes.withUnsafeBytes {
      unsafe key(for: $0, type: Value.fieldType, maximumContentSize: maximumContentSize)
    }
  }

  /// The common prefix of the keys of all strings that start with `prefix`.
  static func openKey(
    for prefix: some Sequence<UInt8>,
    maximumContentSize: Int = maximumContentSize
  ) -> [UInt8] {
    var key: [UInt8] = [1]
    for byte in prefix {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    // A truncated key has at least `maximumContentSize - 1` bytes of the value (an escape is not
    // split): with the tag, the keys have this many bytes in common.
    return Array(key.prefix(maximumContentSize))
  }

  /// Whether keys of this type can be truncated, so that a match must be verified in the record.
  static func canBeTruncated(_ type: FieldType) -> Bool { type.width == nil }

  /// The distinct keys of the elements of a collection, sorted.
  static func elementKeys(
    of bytes: UnsafeRawBufferPointer,
    type: FieldType,
    maximumContentSize: Int = maximumContentSize
  ) throws(RecordError) -> [[UInt8]] {
    var reader = unsafe ByteReader(bytes)
    let count = try reader.read(UInt32.self)
    var keys: Set<[UInt8]> = []
    for _ in 0..<count {
      let element = unsafe try reader.takeSized(type)
      keys.insert(unsafe key(for: element, type: type, maximumContentSize: maximumContentSize))
    }
    return keys.sorted { $0.precedes($1) }
  }

  // MARK: The object's id

  static func append(_ id: UInt64, to key: [UInt8]) -> [UInt8] {
    var key = key
    unsafe withUnsafeBytes(of: id.bigEndian) { unsafe key.append(contentsOf: $0) }
    return key
  }

  /// The object's id at the end of an index entry; `nil` if the entry is too short.
  package static func objectID(of key: UnsafeRawBufferPointer) -> UInt64? {
    guard key.count > idSize else { return nil }
    return unsafe UInt64(
      bigEndian: key.loadUnaligned(fromByteOffset: key.count - idSize, as: UInt64.self)
    )
  }
}

extension FieldType {
  /// The transformation of values of this type into keys.
  var keyForm: KeyEncoding.Form {
    switch self {
    case .bool, .uuid, .decimal: .plain
    case .unsigned: .unsigned
    case .signed: .signed
    case .float, .double, .date: .number
    case .string, .data, .array, .set, .dictionary, .embedded: .text
    }
  }
}
