internal import LMDB

extension SchemaWriter {
  /// Adds the program's defaults to the store, and drops the indexes and columns that have other
  /// values for the objects without one.
  ///
  /// Returns the defaults, and the indexes and columns that were dropped. `count` is the number of
  /// layouts that the store had before.
  func prepareDefaults(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    layouts: [RecordLayout],
    storedLayouts count: Int,
    in transaction: inout WriteTransaction
  ) throws -> (defaults: StoredDefaults, indexes: [IndexDescription], columns: [ColumnDescription])
  {
    let name = schema.name
    let update = try metadata.defaults(of: name, in: transaction)
      .updated(by: schema, layouts: layouts, storedLayouts: count)
    try metadata.set(update.defaults, of: name, in: &transaction)
    guard !update.rebuilt.isEmpty else { return (update.defaults, [], []) }
    let names = ModelTableNames(name, layouts.storage ?? schema.layout)
    func hasChanged(_ index: IndexDescription) -> Bool {
      index.parts.contains { update.rebuilt.contains($0.fieldID) }
    }
    for build in try metadata.indexBuilds(of: name, in: transaction) where hasChanged(build.index) {
      try build.cancel(metadata, in: &transaction)
    }
    let indexes = try metadata.indexes(of: name, in: transaction).filter(hasChanged)
    for index in indexes {
      let key = Array(MetadataKey.index(name, index.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
      try transaction.removeAll(in: transaction.createDatabase(names.index(index.id)))
    }
    let columns = try metadata.columns(of: name, in: transaction)
      .filter { update.rebuilt.contains($0.fieldID) }
    for column in columns {
      let key = Array(MetadataKey.index(name, column.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
      let table = TableName.column(name, column.fieldID)
      try transaction.removeAll(in: transaction.createDatabase(table, keys: .integers))
    }
    return (update.defaults, indexes, columns)
  }
}
