package import ObjectStore

/// The schema of a set of models, for a file under version control.
///
/// The file assigns each field its id for ever. A test compares it with the current models, so that
/// no id changes its meaning unnoticed.
package struct SchemaLock: Codable, Sendable, Hashable {
  /// One model.
  package struct ModelEntry: Codable, Sendable, Hashable {
    /// The model's name in the store.
    package var name: String
    /// The fields, in the order of their ids.
    package var fields: [FieldEntry]
    /// The ids of dropped fields, in ascending order; they are never reused.
    package var retiredIDs: [UInt32]
  }

  /// One field of a model.
  package struct FieldEntry: Codable, Sendable, Hashable {
    /// The id, which identifies the field on disk.
    package var id: UInt32
    /// The name in the code.
    package var name: String
    /// The type on disk, as in ``FieldType/description``.
    package var type: String
    /// Whether the field may be `nil`.
    package var optional: Bool
    /// Whether the field is the primary key.
    package var primaryKey: Bool
    /// Whether the field has an index of its own.
    package var indexed: Bool
    /// Whether the field is stored apart from the others, because it changes often.
    package var hot: Bool
  }

  /// The version of the schema, counted from 1.
  package var version: UInt32
  /// The models, in the order of their names.
  package var models: [ModelEntry]

  /// Creates the description of a set of models.
  ///
  /// - Parameters:
  ///   - version: The version of the schema.
  ///   - schemas: The models.
  ///   - retiredIDs: By model name, the ids of dropped fields.
  package init(version: UInt32, schemas: [ModelSchema], retiredIDs: [String: [UInt32]] = [:]) {
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
