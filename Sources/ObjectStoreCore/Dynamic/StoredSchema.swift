package import LMDB
internal import SystemInterface

/// The schema of all models in a store as of one epoch, with their tables open.
///
/// The epoch counts the changes of the stored schema.
package struct StoredSchema {
  /// A model with its fields and indexes.
  package struct Entry {
    package var tables: ModelTables
    package var layouts: [RecordLayout]
    package var outdated: OutdatedLayouts { tables.outdated }
    package var fields: [StoredModel.Field]
    /// The current name of each field, by field id.
    package var names: [UInt32: String]

    /// The defaults of fields that records may lack.
    package var defaults: StoredDefaults

    init(
      tables: ModelTables,
      layouts: [RecordLayout],
      fields: [RecordLayout.Field],
      defaults: StoredDefaults
    ) {
      self.defaults = defaults
      self.tables = tables
      self.layouts = layouts
      self.fields = fields.map { StoredModel.Field($0) }
      names = Dictionary(self.fields.map { ($0.id, $0.name) }) { first, _ in first }
    }
  }

  package let metadata: Metadata
  package let epoch: UInt64
  package let version: UInt32
  package let seed: UInt64
  /// `nil` if the store does not have a history table yet.
  package let history: HistoryTable?
  /// The models, sorted by name.
  package let models: [Entry]

  /// A schema for a ``ModelWriter`` that does not check references.
  var forWriting: StoreSchema {
    StoreSchema(
      metadata: metadata,
      historyTable: history?.database,
      epoch: epoch,
      seed: seed,
      version: version,
      models: [],
      references: ReferenceGraph()
    )
  }

  package func model(_ name: String) -> Entry? { models.first { $0.tables.name == name } }

  /// Reads the stored schema and opens the tables of every model.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `tooNew`.
  package init(_ environment: Environment) throws {
    self = try StoreOpening.databaseOpeningLock.withLock { _ in
      let transaction = try environment.beginRead()
      let schema = try StoredSchema(in: transaction, path: environment.path)
      try transaction.keepDatabases()
      return schema
    }
  }

  private init(in transaction: borrowing ReadTransaction, path: String) throws {
    guard let database = try transaction.openDatabase(TableName.store) else {
      throw StoreError(.damaged, "\(path): the metadata table is missing")
    }
    metadata = Metadata(database: database)
    guard
      let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction),
      let epoch: UInt64 = try metadata.integer(MetadataKey.epoch, in: transaction),
      let format: UInt32 = try metadata.integer(MetadataKey.format, in: transaction)
    else { throw StoreError(.damaged, "\(path): the store's description is incomplete") }
    try StoreOpening.requireKnownFormat(format, path)
    self.seed = seed
    self.epoch = epoch
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
    let outdated = try metadata.outdatedLayouts(of: name, in: transaction)
    let fields = try mergedFields(of: layouts, model: name)
      .filter { !outdated.formerFields.contains($0.id) }
    let own = RecordLayout(fields: fields, storage: layouts.storage ?? .sequential)
    let defaults = try metadata.defaults(of: name, in: transaction)
    let tableNames = ModelTableNames(name, own.storage)
    guard
      let records = try transaction.openDatabase(tableNames.records, keys: .integers),
      let hot = try transaction.openDatabase(tableNames.hot, keys: .integers),
      let keys = try transaction.openDatabase(tableNames.keys, keys: .integers)
    else { throw StoreError(.damaged, "a table of \(name) is missing") }
    let tables = ModelTables(
      name,
      own: own,
      records: records,
      hot: hot,
      keys: keys,
      indexes: try metadata.openIndexes(of: name, tableNames, in: transaction),
      buildingIndexes: try metadata.openBuildingIndexes(of: name, tableNames, in: transaction),
      columns: try metadata.openColumns(of: name, in: transaction),
      layouts: layouts,
      defaults: defaults,
      outdated: outdated,
      hashSeed: seed
    )
    return Entry(tables: tables, layouts: layouts, fields: fields, defaults: defaults)
  }

  /// Returns the fields of all layouts, each as the newest layout that has it describes it.
  package static func mergedFields(
    of layouts: [RecordLayout],
    model: String
  ) throws -> [RecordLayout.Field] {
    var fields: [RecordLayout.Field] = []
    var positions: [UInt32: Int] = [:]
    for layout in layouts.reversed() {
      guard Set(layout.fields.map(\.id)).count == layout.fields.count,
        layout.fields.count(where: { $0.isPrimaryKey && !$0.isOptional && !$0.isHot }) == 1,
        layout.fields.count(where: \.isPrimaryKey) == 1
      else { throw StoreError(.damaged, "a layout of \(model) is invalid") }
      for field in layout.fields {
        guard let known = positions[field.id].map({ fields[$0] }) else {
          positions[field.id] = fields.count
          fields.append(field)
          continue
        }
        guard known.type == field.type, known.isPrimaryKey == field.isPrimaryKey else {
          throw StoreError(.damaged, "the layouts of \(model) disagree about \(field.name)")
        }
      }
    }
    guard fields.count(where: \.isPrimaryKey) == 1 else {
      throw StoreError(.damaged, "the layouts of \(model) do not agree on one primary key")
    }
    return fields
  }
}

