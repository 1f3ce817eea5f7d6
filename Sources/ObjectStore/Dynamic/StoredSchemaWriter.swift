internal import LMDB
internal import Synchronization

/// Adds models, layouts, indexes and rules of references to a store that are known by their descriptions alone.
struct StoredSchemaWriter {
  /// What is to be added to one model, or the model itself.
  struct Addition {
    var model: String
    /// Those that the store has already are passed over.
    var layouts: [RecordLayout] = []
    /// Those that the store has already, or ones that do as much, are passed over.
    var indexes: [IndexDescription] = []
    /// Those of fields that refer to something already are passed over.
    var references: [ReferenceRule] = []

    var isEmpty: Bool { layouts.isEmpty && indexes.isEmpty && references.isEmpty }
  }

  let environment: Environment
  /// The version of the program's schema: it leaves a store of a later one alone.
  let schemaVersion: UInt32

  /// - Throws: ``StoreError`` with `schemaMismatch` when the store has a field under another type,
  ///   `duplicateKey` when objects stand against an index that is unique, `tooNew`.
  func add(_ additions: [Addition]) throws {
    try StoreOpening.openingDatabases.withLock { _ in
      var transaction = try environment.beginWrite()
      let metadata = Metadata(database: try transaction.makeDatabase(TableName.store))
      guard
        let epoch: UInt64 = try metadata.integer(MetadataKey.epoch, in: transaction),
        let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction)
      else { throw StoreError(.damaged, "the store's description is not complete") }
      try metadata.requireVersion(upTo: schemaVersion, in: transaction)
      for addition in additions {
        try add(addition, metadata, seed: seed, in: &transaction)
      }
      try metadata.set(epoch + 1, for: MetadataKey.epoch, in: &transaction)
      try transaction.commit()
    }
  }

  private func add(
    _ addition: Addition,
    _ metadata: Metadata,
    seed: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let name = addition.model
    let records = try transaction.makeDatabase(TableName.records(name), keys: .integers)
    let hot = try transaction.makeDatabase(TableName.hot(name), keys: .integers)
    let keys = try transaction.makeDatabase(TableName.keys(name), keys: .integers)
    var layouts = try metadata.layouts(of: name, in: transaction)
    for layout in addition.layouts where !layouts.contains(layout) {
      for other in layouts { try StoreOpening.requireSameTypes(other, layout, model: name) }
      guard layouts.count < Metadata.mostLayouts else {
        throw StoreError(.other, "the store has 65534 layouts of \(name) already")
      }
      layouts.append(layout)
      let key = MetadataKey.layout(name, layouts.count)
      try metadata.set(layout.encoded, for: key, in: &transaction)
    }
    let fields = try StoredSchema.mergedFields(of: layouts, model: name)
    let existing = try metadata.indexes(of: name, in: transaction)
    for index in addition.indexes where !index.isServed(by: existing) {
      let database = try transaction.makeDatabase(TableName.index(name, index.id))
      try transaction.removeAll(in: database)
      let tables = ModelTables(
        name,
        own: RecordLayout(fields: fields),
        records: records,
        hot: hot,
        keys: keys,
        indexes: [(index, database)],
        layouts: layouts,
        hashSeed: seed
      )
      try IndexBuilder(tables: tables, index: tables.indexes[0]).run(in: &transaction)
      let key = MetadataKey.index(name, index.id)
      try metadata.set(index.encoded, for: key, in: &transaction)
    }
    let rules = try metadata.references(in: transaction)
    for rule in addition.references where !rules.contains(where: { $0.isOfField(of: rule) }) {
      let key = MetadataKey.reference(name, rule.fieldID)
      try metadata.set(rule.encoded, for: key, in: &transaction)
    }
  }
}
