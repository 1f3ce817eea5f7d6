/// The stored description of a model, which does not need the model's Swift type.
///
/// ``Store/storedModels()`` returns one for each model in a store.
///
/// ```swift
/// let models: [StoredModel] = try store.storedModels()
/// for model in models {
///   let key = model.fields.first(where: \.isPrimaryKey)
///   print("\(model.name): \(model.objectCount) objects by \(key?.name ?? "")")
/// }
/// ```
public struct StoredModel: Sendable, Hashable {
  /// A field of the model's records.
  public struct Field: Sendable, Hashable {
    /// The id of the field, which stays the same when the field is renamed.
    public var id: UInt32
    /// The name of the field in the newest layout that has it.
    public var name: String
    /// The type of the stored values.
    public var type: FieldType
    /// Whether the value may be `nil`.
    public var isOptional: Bool
    /// Whether the field is the primary key.
    public var isPrimaryKey: Bool
    /// Whether the field is stored in the hot part of the record, apart from the other fields.
    public var isHot: Bool
  }

  /// An index on fields of the model.
  public struct Index: Sendable, Hashable {
    /// The id of the index; for an index on a single field, the field's id.
    public var id: UInt32
    /// The ids of the indexed fields, in the order of their significance in the index.
    public var fields: [UInt32]
    /// Whether the index rejects two objects with the same values.
    public var isUnique: Bool
    /// The number of entries: one per object, or one per element of an indexed collection.
    public var entryCount: Int
  }

  /// The name of the model.
  public var name: String
  /// All fields of stored records.
  ///
  /// The fields of the newest layout come first, in its order, then those that only older layouts
  /// have.
  public var fields: [Field]
  /// The indexes, in no particular order.
  public var indexes: [Index]
  /// The ids of the fields that have a column, in no particular order.
  public var columns: [UInt32] = []
  /// The number of objects.
  public var objectCount: Int
  /// The ids of the fields that every object must have.
  ///
  /// They are not optional, and every layout since the last migration of the model has them. A field
  /// that an earlier one of these lacks has a default, or else the program could not read the older
  /// objects.
  package var requiredFields: Set<UInt32> = []
  /// The number of record layouts that the store describes.
  public var layoutCount: Int
  /// The order in which the store keeps the objects.
  public var layout: StorageLayout
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
  package init(_ field: StoredModel.Field) {
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