extension Metadata {
  /// Returns the names of the models that have a layout in the store, sorted.
  package func modelNames(in transaction: borrowing some Transaction & ~Copyable) throws -> [String]
  {
    let prefix = Array("layout/".utf8)
    var names: [String] = []
    try transaction.forEachEntry(withPrefix: prefix, in: database) { stored, value in
      let key = String(decodingUTF8: stored)
      let parts = key.metadataKeyParts
      guard parts.count == 3, !parts[1].isEmpty, let number = UInt16(parts[2]), number > 0 else {
        throw StoreError(.damaged, "the store's metadata key '\(key)' is invalid")
      }
      let name = String(parts[1])
      if names.last != name { names.append(name) }
    }
    return names
  }

  /// Fails if the store has a model with this name in another Unicode form.
  ///
  /// Their tables have different names, and Swift compares the names of the models as equal.
  func requireNoOtherForm(
    of name: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    for known in try modelNames(in: transaction) {
      try ModelSchema.requireSameForm(name, as: known)
    }
  }
}

extension ModelSchema {
  /// Fails if two names of models are equal, and their bytes are not.
  package static func requireSameForm(_ name: String, as known: String) throws {
    guard name == known, !name.utf8.elementsEqual(known.utf8) else { return }
    throw StoreError(
      .schemaMismatch,
      """
      the store has the model \(known), and this \(name) is spelled with other Unicode scalars \
      (such as a letter with a combining mark): use the same spelling
      """
    )
  }
}

