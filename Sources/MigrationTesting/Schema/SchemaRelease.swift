/// The schema of one release, which never changes.
///
/// Each release contains the digest of the previous file, so that the releases form a chain: a
/// changed, missing or exchanged file is found.
public struct SchemaRelease: Codable, Sendable, Hashable {
  /// The SHA-256 of the bytes of the previous release's file, in hexadecimal; `nil` in the first
  /// one.
  public var previous: String?
  /// The schema.
  public var schema: SchemaDescription

  /// Creates a release.
  ///
  /// - Parameters:
  ///   - previous: The SHA-256 of the previous release's file; `nil` for the first release.
  ///   - schema: The schema.
  public init(previous: String?, schema: SchemaDescription) {
    self.previous = previous
    self.schema = schema
  }

  private enum CodingKeys: CodingKey {
    case previous
    case schema
  }

  /// Encodes the release, with an explicit `null` if there is no previous one.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(previous, forKey: .previous)
    try container.encode(schema, forKey: .schema)
  }
}
