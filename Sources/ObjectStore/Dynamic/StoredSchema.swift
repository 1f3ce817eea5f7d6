internal import LMDB
internal import Synchronization

/// What a store says of all of its models, as of one epoch, with their tables open.
struct StoredSchema {
  /// One model.
  struct Entry {
    var tables: ModelTables
    var layouts: [RecordLayout]
    var fields: [StoredModel.Field]
    /// The name of today of each field.
    var names: [UInt32: String]

    init(tables: ModelTables, layouts: [RecordLayout], fields: [RecordLayout.Field]) {
      self.tables = tables
      self.layouts = layouts
      self.fields = fields.map { StoredModel.Field($0) }
      names = Dictionary(self.fields.map { ($0.id, $0.name) }) { first, _ in first }
    }
  }

  let metadata: Metadata
  let epoch: UInt64
  let format: UInt32
  let version: UInt32
  let seed: UInt64
  /// `nil` in a store that has none yet.
  let history: HistoryTable?
  /// By name, in order.
  let models: [Entry]

  /// The same for whoever writes: references are not looked at.
  var forWriting: StoreSchema {
    StoreSchema(
      metadata: metadata,
      history: history,
      epoch: epoch,
      seed: seed,
      version: version,
      models: [],
      references: ReferenceGraph()
    )
  }

  func model(_ name: String) -> Entry? { models.first { $0.tables.name == name } }

  /// Reads what the store says, and opens the tables of every model.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `tooNew`.
  init(_ environment: Environment) throws {
    self = try StoreOpening.openingDatabases.withLock { _ in
      let transaction = try environment.beginRead()
      let schema = try StoredSchema(in: transaction, path: environment.path)
      try transaction.keepDatabases()
      return schema
    }
  }

  private init(in transaction: borrowing ReadTransaction, path: String) throws {
    guard let database = try transaction.openDatabase(TableName.store) else {
      throw StoreError(.damaged, "\(path): the table that describes it is gone")
    }
    metadata = Metadata(database: database)
    guard
      let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction),
      let epoch: UInt64 = try metadata.integer(MetadataKey.epoch, in: transaction),
      let format: UInt32 = try metadata.integer(MetadataKey.format, in: transaction)
    else { throw StoreError(.damaged, "\(path): its description is not complete") }
    self.seed = seed
    self.epoch = epoch
    self.format = format
    version = try metadata.integer(MetadataKey.schemaVersion, in: transaction) ?? 0
    history = try transaction.openDatabase(TableName.history, keys: .integers)
      .map { HistoryTable(database: $0) }
    var models: [Entry] = []
    for name in try metadata.modelNames(in: transaction) {
      models.append(try Self.readModel(name, metadata, seed: seed, in: transaction))
    }
    self.models = models
  }

  private static func readModel(
    _ name: String,
    _ metadata: Metadata,
    seed: UInt64,
    in transaction: borrowing ReadTransaction
  ) throws -> Entry {
    let layouts = try metadata.layouts(of: name, in: transaction)
    let fields = try mergedFields(of: layouts, model: name)
    guard
      let records = try transaction.openDatabase(TableName.records(name), keys: .integers),
      let hot = try transaction.openDatabase(TableName.hot(name), keys: .integers),
      let keys = try transaction.openDatabase(TableName.keys(name), keys: .integers)
    else { throw StoreError(.damaged, "a table of \(name) is gone") }
    var indexes: [(IndexDescription, Database)] = []
    for index in try metadata.indexes(of: name, in: transaction) {
      let table = TableName.index(name, index.id)
      guard let database = try transaction.openDatabase(table) else {
        throw StoreError(.damaged, "the index \(table) is gone")
      }
      indexes.append((index, database))
    }
    let tables = ModelTables(
      name,
      own: RecordLayout(fields: fields),
      records: records,
      hot: hot,
      keys: keys,
      indexes: indexes,
      layouts: layouts,
      hashSeed: seed
    )
    return Entry(tables: tables, layouts: layouts, fields: fields)
  }

  /// The fields of all layouts, each as the newest that has it describes it.
  static func mergedFields(
    of layouts: [RecordLayout],
    model: String
  ) throws -> [RecordLayout.Field] {
    var fields: [RecordLayout.Field] = []
    for layout in layouts.reversed() {
      guard Set(layout.fields.map(\.id)).count == layout.fields.count,
        layout.fields.count(where: { $0.isPrimaryKey && !$0.isOptional && !$0.isHot }) == 1,
        layout.fields.count(where: \.isPrimaryKey) == 1
      else { throw StoreError(.damaged, "a layout of \(model) is not what one can be") }
      for field in layout.fields {
        guard let known = fields.first(where: { $0.id == field.id }) else {
          fields.append(field)
          continue
        }
        guard known.type == field.type, known.isPrimaryKey == field.isPrimaryKey else {
          throw StoreError(.damaged, "the layouts of \(model) disagree about \(field.name)")
        }
      }
    }
    guard fields.count(where: \.isPrimaryKey) == 1 else {
      throw StoreError(.damaged, "the layouts of \(model) do not have one primary key")
    }
    return fields
  }
}

extension Metadata {
  /// The models of which the store has a layout, by name.
  func modelNames(in transaction: borrowing some Transaction & ~Copyable) throws -> [String] {
    let prefix = Array("layout/".utf8)
    var names: [String] = []
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = unsafe try prefix.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry, unsafe found.key.starts(with: prefix) {
      let key = unsafe String(decoding: found.key, as: UTF8.self)
      let parts = key.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3, !parts[1].isEmpty, let number = UInt16(parts[2]), number > 0 else {
        throw StoreError(.damaged, "the store's entry '\(key)' is not what one can be")
      }
      let name = String(parts[1])
      if names.last != name { names.append(name) }
      unsafe entry = unsafe try cursor.next()
    }
    return names
  }
}
