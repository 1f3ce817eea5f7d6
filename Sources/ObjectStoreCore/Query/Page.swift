/// One page of the results of a query.
///
/// ```swift
/// let page: Page<Note> = try store.read { tx in
///   try tx.page(Note.all.order(by: \.rank), size: 50, after: token)
/// }
/// show(page.objects)
/// let link = page.next.map { token in "/notes?after=\(token)" }
/// ```
public struct Page<Root: Model>: Sendable {
  /// The objects, in the order of the query.
  public let objects: [Root]
  /// The token of the next page; `nil` on the last page.
  public let next: PageToken?
}

/// A position in the order of a query, after the last object of a page.
///
/// The token contains that object's sort values, so it stays valid when objects are inserted or
/// deleted, including that object: the next page starts with the first object after those values.
/// Its text form can be sent to a client and back. It is not encrypted: it reveals the sort values.
public struct PageToken: Sendable, Hashable, LosslessStringConvertible {
  let position: PagePosition
  /// Identifies the order of the query, so that a token of a different order is refused.
  let fingerprint: UInt32

  init(_ position: PagePosition, fingerprint: UInt32) {
    self.position = position
    self.fingerprint = fingerprint
  }

  private static let version: UInt8 = 1

  /// Whether the position comes before that of another token, if every sort column is ascending.
  package func precedes(_ other: PageToken) -> Bool {
    for (own, key) in zip(position.keys, other.position.keys) where own != key {
      return own.precedes(key)
    }
    return position.id < other.position.id
  }

  /// The token as hexadecimal digits.
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

  /// Creates a token from its text form; `nil` when the text is not a token.
  public init?(_ description: String) {
    guard let bytes = Hexadecimal.decode(description) else { return nil }
    let token = try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try PageToken(&reader)
    }
    guard let token else { return nil }
    self = token
  }

  private init(_ reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.version else { throw RecordError(.unknownCoding) }
    fingerprint = try reader.read()
    var position = PagePosition(keys: [], id: try reader.read())
    while reader.remaining > 0 {
      position.keys.append(try reader.readBytes(try reader.readCount()))
    }
    self.position = position
  }
}

extension PageToken: Codable {
  /// Decodes a token from its text form.
  ///
  /// - Throws: `DecodingError` when the text is not a token.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = PageToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "not a page token"
      )
    }
    self = token
  }

  /// Encodes the text form of the token.
  ///
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension SortOrder {
  /// Returns an FNV-1a hash of the IDs and the directions of the sort fields.
  func fingerprint(_ schema: ModelSchema) -> UInt32 {
    var hasher = FNV1a()
    for column in columns {
      hasher.combine(schema.fields[column.position].id)
      hasher.combine(column.direction == .descending ? 1 as UInt8 : 0)
    }
    return hasher.hash
  }

  /// Returns the position after an object.
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

/// A position in the order of a query, directly after an object.
struct PagePosition: Sendable, Hashable {
  /// The object's untruncated key in each sort column, encoded as ascending.
  var keys: [[UInt8]]
  /// The object's ID.
  var id: UInt64

  /// Returns the object's sort key.
  func sortKey(_ order: SortOrder) -> [UInt8] {
    var key: [UInt8] = []
    for (column, bytes) in zip(order.columns, keys) {
      key += column.direction == .ascending ? bytes : bytes.map { ~$0 }
    }
    let tie = order.tieDirection == .ascending ? id : ~id
    return KeyEncoding.append(tie, to: key)
  }
}
