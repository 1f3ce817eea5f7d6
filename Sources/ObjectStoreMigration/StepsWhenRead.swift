internal import LMDB
internal import ObjectStoreCore

/// The steps of a migration that are applied when objects are read, and what they change.
struct StepsWhenRead {
  /// A model as the store describes it.
  struct Stored {
    let name: String
    let layouts: [RecordLayout]
    /// The current names of its fields, by id.
    let names: [UInt32: String]
    let indexes: [IndexDescription]
    let columns: [ColumnDescription]
    let references: [ReferenceRule]
  }

  /// The names of the fields that the steps may change, by model.
  private let changes: [String: Set<String>]

  /// Returns `nil` if a step is applied when the store is opened.
  init?(_ steps: [MigrationStep]) {
    guard steps.allSatisfy({ $0.mode == .whenRead }) else { return nil }
    var changes: [String: Set<String>] = [:]
    for change in steps.flatMap(\.operations).compactMap(\.changedFields) {
      changes[change.model, default: []].formUnion(change.fields)
    }
    self.changes = changes
  }

  /// The names of the models whose objects the steps change.
  var models: Set<String> { Set(changes.keys) }

  /// Returns the ids of the fields that the steps change, in the store or in the program.
  func changedFields(of model: Stored, _ schema: ModelSchema) -> Set<UInt32> {
    let names = changes[model.name] ?? []
    let stored = model.names.filter { names.contains($0.value) }.map(\.key)
    return Set(stored + schema.fields.filter { names.contains($0.name) }.map(\.id))
  }

  /// Returns why the steps must be applied to a model when the store is opened; `nil` if they need
  /// not.
  ///
  /// - Parameters:
  ///   - model: The model in the store.
  ///   - schema: The model of the program; `nil` if it does not declare it.
  /// - Returns: The reason in words.
  func obstacle(_ model: Stored, _ schema: ModelSchema?) -> String? {
    guard changes[model.name] != nil else { return nil }
    guard let schema else { return "the program does not declare \(model.name)" }
    guard schema.layout == model.layouts.storage else {
      return "\(model.name) is stored in another layout from this version on"
    }
    let changed = changedFields(of: model, schema)
    let keys =
      model.layouts.flatMap(\.fields).filter(\.isPrimaryKey).map(\.id)
      + schema.fields.filter(\.isPrimaryKey).map(\.id)
    guard keys.allSatisfy({ !changed.contains($0) }) else {
      return "the step changes the primary key of \(model.name)"
    }
    guard Set(keys).count == 1 else { return "\(model.name) has another primary key" }
    for index in model.indexes + schema.indexes where index.isUnique {
      guard !index.parts.contains(where: { changed.contains($0.fieldID) }) else {
        return "the step changes a field of a unique index of \(model.name)"
      }
    }
    guard !(model.columns + schema.columns).contains(where: { changed.contains($0.fieldID) }) else {
      return "the step changes a field of \(model.name) that has a column"
    }
    guard !(model.references + schema.references).contains(where: { changed.contains($0.fieldID) })
    else { return "the step changes a reference of \(model.name)" }
    return nil
  }
}

extension StepsWhenRead.Stored {
  /// Reads the description of a model.
  init(
    _ name: String,
    _ metadata: Metadata,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    self.name = name
    layouts = try metadata.layouts(of: name, in: transaction)
    let fields = try StoredSchema.mergedFields(of: layouts, model: name)
    names = Dictionary(uniqueKeysWithValues: fields.map { ($0.id, $0.name) })
    indexes =
      try metadata.indexes(of: name, in: transaction)
      + metadata.indexBuilds(of: name, in: transaction).map(\.index)
    columns = try metadata.columns(of: name, in: transaction)
    references = try metadata.references(in: transaction).filter { $0.model == name }
  }
}

extension StepsWhenRead {
  /// Returns why steps must be applied when a store is opened; `nil` if they need not.
  static func obstacle(
    to steps: [MigrationStep],
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> String? {
    guard let own = StepsWhenRead(steps) else { return "a step is applied at open" }
    for name in try metadata.modelNames(in: transaction) where own.models.contains(name) {
      let model = try StepsWhenRead.Stored(name, metadata, in: transaction)
      let schema = models.first { $0.schema.name == name }?.schema
      var check = MigrationCheck([MigrationCheck.Model(model)], requiresNames: false)
      try check.run(steps, declared: Set(schema.map { [$0.name] } ?? []))
      if let obstacle = own.obstacle(model, schema) { return obstacle }
    }
    return nil
  }

  /// Begins to apply steps to the objects of a store when they are read.
  ///
  /// - Precondition: There is no obstacle.
  static func begin(
    _ steps: [MigrationStep],
    after version: UInt32,
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    guard let own = StepsWhenRead(steps) else { return }
    for name in try metadata.modelNames(in: transaction) where own.models.contains(name) {
      guard let schema = models.first(where: { $0.schema.name == name })?.schema else { continue }
      try own.begin(after: version, schema, metadata, in: &transaction)
    }
    let record = MigrationRecord(
      from: version,
      to: steps.last?.version ?? version,
      commit: transaction.id,
      previousFile: ""
    )
    try metadata.set(record.encoded, for: MigrationRecord.key, in: &transaction)
  }

  private func begin(
    after version: UInt32,
    _ schema: ModelSchema,
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    let model = try Stored(schema.name, metadata, in: transaction)
    let changed = changedFields(of: model, schema)
    var outdated = try metadata.outdatedLayouts(of: model.name, in: transaction)
    let layouts = outdated.begin(
      version: version,
      changed: changed,
      names: model.names,
      layouts: model.layouts,
      own: RecordLayout(schema, storage: model.layouts.storage)
    )
    guard outdated.isPending else { return }
    for (position, layout) in layouts.enumerated() where layout != model.layouts[position] {
      let key = MetadataKey.layout(model.name, position + 1)
      try metadata.set(layout.encoded, for: key, in: &transaction)
    }
    // The values of the changed fields are not in the store yet.
    for build in try metadata.indexBuilds(of: model.name, in: transaction)
    where outdated.delays(build.index) {
      try build.cancel(metadata, in: &transaction)
    }
    for index in try metadata.indexes(of: model.name, in: transaction)
    where outdated.delays(index) {
      try IndexBuild(model: model.name, index: index).cancel(metadata, in: &transaction)
      let key = Array(MetadataKey.index(model.name, index.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
    }
    let key = MetadataKey.outdatedLayouts(model.name)
    try metadata.set(outdated.encoded, for: key, in: &transaction)
  }
}
