/// What a store says of one of its models, whether or not the program has a type for it.
public struct StoredModel: Sendable, Hashable {
  /// A field that records of the model have.
  public struct Field: Sendable, Hashable {
    /// Identifies the field, whatever its name.
    public var id: UInt32
    /// The name that the newest layout gives it.
    public var name: String
    /// The type on disk.
    public var type: FieldType
    /// Whether it may be nil.
    public var isOptional: Bool
    /// Whether it identifies the object.
    public var isPrimaryKey: Bool
    /// Whether it lives apart from the fields that seldom change.
    public var isHot: Bool
  }

  /// An index that is kept over fields of the model.
  public struct Index: Sendable, Hashable {
    /// Identifies the index: of one over a single field, the field's id.
    public var id: UInt32
    /// The ids of its fields, in the order in which its keys compare.
    public var fields: [UInt32]
    /// Whether no two objects may have the same values.
    public var isUnique: Bool
    /// How many entries it has: one for each object, or for each element of a collection.
    public var entryCount: Int
  }

  /// The name.
  public var name: String
  /// Every field that records can have: those of the newest layout in its order, then others that
  /// only older layouts have.
  public var fields: [Field]
  /// The indexes, in no order that means anything.
  public var indexes: [Index]
  /// How many objects there are.
  public var objectCount: Int
  /// How many layouts of records programs have described so far.
  public var layoutCount: Int
}

extension StoredModel.Field {
  init(_ field: RecordLayout.Field) {
    self.init(
      id: field.id,
      name: field.name,
      type: field.type,
      isOptional: field.isOptional,
      isPrimaryKey: field.isPrimaryKey,
      isHot: field.isHot
    )
  }
}

extension RecordLayout.Field {
  init(_ field: StoredModel.Field) {
    self.init(
      id: field.id,
      name: field.name,
      type: field.type,
      isOptional: field.isOptional,
      isHot: field.isHot,
      isPrimaryKey: field.isPrimaryKey
    )
  }
}
