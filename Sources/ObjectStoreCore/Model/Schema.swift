/// The schema of a model: its name, fields and indexes.
public struct ModelSchema: Sendable, Hashable {
  /// The name of the model in the store.
  ///
  /// The store identifies the model by this name: under another name it has no objects.
  public let name: String
  /// The fields, in the order in which ``Model/encode(to:)`` encodes them.
  public let fields: [FieldSchema]
  /// All indexes: first those on single fields, then those on several.
  package let indexes: [IndexDescription]
  /// The columns: those of the fields with ``FieldSchema/isColumnar``.
  package let columns: [ColumnDescription]
  /// The encoded defaults, by field id; no object lacks the primary key.
  package let defaults: [UInt32: [UInt8]]
  /// The layout of the model's objects in a new store, or in one with a lower schema version.
  ///
  /// A program with the schema version of the store, or a lower one, reads and writes the objects in
  /// the layout that the store has, with the same results. A program with a higher
  /// ``StoreOptions/schemaVersion`` converts them to its layout when it opens the store, unless a
  /// program without the model has already raised the store's version.
  public let layout: StorageLayout

  /// Creates a schema.
  ///
  /// - Parameters:
  ///   - name: The name of the model in the store.
  ///   - fields: The fields, in the order in which they are encoded.
  ///   - indexes: Indexes on several fields; ``FieldSchema/isIndexed`` declares one on a single
  ///     field.
  ///   - layout: The layout of the model's objects in a new store.
  /// - Precondition: Exactly one field is the primary key, and it is neither optional nor hot. No
  ///   two fields have the same id or name. A model that is stored by key has no columns. The name has 1 to 100 bytes, contains neither `/` nor a
  ///   zero byte, and is not `store`. An index has 1 to 8 different fields of types that can be
  ///   indexed, at most one of them a collection.
  public init(
    name: String,
    fields: [FieldSchema],
    indexes: [IndexSchema] = [],
    layout: StorageLayout = .sequential
  ) {
    precondition(
      Self.isName(name),
      "a model's name must have 1 to 100 bytes without '/' and zero bytes, and not be 'store'"
    )
    precondition(
      fields.count { $0.isPrimaryKey && !$0.isOptional && !$0.isHot } == 1
        && fields.count { $0.isPrimaryKey } == 1,
      "model \(name) must have exactly one primary key, which must not be optional or hot"
    )
    precondition(
      Set(fields.map(\.id)).count == fields.count && Set(fields.map(\.name)).count == fields.count,
      "model \(name) has two fields with the same id or name"
    )
    precondition(
      layout == .sequential || !fields.contains(where: \.isColumnar),
      "model \(name) is stored by key and has a column: choose one"
    )
    self.name = name
    self.fields = fields
    self.layout = layout
    let single = fields.filter { $0.isIndexed || $0.isUnique }.map { field in
      IndexDescription(
        parts: [IndexDescription.Part(fieldID: field.id, type: field.type)],
        isUnique: field.isUnique
      )
    }
    self.indexes =
      single + indexes.map { Self.describe($0, of: name, fields: fields) }
    defaults = Dictionary(
      fields.compactMap { field in
        field.isPrimaryKey ? nil : field.defaultValue.map { (field.id, $0) }
      }
    ) { first, _ in first }
    columns = fields.filter(\.isColumnar).map {
      ColumnDescription(fieldID: $0.id, type: $0.type)
    }
    precondition(
      Set(self.indexes.map(\.id)).count == self.indexes.count,
      "model \(name) has two indexes on the same fields"
    )
  }

  private static func describe(
    _ index: IndexSchema,
    of model: String,
    fields: [FieldSchema]
  ) -> IndexDescription {
    let parts = index.fields.map { name in
      guard let field = fields.first(where: { $0.name == name }) else {
        preconditionFailure("model \(model) has an index on \(name), which is not a field")
      }
      precondition(field.type.isIndexable, "the field \(name) of \(model) cannot be indexed")
      return IndexDescription.Part(fieldID: field.id, type: field.type)
    }
    precondition(
      (1...IndexDescription.maximumPartCount).contains(parts.count)
        && Set(parts.map(\.fieldID)).count == parts.count
        && parts.count { $0.type.indexedElement != nil } <= 1,
      "an index of \(model) must have 1 to 8 different fields, at most one of them a collection"
    )
    return IndexDescription(parts: parts, isUnique: index.isUnique)
  }

  /// The position of the primary key in ``fields``.
  package var primaryKeyPosition: Int {
    fields.firstIndex { $0.isPrimaryKey } ?? 0
  }

