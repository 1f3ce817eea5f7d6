internal import LMDB

/// Brings what the store says of the program's models up to date, in one transaction.
struct SchemaWriter {
  let models: [any Model.Type]
  let options: StoreOptions

  func run(in environment: Environment) throws {
    var transaction = try environment.beginWrite()
    let metadata = Metadata(database: try transaction.makeDatabase(TableName.store))
    let epoch = try metadata.integer(MetadataKey.epoch, as: UInt64.self, in: transaction) ?? 0
    if epoch == 0 {
      try metadata.set(MetadataKey.currentFormat, for: MetadataKey.format, in: &transaction)
      try metadata.set(
        UInt64.random(in: .min ... .max),
        for: MetadataKey.seed,
        in: &transaction
      )
    }
    let version =
      try metadata.integer(MetadataKey.schemaVersion, as: UInt32.self, in: transaction) ?? 0
    // Another program may have been quicker, and newer.
    guard version <= options.schemaVersion else { return }
    let isNewer = version < options.schemaVersion
    if isNewer {
      try metadata.set(options.schemaVersion, for: MetadataKey.schemaVersion, in: &transaction)
    }
    let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction) ?? 0
    for model in models {
      try prepare(model, metadata, seed: seed, dropsIndexes: isNewer, in: &transaction)
    }
    try metadata.set(epoch + 1, for: MetadataKey.epoch, in: &transaction)
    try transaction.commit()
  }

  private func prepare<M: Model>(
    _ model: M.Type,
    _ metadata: Metadata,
    seed: UInt64,
    dropsIndexes: Bool,
    in transaction: inout WriteTransaction
  ) throws {
    let schema = model.schema
    let own = RecordLayout(schema)
    let records = try transaction.makeDatabase(TableName.records(schema.name), keys: .integers)
    let hot = try transaction.makeDatabase(TableName.hot(schema.name), keys: .integers)
    let keys = try transaction.makeDatabase(TableName.keys(schema.name), keys: .integers)

    var layouts = try metadata.layouts(of: schema.name, in: transaction)
    for layout in layouts.values {
      try StoreOpening.requireSameTypes(layout, own, model: schema.name)
    }
    if !layouts.values.contains(own) {
      guard let number = UInt16(exactly: layouts.count + 1), number < .max else {
        throw StoreError(.other, "the store has 65534 layouts of \(schema.name) already")
      }
      try metadata.set(
        own.encoded,
        for: MetadataKey.layout(schema.name, number),
        in: &transaction
      )
      layouts[number] = own
    }
    let bindings = Dictionary(
      uniqueKeysWithValues: layouts.map { number, layout in
        (number, LayoutBinding(reading: layout, number: number, as: own))
      }
    )
    let tables = ModelTables(
      name: schema.name,
      records: records,
      hot: hot,
      keys: keys,
      indexes: [],
      bindings: bindings,
      current: bindings.values.first { $0.layout == own },
      primaryKeyPosition: schema.primaryKeyPosition,
      hashSeed: seed
    )
    let view = StoreSchema(metadata: metadata, epoch: 0, version: 0, tables: [schema.name: tables])

    let existing = try metadata.indexes(of: schema.name, in: transaction)
    for field in schema.fields
    where field.isIndexed && !existing.contains(where: { $0.fieldID == field.id }) {
      let database = try transaction.makeDatabase(TableName.index(schema.name, field.id))
      let index = ModelTables.Index(fieldID: field.id, type: field.type, database: database)
      try RecordWriter<M>(view).build(index, in: &transaction)
      try metadata.set(
        Array(field.type.description.utf8),
        for: MetadataKey.index(schema.name, field.id),
        in: &transaction
      )
    }
    // An older program may still want an index that this one does not know; only a newer schema
    // may drop it.
    guard dropsIndexes else { return }
    for (fieldID, _) in existing
    where !schema.fields.contains(where: { $0.isIndexed && $0.id == fieldID }) {
      let key = Array(MetadataKey.index(schema.name, fieldID).utf8)
      try transaction.delete(key.span, in: metadata.database)
      let database = try transaction.makeDatabase(TableName.index(schema.name, fieldID))
      try transaction.removeAll(in: database)
    }
  }
}
