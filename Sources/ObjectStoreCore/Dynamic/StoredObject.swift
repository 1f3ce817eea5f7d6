package import LMDB

/// An object decoded by the store's description of its model, without the model's Swift type.
///
/// ```swift
/// try store.forEachStoredObject(of: "Note") { (note: StoredObject) in
///   for field in note.fields where !field.value.isNull {
///     print("\(note.id) \(field.name): \(field.value) (\(field.type))")
///   }
///   return true
/// }
/// ```
public struct StoredObject: Sendable, Hashable {
  /// A field and its value.
  public struct Field: Sendable, Hashable {
    /// The id of the field, which stays the same when the field is renamed.
    public var id: UInt32
    /// The name of the field in the newest layout that has it.
    public var name: String
    /// The type of the stored value.
    public var type: FieldType
    /// The value; ``StoredValue/null`` for `nil`.
    public var value: StoredValue

    /// Creates a field.
    package init(id: UInt32, name: String, type: FieldType, value: StoredValue) {
      self.id = id
      self.name = name
      self.type = type
      self.value = value
    }
  }

  /// The name of the model.
  public var model: String
  /// The object id; 0 for an object that is not stored yet.
  public var id: UInt64
  /// The fields that the object has: those of its record, in the order of its layout, and those that
  /// were added to the model after the record was written and have a default.
  public var fields: [Field]

  /// Creates an object.
  package init(model: String, id: UInt64 = 0, fields: [Field]) {
    self.model = model
    self.id = id
    self.fields = fields
  }

  /// The value of the field with that name; `nil` when the record does not have the field.
  ///
  /// - Complexity: O(n) in the number of fields.
  public subscript(name: String) -> StoredValue? {
    fields.first { $0.name == name }?.value
  }
}

extension StoredObject {
  /// Decodes all fields of a record; `names` are the current names of fields by id.
  package init(
    _ record: borrowing RecordView,
    id: UInt64,
    model: String,
    names: [UInt32: String]
  ) throws(RecordError) {
    var fields: [Field] = []
    try record.forEachField { field, bytes throws(RecordError) in
      let name = names[field.id] ?? field.name
      guard let type = field.type else { throw RecordError(.unknownCoding, field: name) }
      switch field.origin {
      case .layout: break
      case .extra:
        guard !fields.contains(where: { $0.id == field.id }) else {
          throw RecordError(.invalidValue, field: name)
        }
      case .absent: guard names[field.id] != nil else { return }
      }
      guard let bytes else {
        guard field.isOptional else { throw RecordError(.missingField, field: field.name) }
        return fields.append(Field(id: field.id, name: name, type: type, value: .null))
      }
      do throws(RecordError) {
        let value = try StoredValue(bytes, type: type)
        fields.append(Field(id: field.id, name: name, type: type, value: value))
      } catch {
        throw RecordError(error.code, field: field.origin == .layout ? field.name : name)
      }
    }
    self.init(model: model, id: id, fields: fields)
  }
}

extension Store {
  /// Returns the models in the store, sorted by name, including those the program did not open.
  ///
  /// It reads only the descriptions: the cost does not depend on the number of objects.
  ///
  /// - Throws: ``StoreError`` with `damaged` when a description cannot be read, `tooNew` when a
  ///   later version of the library wrote it, or `other` when LMDB fails.
  public func storedModels() throws -> [StoredModel] {
    try readStored { transaction, schema in
      try schema.models.map { try StoredModel($0, in: transaction) }
    }
  }

  /// Calls `body` with each object of a model, without the model's Swift type.
  ///
  /// All objects come from one snapshot, in the order in which they were inserted. It is meant for
  /// tools and exports: decoding takes several times as long as decoding a model type.
  ///
  /// ```swift
  /// try store.forEachStoredObject(of: "Note") { note in
  ///   print(note["title"] ?? .null)
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - id: The smallest object id to visit.
  ///   - body: A closure that returns whether to continue with the next object.
  /// - Throws: ``StoreError`` with `unknownModel` when the store does not have the model, or
  ///   `damaged` when a record cannot be read; any error that `body` throws.
  public func forEachStoredObject(
    of model: String,
    from id: UInt64 = 0,
    _ body: (StoredObject) throws -> Bool
  ) throws {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      try entry.tables.forEachRecord(in: transaction, from: id) { id, record in
        try body(try entry.object(record, id: id))
      }
    }
  }

  /// Lends `body` a snapshot and the schema of all models in the store.
  package func readStored<R>(
    _ body: (borrowing ReadTransaction, StoredSchema) throws -> R
  ) throws -> R {
    try translating("reading \(path)") { try Self.readStored(environment, body) }
  }

  package static func readStored<R>(
    _ environment: Environment,
    _ body: (borrowing ReadTransaction, StoredSchema) throws -> R
  ) throws -> R {
    while true {
      // A transaction cannot use tables that were opened after it began, so the schema comes first;
      // if another process changes the schema in between, the epochs differ.
      let schema = try StoredSchema(environment)
      let transaction = try environment.beginRead()
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      guard epoch == schema.epoch else { continue }
      return try body(transaction, schema)
    }
  }
}

extension StoredModel {
  init(
    _ entry: StoredSchema.Entry,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    var indexes: [Index] = []
    for index in entry.tables.indexes {
      indexes.append(
        Index(
          id: index.description.id,
          fields: index.description.parts.map(\.fieldID),
          isUnique: index.description.isUnique,
          entryCount: try transaction.count(of: index.database)
        )
      )
    }
    self.init(
      name: entry.tables.name,
      fields: entry.fields,
      indexes: indexes,
      columns: entry.tables.columns.map(\.description.fieldID),
      objectCount: try transaction.count(of: entry.tables.records),
      requiredFields: entry.requiredFields,
      layoutCount: entry.layouts.count,
      layout: entry.tables.storage
    )
  }
}

extension StoredSchema.Entry {
  /// The ids of the fields that are not optional, and that every layout of current records has.
  fileprivate var requiredFields: Set<UInt32> {
    let current = layouts.filter { !OutdatedLayouts.isMarked($0) }
    return Set(
      fields.lazy.filter { field in
        !field.isOptional && current.allSatisfy { $0.fields.contains { $0.id == field.id } }
      }
      .map(\.id)
    )
  }

  /// Decodes a record of the model.
  package func object(_ record: borrowing RecordView, id: UInt64) throws -> StoredObject {
    do throws(RecordError) {
      return try StoredObject(record, id: id, model: tables.name, names: names)
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }
}