  /// The ids of the fields of each index, most significant first.
  package var indexedFields: [(ids: [UInt32], isUnique: Bool)] {
    indexes.map { ($0.parts.map(\.fieldID), $0.isUnique) }
  }

  /// Whether the model has hot fields, which are stored apart from the others.
  package var hasHotFields: Bool {
    fields.contains { $0.isHot }
  }
}

/// The schema of one stored field of a model.
public struct FieldSchema: Sendable, Hashable {
  /// The id of the field in the store, which must never change.
  ///
  /// Fields with the same id are the same field, whatever their names in different versions.
  public let id: UInt32
  /// The current name of the field.
  public let name: String
  /// The type of the stored values.
  public let type: FieldType
  /// Whether the field may be `nil`.
  public let isOptional: Bool
  /// The encoded value for objects without one.
  let defaultValue: [UInt8]?
  /// Whether the model has a value for objects without one, such as those older than the field.
  ///
  /// The first program that opens a store for writing with a default adds it to the store. From then
  /// on all programs, queries and indexes see this value in the objects without one, and a later
  /// default only counts for new stores. An optional field whose default is `nil` has none.
  public var hasDefault: Bool { defaultValue != nil }
  /// Whether the field is the primary key.
  public let isPrimaryKey: Bool
  /// Whether the store maintains an index on the field.
  ///
  /// The index of a collection has an entry for each element.
  public let isIndexed: Bool
  /// Whether the store rejects two objects with the same value.
  ///
  /// Any number of objects can have `nil`. Two objects must not share an element of a unique
  /// collection. The constraint is enforced by an index, which queries also use.
  public let isUnique: Bool
  /// Whether the field changes often and is stored in a separate table with other hot fields.
  ///
  /// Has no effect in a store that keeps the model ``StorageLayout/byKey``.
  public let isHot: Bool
  /// Whether the store also keeps the values of all objects next to each other, in a column.
  ///
  /// A query that no index serves reads the columns of its condition instead of the records. Has no
  /// effect in a store that keeps the model ``StorageLayout/byKey``.
  public let isColumnar: Bool
  /// The model that the field refers to, and the rule for deletions.
  ///
  /// It is `nil` unless the field is a ``Reference`` or a collection of references.
  public let reference: ReferenceSchema?

  /// Creates the schema of a field.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: The Swift type of the field; of an optional field, the wrapped type.
  ///   - id: The id of the field in the store. By default it is a hash of the name, so that fields
  ///     can be reordered, added and removed freely. To rename a field, pass the id of the old
  ///     name.
  ///   - isOptional: Whether the field may be `nil`.
  ///   - isPrimaryKey: Whether the field is the primary key.
  ///   - isIndexed: Whether the store maintains an index on the field.
  ///   - isUnique: Whether the store rejects two objects with the same value.
  ///   - isHot: Whether the field changes often and is stored with other hot fields.
  ///   - isColumnar: Whether the store also keeps a column of the field's values.
  ///   - onDelete: For a field of references, the effect of deleting an object that it refers to.
  ///     The default is ``DeleteRule/nullify`` for an optional field or a collection, and otherwise
  ///     ``DeleteRule/deny``. A field of references is always indexed.
  /// - Precondition: The name has 1 to 100 bytes, and the type is not a dictionary whose keys are
  ///   dictionaries. If the field is indexed or unique, its type can be indexed. If it is columnar, it is a
  ///   number, a date or a Boolean. `onDelete` is
  ///   `nil` unless the field refers to objects, and not ``DeleteRule/nullify`` for a single
  ///   reference that is not optional.
  public init<Value: FieldValue>(
    _ name: String,
    _ type: Value.Type,
    id: UInt32? = nil,
    isOptional: Bool = false,
    isPrimaryKey: Bool = false,
    isIndexed: Bool = false,
    isUnique: Bool = false,
    isHot: Bool = false,
    isColumnar: Bool = false,
    onDelete: DeleteRule? = nil
  ) {
    self.init(
      name,
      type,
      id: id,
      isOptional: isOptional,
      encodedDefault: nil,
      isPrimaryKey: isPrimaryKey,
      isIndexed: isIndexed,
      isUnique: isUnique,
      isHot: isHot,
      isColumnar: isColumnar,
      onDelete: onDelete
    )
  }

