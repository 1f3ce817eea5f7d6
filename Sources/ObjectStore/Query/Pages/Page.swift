/// Some objects of a query, and where the next ones begin.
public struct Page<Root: Model>: Sendable {
  /// The objects, in the order of the query.
  public let objects: [Root]
  /// What to give to get the next page; `nil` after the last one.
  public let next: PageToken?
}

/// A place in the order of a query, after an object of which it has the values.
///
/// It stays right when objects come and go, the one before it too: the next page begins with what
/// then comes after those values. It is a text that may be given to others and sent back; it shows
/// the values that the query is ordered by.
public struct PageToken: Sendable, Hashable, LosslessStringConvertible {
  let position: PagePosition
  /// Tells orders apart.
  let fingerprint: UInt32

  init(_ position: PagePosition, fingerprint: UInt32) {
    self.position = position
    self.fingerprint = fingerprint
  }

  private static let version: UInt8 = 1

  /// The token as a text of digits from 0 to f.
  public var description: String {
    var writer = ByteWriter()
    writer.write(Self.version)
    writer.write(fingerprint)
    writer.write(position.id)
    for key in position.keys {
      writer.write(UInt32(key.count))
      writer.write(key)
    }
    return Hexadecimal.encode(writer.bytes)
  }

  /// Reads a token; `nil` when the text is none.
  public init?(_ description: String) {
    guard let bytes = Hexadecimal.decode(description) else { return nil }
    let token = unsafe bytes.withUnsafeBytes { bytes in
      var reader = unsafe ByteReader(bytes)
      return try? PageToken(&reader)
    }
    guard let token else { return nil }
    self = token
  }

  private init(_ reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.version else { throw RecordError(.unknownCoding) }
    fingerprint = try reader.read()
    var position = PagePosition(keys: [], id: try reader.read())
    while reader.remaining > 0 {
      let bytes = unsafe try reader.take(try reader.readCount())
      position.keys.append(unsafe Array(bytes))
    }
    self.position = position
  }
}

extension PageToken: Codable {
  /// Reads the text of a token.
  ///
  /// - Throws: `DecodingError` when it is none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = PageToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "not the token of a page"
      )
    }
    self = token
  }

  /// Writes the token as a text.
  ///
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension SortOrder {
  /// Differs between orders: FNV-1a over the ids and the directions of the fields.
  func fingerprint(_ schema: ModelSchema) -> UInt32 {
    var hasher = FNV1a()
    for column in columns {
      hasher.combine(schema.fields[column.position].id)
      hasher.combine(column.direction == .descending ? 1 as UInt8 : 0)
    }
    return hasher.hash
  }

  /// The place after an object.
  func position(
    after record: borrowing RecordView,
    _ id: UInt64
  ) throws(RecordError) -> PagePosition {
    var position = PagePosition(keys: [], id: id)
    for var column in columns {
      column.direction = .ascending
      var key = ByteWriter()
      try column.append(record, to: &key)
      position.keys.append(key.bytes)
    }
    return position
  }
}
