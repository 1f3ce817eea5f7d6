internal import LMDB

/// Reads the table that describes the store.
struct Metadata: Sendable {
  let database: Database

  func bytes(
    _ key: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [UInt8]? {
    var name = key
    return try name.withUTF8 { name in
      unsafe try transaction.value(for: UnsafeRawBufferPointer(name), in: database)
        .map { unsafe Array($0) }
    }
  }

  func integer<Integer: FixedWidthInteger>(
    _ key: String,
    as type: Integer.Type = Integer.self,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Integer? {
    guard let bytes = try bytes(key, in: transaction) else { return nil }
    guard bytes.count >= MemoryLayout<Integer>.size else {
      throw StoreError(.damaged, "the store's entry '\(key)' is cut off")
    }
    return bytes.prefix(MemoryLayout<Integer>.size).reversed().reduce(0) {
      ($0 << 8) | Integer(truncatingIfNeeded: $1)
    }
  }

  func set(
    _ value: [UInt8],
    for key: String,
    in transaction: inout WriteTransaction
  ) throws {
    try transaction.put(value.span, for: Array(key.utf8).span, in: database)
  }

  func set<Integer: FixedWidthInteger>(
    _ value: Integer,
    for key: String,
    in transaction: inout WriteTransaction
  ) throws {
    var writer = ByteWriter()
    writer.write(value)
    try set(writer.bytes, for: key, in: &transaction)
  }

  /// The layouts of a model by their numbers.
  func layouts(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [UInt16: RecordLayout] {
    var layouts: [UInt16: RecordLayout] = [:]
    var number: UInt16 = 1
    while number < .max, let bytes = try bytes(MetadataKey.layout(model, number), in: transaction) {
      do {
        layouts[number] = try unsafe bytes.withUnsafeBytes { bytes throws(RecordError) in
          var reader = unsafe ByteReader(bytes)
          return try RecordLayout(encoded: &reader)
        }
      } catch let error as RecordError where error.code == .unknownCoding {
        throw StoreError(
          .tooNew,
          "layout \(number) of \(model) was written by a later version of this program",
          cause: error
        )
      } catch {
        throw StoreError(.damaged, "layout \(number) of \(model) cannot be read", cause: error)
      }
      number += 1
    }
    return layouts
  }

  /// The ids and types of the fields over which the store keeps an index for the model.
  func indexes(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [(fieldID: UInt32, type: FieldType)] {
    let prefix = Array("index/\(model)/".utf8)
    var indexes: [(fieldID: UInt32, type: FieldType)] = []
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = unsafe try prefix.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry, unsafe found.key.starts(with: prefix) {
      let id = unsafe UInt32(String(decoding: found.key.dropFirst(prefix.count), as: UTF8.self))
      let type = unsafe FieldType(String(decoding: found.value, as: UTF8.self))
      guard let id, let type else {
        throw StoreError(.damaged, "the description of an index of \(model) cannot be read")
      }
      indexes.append((id, type))
      unsafe entry = unsafe try cursor.next()
    }
    return indexes
  }
}
