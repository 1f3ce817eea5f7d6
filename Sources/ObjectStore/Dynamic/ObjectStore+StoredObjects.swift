internal import LMDB

extension ObjectStore {
  /// The models that the store has, by name, whether or not the program was opened with them.
  ///
  /// Costs the reading of some pages, whatever the number of objects.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `tooNew` or `other`.
  public func storedModels() throws -> [StoredModel] {
    try readStored { transaction, schema in
      try schema.models.map { try StoredModel($0, in: transaction) }
    }
  }

  /// Calls `body` with each object of the model in one snapshot, in the order in which they were
  /// added; it returns false to stop.
  ///
  /// Needs no type of the model's: for tools and exports. One decoded field after another costs
  /// several times what a model does.
  ///
  /// - Parameters:
  ///   - model: The model's name.
  ///   - id: The least object id to visit.
  ///   - body: Is given one object after another.
  /// - Throws: ``StoreError`` with `unknownModel` when the store does not have the model, `damaged`
  ///   when a record cannot be read; or what `body` throws.
  public func forEachStoredObject(
    of model: String,
    from id: UInt64 = 0,
    _ body: (StoredObject) throws -> Bool
  ) throws {
    try readStored { transaction, schema in
      guard let entry = schema.model(model) else {
        throw StoreError(.unknownModel, "\(path) has no model \(model)")
      }
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: entry.tables
      )
      unsafe try reader.forEachRecord(from: id) { id, record in
        try body(try entry.object(record, id: id))
      }
    }
  }

  /// Lends `body` a snapshot with what the store says of all of its models.
  func readStored<R>(
    _ body: (borrowing ReadTransaction, StoredSchema) throws -> R
  ) throws -> R {
    try translating("reading \(path)") { try Self.readStored(environment, body) }
  }

  static func readStored<R>(
    _ environment: Environment,
    _ body: (borrowing ReadTransaction, StoredSchema) throws -> R
  ) throws -> R {
    while true {
      // Tables that are opened later cannot be used by a transaction.
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
      objectCount: try transaction.count(of: entry.tables.records),
      layoutCount: entry.layouts.count
    )
  }
}

extension StoredSchema.Entry {
  /// The object of a record.
  func object(_ record: borrowing RecordView, id: UInt64) throws -> StoredObject {
    do throws(RecordError) {
      return try StoredObject(record, id: id, model: tables.name, names: names)
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }
}
