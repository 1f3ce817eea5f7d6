/// What a store must know of a model: its name, and its fields in the order of their encoding.
public struct ModelSchema: Sendable, Hashable {
  /// The name under which the store keeps the objects.
  ///
  /// Renaming it starts an empty collection.
  public let name: String
  /// The fields, in the order in which ``Model/encode(to:)`` writes them.
  public let fields: [FieldSchema]
  /// Every index: those of single fields, then those over several.
  let indexes: [IndexDescription]

  /// Describes a model.
  ///
  /// - Parameters:
  ///   - name: The name under which the store keeps the objects.
  ///   - fields: The fields, in the order in which they are encoded.
  ///   - indexes: Indexes over several fields; those over one are the field's own matter.
  /// - Precondition: exactly one field is the primary key, it is neither optional nor hot, and no
  ///   two fields have one id or one name. The name has 1 to 100 bytes, no `/`, and is not `store`.
  ///   An index has 1 to 8 different fields, of types that can be indexed, at most one of them a
  ///   collection.
  public init(name: String, fields: [FieldSchema], indexes: [IndexSchema] = []) {
    precondition(!name.isEmpty && name.utf8.count <= 100, "a model's name has 1 to 100 bytes")
    precondition(
      !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0) && name != "store",
      "a model is not named 'store' and has no '/' in its name: the store's own tables do"
    )
    precondition(
      fields.count { $0.isPrimaryKey && !$0.isOptional && !$0.isHot } == 1
        && fields.count { $0.isPrimaryKey } == 1,
      "model \(name) needs exactly one primary key, neither optional nor hot"
    )
    precondition(
      Set(fields.map(\.id)).count == fields.count && Set(fields.map(\.name)).count == fields.count,
      "model \(name) has two fields of one id or one name"
    )
    self.name = name
    self.fields = fields
    let single = fields.filter { $0.isIndexed || $0.isUnique }.map { field in
      IndexDescription(
        parts: [IndexDescription.Part(fieldID: field.id, type: field.type)],
        isUnique: field.isUnique
      )
    }
    self.indexes =
      single + indexes.map { Self.describe($0, of: name, fields: fields) }
    precondition(
      Set(self.indexes.map(\.id)).count == self.indexes.count,
      "model \(name) has two indexes over the same fields"
    )
  }

  private static func describe(
    _ index: IndexSchema,
    of model: String,
    fields: [FieldSchema]
  ) -> IndexDescription {
    let parts = index.fields.map { name in
      guard let field = fields.first(where: { $0.name == name }) else {
        preconditionFailure("model \(model) has an index on \(name), which is no field")
      }
      precondition(field.type.isIndexable, "the field \(name) of \(model) cannot be indexed")
      return IndexDescription.Part(fieldID: field.id, type: field.type)
    }
    precondition(
      (1...IndexDescription.longestParts).contains(parts.count)
        && Set(parts.map(\.fieldID)).count == parts.count
        && parts.count { $0.type.indexedElement != nil } <= 1,
      "an index of \(model) has 1 to 8 different fields, at most one of them a collection"
    )
    return IndexDescription(parts: parts, isUnique: index.isUnique)
  }

  /// Where the primary key stands among the fields.
  public var primaryKeyPosition: Int {
    fields.firstIndex { $0.isPrimaryKey } ?? 0
  }

  /// Whether any field is kept apart from the others because it changes often.
  public var hasHotFields: Bool {
    fields.contains { $0.isHot }
  }
}

/// One stored field of a model.
public struct FieldSchema: Sendable, Hashable {
  /// Identifies the field on disk, for ever.
  ///
  /// Two fields of one id are the same field, whatever their names.
  public let id: UInt32
  /// The field's name in the code of today.
  public let name: String
  /// The type on disk.
  public let type: FieldType
  /// Whether the field may be `nil`.
  public let isOptional: Bool
  /// Whether the field identifies the object.
  public let isPrimaryKey: Bool
  /// Whether queries on the field are served by an index.
  ///
  /// Of a collection, each element is found.
  public let isIndexed: Bool
  /// Whether no two objects may have the same value; `nil` is never the same.
  ///
  /// An index sees to it, and serves queries too.
  public let isUnique: Bool
  /// Whether the field lives in a table of its own, because it changes often.
  public let isHot: Bool
  /// To which model the field refers, and what happens when the object there is deleted; `nil` for a
  /// field that is no ``Reference`` and no collection of them.
  public let reference: ReferenceSchema?

  /// Describes a field.
  ///
  /// - Parameters:
  ///   - name: The field's name.
  ///   - type: The field's Swift type, without the optional around it.
  ///   - id: The field's identity on disk. By default it follows from the name, so that fields may
  ///     be moved, added and dropped freely; give the old field's id to rename one.
  ///   - isOptional: Whether the field may be `nil`.
  ///   - isPrimaryKey: Whether the field identifies the object.
  ///   - isIndexed: Whether an index serves queries on the field.
  ///   - isUnique: Whether no two objects may have the same value.
  ///   - isHot: Whether the field lives apart from those that seldom change.
  ///   - onDelete: Of a field of references, what happens when an object is deleted to which it
  ///     refers. By default the reference goes where it can, and otherwise keeps the object from
  ///     being deleted. Such a field is always indexed.
  public init<Value: FieldValue>(
    _ name: String,
    _ type: Value.Type,
    id: UInt32? = nil,
    isOptional: Bool = false,
    isPrimaryKey: Bool = false,
    isIndexed: Bool = false,
    isUnique: Bool = false,
    isHot: Bool = false,
    onDelete: DeleteRule? = nil
  ) {
    precondition(!name.isEmpty && name.utf8.count <= 100, "a field's name has 1 to 100 bytes")
    reference = ReferenceSchema.describe(
      type,
      field: name,
      isOptional: isOptional,
      rule: onDelete
    )
    let isIndexed = isIndexed || reference != nil
    precondition(
      !(isIndexed || isUnique) || type.fieldType.isIndexable,
      "a field of type \(type) cannot be indexed"
    )
    precondition(
      FieldType(type.fieldType.description) == type.fieldType,
      "the field type \(type.fieldType) cannot be read back from its name"
    )
    self.id = id ?? Self.id(forName: name)
    self.name = name
    self.type = Value.fieldType
    self.isOptional = isOptional
    self.isPrimaryKey = isPrimaryKey
    self.isIndexed = isIndexed
    self.isUnique = isUnique
    self.isHot = isHot
  }

  /// The id that a field of that name has unless it is given another: FNV-1a over the UTF-8 bytes,
  /// with the highest bit set, so that small numbers stay free for ids given by hand.
  public static func id(forName name: String) -> UInt32 {
    var hasher = FNV1a()
    for byte in name.utf8 { hasher.combine(byte) }
    return hasher.hash | 0x8000_0000
  }
}
