/// Index keys: bytes whose order is the order of the values.
///
/// A key is a tag (0 for `nil`, 1 for a value), the value's bytes, and the object's id. It is made
/// from the bytes of the field in the record, so that a program can keep an index over a field that
/// its own schema does not have.
enum KeyEncoding {
  /// Longer texts are cut; the key then ends in a hash of the whole value.
  ///
  /// With the tag, escapes, end mark, hash and id a key stays under the 511 bytes of LMDB.
  static let longestContent = 440
  static let idSize = 8

  /// The key of one value, without the object's id.
  ///
  /// - Precondition: `bytes` are as many as the type is wide.
  static func key(for bytes: UnsafeRawBufferPointer, type: FieldType) -> [UInt8] {
    var key: [UInt8] = [1]
    switch type {
    case .bool:
      unsafe key.append(contentsOf: bytes)
    case .unsigned:
      unsafe key.append(contentsOf: bytes.reversed())
    case .signed:
      unsafe key.append(contentsOf: bytes.reversed())
      key[1] ^= 0x80
    case .float, .double, .date:
      unsafe key.append(contentsOf: bytes.reversed())
      // Zero has two signs and is one value.
      if key[1] == 0x80, key[2...].allSatisfy({ $0 == 0 }) { key[1] = 0 }
      // Positive numbers sort by their bits; of negative ones the larger bits are the smaller value.
      if key[1] & 0x80 == 0 {
        key[1] ^= 0x80
      } else {
        for index in 1..<key.count { key[index] = ~key[index] }
      }
    case .uuid:
      unsafe key.append(contentsOf: bytes)
    case .string, .data, .array, .set, .dictionary, .embedded:
      unsafe appendContent(bytes, to: &key)
    }
    return key
  }

  /// The key of `nil`, without the object's id.
  static let null: [UInt8] = [0]

  /// The bytes with each 0 written as 0 255, and an end mark that sorts before all that could
  /// follow: 0 0, or 0 1 and a hash when the value was cut.
  private static func appendContent(_ bytes: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    var count = 0
    for offset in 0..<bytes.count {
      let byte = unsafe bytes[offset]
      let size = byte == 0 ? 2 : 1
      guard count + size <= longestContent else {
        key.append(contentsOf: [0, 1])
        let hash = unsafe XXHash64.hash(bytes, seed: 0)
        unsafe withUnsafeBytes(of: hash.bigEndian) { unsafe key.append(contentsOf: $0) }
        return
      }
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
      count += size
    }
    key.append(contentsOf: [0, 0])
  }

  /// The key of a Swift value, as ``key(for:type:)`` makes it from a record.
  static func key<Value: FieldValue>(for value: Value) -> [UInt8] {
    unsafe value.storedBytes.withUnsafeBytes { unsafe key(for: $0, type: Value.fieldType) }
  }

  /// What the keys of all texts begin with that begin with `prefix`.
  static func openKey(for prefix: String) -> [UInt8] {
    var key: [UInt8] = [1]
    for byte in prefix.utf8 {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    // A key is cut at this length at the earliest.
    return Array(key.prefix(longestContent))
  }

  /// Whether keys of this type can be cut, so that equal prefixes need a look at the record.
  static func canBeCut(_ type: FieldType) -> Bool { type.width == nil }

  /// The keys of one field of a record: one, or one for each element of a collection.
  static func keys(
    of content: RecordView.Content,
    type: FieldType
  ) throws(RecordError) -> [[UInt8]] {
    switch unsafe content {
    case .missing, .null:
      return type.indexedElement == nil ? [null] : []
    case .present(let bytes):
      guard let element = type.indexedElement else {
        guard bytes.count == type.width ?? bytes.count else { throw RecordError(.truncated) }
        return unsafe [key(for: bytes, type: type)]
      }
      var reader = unsafe ByteReader(bytes)
      let count = try reader.read(UInt32.self)
      var keys: Set<[UInt8]> = []
      for _ in 0..<count {
        keys.insert(unsafe key(for: try reader.takeSized(element), type: element))
      }
      return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }
  }

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
