public import ObjectStore

/// The schema of a set of models as text that is kept under version control.
///
/// The text says which id stands for which field, for ever. A test compares it with the models of
/// today, so that no id changes its meaning unseen.
public struct SchemaLock: Codable, Sendable, Hashable {
  /// One stored type.
  public struct ModelEntry: Codable, Sendable, Hashable {
    /// The name under which the store keeps the objects.
    public var name: String
    /// The fields by their ids.
    public var fields: [FieldEntry]
    /// Ids that fields had which are gone.
    ///
    /// They are never given again.
    public var retiredIDs: [UInt32]
  }

  /// One stored field.
  public struct FieldEntry: Codable, Sendable, Hashable {
    /// The identity on disk.
    public var id: UInt32
    /// The name in the code.
    public var name: String
    /// The type on disk, as ``FieldType/description`` writes it.
    public var type: String
    /// Whether it may be `nil`.
    public var optional: Bool
    /// Whether it identifies the object.
    public var primaryKey: Bool
    /// Whether an index serves queries on it.
    public var indexed: Bool
    /// Whether it is kept apart because it changes often.
    public var hot: Bool
  }

  /// The version of the schema, counted from 1.
  public var version: UInt32
  /// The stored types by their names.
  public var models: [ModelEntry]

  /// Describes the models of today.
  ///
  /// - Parameters:
  ///   - version: The version of the schema.
  ///   - schemas: The models.
  ///   - retiredIDs: By model name, the ids of fields that are gone.
  public init(version: UInt32, schemas: [ModelSchema], retiredIDs: [String: [UInt32]] = [:]) {
    self.version = version
    models =
      schemas
      .map { schema in
        ModelEntry(
          name: schema.name,
          fields: schema.fields.map(FieldEntry.init).sorted { $0.id < $1.id },
          retiredIDs: (retiredIDs[schema.name] ?? []).sorted()
        )
      }
      .sorted { $0.name < $1.name }
  }
}

extension SchemaLock.FieldEntry {
  fileprivate init(_ field: FieldSchema) {
    self.init(
      id: field.id,
      name: field.name,
      type: field.type.description,
      optional: field.isOptional,
      primaryKey: field.isPrimaryKey,
      indexed: field.isIndexed,
      hot: field.isHot
    )
  }
}
