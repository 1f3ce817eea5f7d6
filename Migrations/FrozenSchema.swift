/// The schema of one released version, for ever.
///
/// Each names the file before it by its digest, so that none can be changed unseen.
public struct FrozenSchema: Codable, Sendable, Hashable {
  /// The SHA-256 of the bytes of the version's predecessor, in hexadecimal; `nil` in the first.
  public var previous: String?
  /// The schema.
  public var schema: SchemaLock

  /// Freezes a schema.
  public init(previous: String?, schema: SchemaLock) {
    self.previous = previous
    self.schema = schema
  }

  private enum CodingKeys: CodingKey {
    case previous
    case schema
  }

  /// Writes the schema; that there is no predecessor is said, not left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(previous, forKey: .previous)
    try container.encode(schema, forKey: .schema)
  }
}
