/// The schema of one released version, which never changes.
///
/// Each frozen schema contains the digest of the previous file, so that a test detects any change.
package struct FrozenSchema: Codable, Sendable, Hashable {
  /// The SHA-256 of the bytes of the previous version's file, in hexadecimal; `nil` in the first
  /// one.
  package var previous: String?
  /// The schema.
  package var schema: SchemaLock

  /// Creates a frozen schema.
  ///
  /// - Parameters:
  ///   - previous: The SHA-256 of the previous version's file; `nil` for the first version.
  ///   - schema: The schema.
  package init(previous: String?, schema: SchemaLock) {
    self.previous = previous
    self.schema = schema
  }

  private enum CodingKeys: CodingKey {
    case previous
    case schema
  }

  /// Encodes the schema, with an explicit `null` if there is no previous version.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(previous, forKey: .previous)
    try container.encode(schema, forKey: .schema)
  }
}
