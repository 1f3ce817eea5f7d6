public import ObjectStore

/// The schema of a set of models as data, for a file under version control.
///
/// It contains what the store knows of the models: no Swift type is needed to compare two of them.
/// Models and fields are sorted, so that their order in the code does not matter.
///
/// ```swift
/// let schema = SchemaDescription(of: [Note.self], version: 3)
/// ```
public struct SchemaDescription: Sendable, Hashable {
  /// One model.
  public struct Model: Sendable, Hashable {
    /// The name of the model in the store.
    public var name: String
    /// The fields, in the order of their ids; empty for a model that a later release dropped.
    public var fields: [Field]
    /// The indexes, in the order of their fields.
    public var indexes: [Index]
    /// The order in which the store keeps the objects.
    public var layout: StorageLayout
    /// The ids of dropped fields, in ascending order; they are never used again.
    public var retiredIDs: [UInt32]

    /// The field with the given id; `nil` if there is none.
    func field(_ id: UInt32) -> Field? { fields.first { $0.id == id } }
  }

  /// One field of a model.
  public struct Field: Sendable, Hashable {
    /// The id, which identifies the field in the store.
    public var id: UInt32
    /// The name in the code.
    public var name: String
    /// The stored type, as in `FieldType.description`.
    public var type: String
    /// Whether the field may be `nil`.
    public var isOptional: Bool
    /// Whether the field has a value for objects without one.
    public var hasDefault: Bool
    /// Whether the field is the primary key.
    public var isPrimaryKey: Bool
    /// Whether the field is stored apart from the others, because it changes often.
    public var isHot: Bool
    /// Whether the field has a column.
    public var isColumnar: Bool
    /// The model and the rule of a reference; `nil` for other fields.
    public var reference: Reference?

    /// Whether an object can be read that has no value of the field.
    var mayBeMissing: Bool { isOptional || hasDefault }
  }

  /// An index on one or more fields.
  public struct Index: Sendable, Hashable {
    /// The ids of the fields, most significant first.
    public var fieldIDs: [UInt32]
    /// Whether the store rejects two objects with the same values.
    public var isUnique: Bool
  }

  /// The target of a field of references, and the rule for deletions.
  public struct Reference: Sendable, Hashable {
    /// The name of the model.
    public var target: String
    /// The effect of deleting an object of that model.
    public var onDelete: DeleteRule
  }

  /// The schema version of programs with these models, as in `StoreOptions.schemaVersion`.
  public var version: UInt32
  /// The models, in the order of their names.
  public var models: [Model]
  /// Whether indexes, defaults, columns, references and layouts are described.
  ///
  /// The first files under version control described only fields, and whether a field has an index.
  public private(set) var isComplete = true

  /// Creates the description of a set of models.
  ///
  /// - Parameters:
  ///   - models: The models that a program opens a store with.
  ///   - version: Their schema version.
  public init(of models: [any ObjectStore.Model.Type], version: UInt32) {
    self.init(of: models.map { $0.schema }, version: version)
  }

  init(of schemas: [ModelSchema], version: UInt32) {
    self.init(version: version, models: schemas.map(Model.init))
  }

  /// Creates a description, and sorts its parts.
  init(version: UInt32, models: [Model], isComplete: Bool = true) {
    self.version = version
    self.isComplete = isComplete
    self.models = models.map { model in
      var model = model
      model.fields.sort { $0.id < $1.id }
      model.indexes.sort { $0.fieldIDs.lexicographicallyPrecedes($1.fieldIDs) }
      model.retiredIDs.sort()
      return model
    }
    .sorted { $0.name < $1.name }
  }

  /// The model with the given name, unless it was dropped.
  func model(_ name: String) -> Model? {
    models.first { $0.name == name && !$0.fields.isEmpty }
  }

  /// The ids of dropped fields of a model, also of one that was dropped.
  func retiredIDs(of name: String) -> [UInt32] {
    models.first { $0.name == name }?.retiredIDs ?? []
  }
}

extension SchemaDescription.Model {
  fileprivate init(_ schema: ModelSchema) {
    self.init(
      name: schema.name,
      fields: schema.fields.map(SchemaDescription.Field.init),
      indexes: schema.indexedFields.map {
        SchemaDescription.Index(fieldIDs: $0.ids, isUnique: $0.isUnique)
      },
      layout: schema.layout,
      retiredIDs: []
    )
  }
}

extension SchemaDescription.Field {
  fileprivate init(_ field: FieldSchema) {
    self.init(
      id: field.id,
      name: field.name,
      type: field.type.description,
      isOptional: field.isOptional,
      hasDefault: field.hasDefault,
      isPrimaryKey: field.isPrimaryKey,
      isHot: field.isHot,
      isColumnar: field.isColumnar,
      reference: field.reference.map {
        SchemaDescription.Reference(target: $0.target.schema.name, onDelete: $0.onDelete)
      }
    )
  }
}
