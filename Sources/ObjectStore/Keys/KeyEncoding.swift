/// Index keys: bytes whose order is the order of the values.
///
/// A key has, for each field of the index, a tag (0 for `nil`, 1 for a value) and the value's bytes;
/// then the object's id. It is made from the bytes of the fields in the record, so that a program
/// can keep an index over fields that its own schema does not have.
enum KeyEncoding {
  /// Longer texts are cut; the key then has a hash of the whole value.
  ///
  /// With the tag, escapes, end mark, hash and id a key stays under the 511 bytes of LMDB. In an
  /// index over several texts each has less: ``IndexDescription/longestContent``.
  static let longestContent = 440
  static let idSize = 8

  /// The key of `nil`, without the object's id.
  static let null: [UInt8] = [0]

  /// How the bytes of a type become bytes that sort.
  enum Form: Sendable {
    /// As they are.
    case plain
    /// Most significant first.
    case unsigned
    /// Most significant first, the sign flipped.
    case signed
    /// As IEEE 754 numbers sort.
    case number
    /// Escaped, with an end mark, and cut when long.
    case text
  }

  // MARK: One value

  /// Appends the key of one value, without the object's id.
  ///
  /// - Precondition: `bytes` are as many as the type is wide.
  static func append(
    _ bytes: UnsafeRawBufferPointer,
    _ form: Form,
    longestContent: Int = longestContent,
    to key: inout ByteWriter
  ) {
    key.write(1 as UInt8)
    switch form {
    case .plain: unsafe key.append(bytes)
    case .unsigned, .signed, .number: unsafe appendNumber(bytes, form, to: &key)
    case .text: unsafe appendText(bytes, longestContent, to: &key)
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
      // Zero has two signs and is one value.
      if word == sign { word = 0 }
      // Positive numbers sort by their bits; of negative ones the larger bits are the smaller value.
      word = word & sign == 0 ? word | sign : ~word
    case .plain, .unsigned, .text: break
    }
    for index in stride(from: bytes.count - 1, through: 0, by: -1) {
      key.write(UInt8(truncatingIfNeeded: word >> UInt64(index * 8)))
    }
  }

  /// The bytes with each 0 written as 0 255, and an end mark that sorts before all that could
  /// follow: 0 0, or 0 1 and a hash when the value was cut.
  private static func appendText(
    _ bytes: UnsafeRawBufferPointer,
    _ longestContent: Int,
    to key: inout ByteWriter
  ) {
    var count = 0
    for offset in 0..<bytes.count {
      let byte = unsafe bytes[offset]
      let size = byte == 0 ? 2 : 1
      guard count + size <= longestContent else {
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
    longestContent: Int = longestContent
  ) -> [UInt8] {
    var key = ByteWriter()
    unsafe append(bytes, type.keyForm, longestContent: longestContent, to: &key)
    return key.bytes
  }

  /// The key of a Swift value, as an index has it.
  static func key<Value: FieldValue>(
    for value: Value,
    longestContent: Int = longestContent
  ) -> [UInt8] {
    unsafe value.storedBytes.withUnsafeBytes {
      unsafe key(for: $0, type: Value.fieldType, longestContent: longestContent)
    }
  }

  /// What the keys of all texts begin with that begin with `prefix`.
  static func openKey(
    for prefix: some Sequence<UInt8>,
    longestContent: Int = longestContent
  ) -> [UInt8] {
    var key: [UInt8] = [1]
    for byte in prefix {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    // A key is cut at this length at the earliest.
    return Array(key.prefix(longestContent))
  }

  /// Whether keys of this type can be cut, so that equal prefixes need a look at the record.
  static func canBeCut(_ type: FieldType) -> Bool { type.width == nil }

  /// The keys of the elements of a collection, each once, in their order.
  static func elementKeys(
    of bytes: UnsafeRawBufferPointer,
    type: FieldType,
    longestContent: Int = longestContent
  ) throws(RecordError) -> [[UInt8]] {
    var reader = unsafe ByteReader(bytes)
    let count = try reader.read(UInt32.self)
    var keys: Set<[UInt8]> = []
    for _ in 0..<count {
      let element = unsafe try reader.takeSized(type)
      keys.insert(unsafe key(for: element, type: type, longestContent: longestContent))
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  // MARK: The object's id

  static func append(_ id: UInt64, to key: [UInt8]) -> [UInt8] {
    var key = key
    unsafe withUnsafeBytes(of: id.bigEndian) { unsafe key.append(contentsOf: $0) }
    return key
  }

  /// The object's id at the end of an index entry; `nil` when the entry is too short to have one.
  static func objectID(of key: UnsafeRawBufferPointer) -> UInt64? {
    guard key.count > idSize else { return nil }
    return unsafe UInt64(
      bigEndian: key.loadUnaligned(fromByteOffset: key.count - idSize, as: UInt64.self)
    )
  }
}

extension FieldType {
  /// How values of this type become keys.
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