/// Adds models, layouts, indexes and reference rules to a store without their Swift types.
package struct StoredSchemaWriter {
  /// The additions to one model; the model is created if the store does not have it.
  package struct Addition {
    package var model: String
    /// The layouts; those that the store already has are skipped.
    package var layouts: [RecordLayout] = []
    /// The indexes; those that an existing index already serves are skipped.
    package var indexes: [IndexDescription] = []
    /// The columns; those that the store already has are skipped.
    package var columns: [ColumnDescription] = []
    /// The reference rules; those of fields that already have a rule are skipped.
    package var references: [ReferenceRule] = []

    package init(
      model: String,
      layouts: [RecordLayout] = [],
      indexes: [IndexDescription] = [],
      columns: [ColumnDescription] = [],
      references: [ReferenceRule] = []
    ) {
      self.model = model
      self.layouts = layouts
      self.indexes = indexes
      self.columns = columns
      self.references = references
    }

    package var isEmpty: Bool {
      layouts.isEmpty && indexes.isEmpty && columns.isEmpty && references.isEmpty
    }
  }

  package let environment: Environment
  /// The version of the program's schema; a store with a later version is not written to.
  package let schemaVersion: UInt32

  package init(environment: Environment, schemaVersion: UInt32) {
    self.environment = environment
    self.schemaVersion = schemaVersion
  }

  /// Adds everything in one commit and builds the new indexes.
  ///
  /// - Throws: ``StoreError`` with `schemaMismatch` when the store has a field with another type,
  ///   `duplicateKey` when existing objects violate a new unique index, or `tooNew` when the store
  ///   has a later schema version.
  package func add(_ additions: [Addition]) throws {
    try StoreOpening.databaseOpeningLock.withLock { _ in
      var transaction = try environment.beginWrite()
      let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
      guard
        try metadata.integer(MetadataKey.epoch, as: UInt64.self, in: transaction) != nil,
        let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction)
      else { throw StoreError(.damaged, "the store's description is incomplete") }
      try metadata.requireVersion(upTo: schemaVersion, in: transaction)
      for addition in additions {
        try add(addition, metadata, seed: seed, in: &transaction)
      }
      try metadata.advanceEpoch(in: &transaction)
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
    var layouts = try metadata.layouts(of: name, in: transaction)
    if layouts.isEmpty { try metadata.requireNoOtherForm(of: name, in: transaction) }
    let storedLayouts = layouts.count
    let storage = layouts.storage ?? addition.layouts.storage ?? .sequential
    let tableNames = ModelTableNames(name, storage)
    let records = try transaction.createDatabase(tableNames.records, keys: .integers)
    let hot = try transaction.createDatabase(tableNames.hot, keys: .integers)
    let keys = try transaction.createDatabase(tableNames.keys, keys: .integers)
    for layout in addition.layouts {
      let layout = RecordLayout(fields: layout.fields, storage: storage)
      guard !layouts.contains(layout) else { continue }
      guard layout.fields.count <= RecordLayout.maximumFieldCount else {
        throw StoreError(
          .invalidInput,
          "\(name) would have \(layout.fields.count) fields, and \(RecordLayout.maximumFieldCount) is "
            + "the maximum"
        )
      }
      for other in layouts { try StoreOpening.requireSameTypes(other, layout, model: name) }
      guard layouts.count < Metadata.maximumLayoutCount else {
        throw StoreError(.other, "the store already has 65534 layouts of \(name), the maximum")
      }
      layouts.append(layout)
      let key = MetadataKey.layout(name, layouts.count)
      try metadata.set(layout.encoded, for: key, in: &transaction)
    }
    let fields = try StoredSchema.mergedFields(of: layouts, model: name)
    let defaults = try metadata.defaults(of: name, in: transaction)
      .updated(by: nil, layouts: layouts, storedLayouts: storedLayouts).defaults
    try metadata.set(defaults, of: name, in: &transaction)
    let existing = try metadata.indexes(of: name, in: transaction)
    for index in addition.indexes where !index.isCovered(by: existing) {
      let database = try transaction.createDatabase(tableNames.index(index.id))
      try transaction.removeAll(in: database)
      let tables = ModelTables(
        name,
        own: RecordLayout(fields: fields, storage: storage),
        records: records,
        hot: hot,
        keys: keys,
        indexes: [(index, database)],
        layouts: layouts,
        defaults: defaults,
        hashSeed: seed
      )
      try IndexBuilder(tables: tables, index: tables.indexes[0]).run(in: &transaction)
      try IndexBuild(model: name, index: index).complete(metadata, in: &transaction)
    }
    let existingColumns = try metadata.columns(of: name, in: transaction)
    // A model that is stored by key has no columns, also if the addition is of one that has.
    for column in storage == .byKey ? [] : addition.columns
    where !existingColumns.contains(column) {
      let tables = ModelTables(
        name,
        own: RecordLayout(fields: fields),
        records: records,
        hot: hot,
        keys: keys,
        indexes: [],
        columns: [try metadata.addColumn(column, of: name, in: &transaction)],
        layouts: layouts,
        defaults: defaults,
        hashSeed: seed
      )
      try ColumnBuilder(tables: tables, column: tables.columns[0]).run(in: &transaction)
    }
    let rules = try metadata.references(in: transaction)
    for rule in addition.references where !rules.contains(where: { $0.isOfField(of: rule) }) {
      let key = MetadataKey.reference(name, rule.fieldID)
      try metadata.set(rule.encoded, for: key, in: &transaction)
    }
  }
}