  /// Creates the schema of a field that is not optional and has a default.
  ///
  /// ```swift
  /// let level = FieldSchema("level", Int.self, default: 3)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: The Swift type of the field.
  ///   - id: The id of the field in the store; a hash of the name if it is `nil`.
  ///   - fallback: The value for objects without one, such as those older than the field; see
  ///     ``hasDefault``. A value that is not constant, such as the date, is computed once.
  ///   - isPrimaryKey: Whether the field is the primary key.
  ///   - isIndexed: Whether the store maintains an index on the field.
  ///   - isUnique: Whether the store rejects two objects with the same value.
  ///   - isHot: Whether the field changes often and is stored with other hot fields.
  ///   - isColumnar: Whether the store also keeps a column of the field's values.
  ///   - onDelete: For a field of references, the effect of deleting an object that it refers to.
  /// - Precondition: As for the initializer without a default.
  public init<Value: FieldValue>(
    _ name: String,
    _ type: Value.Type,
    id: UInt32? = nil,
    default fallback: Value,
    isPrimaryKey: Bool = false,
    isIndexed: Bool = false,
    isUnique: Bool = false,
    isHot: Bool = false,
    isColumnar: Bool = false,
    onDelete: DeleteRule? = nil
  ) {
    self.init(
      name,
      type,
      id: id,
      isOptional: false,
      encodedDefault: fallback.storedBytes,
      isPrimaryKey: isPrimaryKey,
      isIndexed: isIndexed,
      isUnique: isUnique,
      isHot: isHot,
      isColumnar: isColumnar,
      onDelete: onDelete
    )
  }

  /// Creates the schema of an optional field that has a default.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: The Swift type of the field, without its optional.
  ///   - id: The id of the field in the store; a hash of the name if it is `nil`.
  ///   - fallback: The value for objects that are older than the field; `nil` for none. An object in
  ///     which the field is `nil` keeps `nil`.
  ///   - isPrimaryKey: Whether the field is the primary key.
  ///   - isIndexed: Whether the store maintains an index on the field.
  ///   - isUnique: Whether the store rejects two objects with the same value.
  ///   - isHot: Whether the field changes often and is stored with other hot fields.
  ///   - isColumnar: Whether the store also keeps a column of the field's values.
  ///   - onDelete: For a field of references, the effect of deleting an object that it refers to.
  /// - Precondition: As for the initializer without a default.
  public init<Value: FieldValue>(
    _ name: String,
    _ type: Value.Type,
    id: UInt32? = nil,
    optionalDefault fallback: Value?,
    isPrimaryKey: Bool = false,
    isIndexed: Bool = false,
    isUnique: Bool = false,
    isHot: Bool = false,
    isColumnar: Bool = false,
    onDelete: DeleteRule? = nil
  ) {
    self.init(
      name,
      type,
      id: id,
      isOptional: true,
      encodedDefault: fallback?.storedBytes,
      isPrimaryKey: isPrimaryKey,
      isIndexed: isIndexed,
      isUnique: isUnique,
      isHot: isHot,
      isColumnar: isColumnar,
      onDelete: onDelete
    )
  }

  private init<Value: FieldValue>(
    _ name: String,
    _ type: Value.Type,
    id: UInt32?,
    isOptional: Bool,
    encodedDefault: [UInt8]?,
    isPrimaryKey: Bool,
    isIndexed: Bool,
    isUnique: Bool,
    isHot: Bool,
    isColumnar: Bool,
    onDelete: DeleteRule?
  ) {
    precondition(Self.isName(name), "a field's name must have 1 to 100 bytes")
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
      !isColumnar || ColumnDescription.supports(type.fieldType),
      "a field of type \(type) cannot have a column"
    )
    precondition(
      FieldType(type.fieldType.description) == type.fieldType,
      "the field type \(type.fieldType) cannot be parsed from its name"
    )
    self.id = id ?? Self.id(forName: name)
    self.name = name
    self.type = Value.fieldType
    self.isOptional = isOptional
    defaultValue = encodedDefault
    self.isPrimaryKey = isPrimaryKey
    self.isIndexed = isIndexed
    self.isUnique = isUnique
    self.isHot = isHot
    self.isColumnar = isColumnar
  }

  /// Returns the default id of a field with that name.
  ///
  /// It is the 32-bit FNV-1a hash of the UTF-8 bytes with the highest bit set, so that small
  /// numbers remain available for explicit ids.
  public static func id(forName name: String) -> UInt32 {
    var hasher = FNV1a()
    for byte in name.utf8 { hasher.combine(byte) }
    return hasher.hash | 0x8000_0000
  }
}

extension ModelSchema {
  /// Whether a store can have a model with a name.
  package static func isName(_ name: String) -> Bool {
    (1...100).contains(name.utf8.count) && !name.utf8.contains(UInt8(ascii: "/"))
      && !name.utf8.contains(0) && name != "store"
  }
}

extension FieldSchema {
  /// Whether a store can have a field with a name.
  package static func isName(_ name: String) -> Bool { (1...100).contains(name.utf8.count) }
}
