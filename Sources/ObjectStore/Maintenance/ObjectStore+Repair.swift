internal import LMDB

extension ObjectStore {
  /// Saves every object of a damaged store that can be read into a new one.
  ///
  /// The old store is only read; nobody should have it open. Objects keep their ids; primary keys and
  /// indexes are built anew from the records. Pages are read without trusting them. When pages that
  /// lead to others are damaged, what lay behind them is searched for; records found there are taken
  /// when it is certain of which model they are. What cannot be saved is in the report. The history
  /// of the new store is empty.
  ///
  /// Afterwards ``verify(at:limit:progress:)`` should find nothing wrong with the new store, but for
  /// references to objects that are lost.
  ///
  /// - Parameters:
  ///   - path: The folder of the damaged store.
  ///   - target: The folder of the new one, which must not be there.
  /// - Returns: What could be saved and what not.
  /// - Throws: ``StoreError`` with `alreadyExists`, `notFound`, `tooNew`, `diskFull`, `other`, or
  ///   `damaged` when nothing can be saved: the file names no commit, or nothing says what the
  ///   records mean. `CancellationError` when the task is cancelled. Then there is no new store.
  /// - Complexity: O(n log n) in the objects and index entries; memory for the hot parts of a model,
  ///   for the ids of its objects, and for what lies behind damaged pages.
  public static func repair(at path: String, into target: String) throws -> RepairReport {
    try translating("repairing \(path)") {
      let file = try SalvagedFile(path: path)
      let description = try SalvagedDescription(file.description)
      return try NewFolder.make(target) { folder in
        let environment = try Environment.open(folder)
        let salvage = StoreSalvage(file: file, description: description, target: environment)
        let report = try salvage.run()
        try environment.sync()
        return report
      }
    }
  }
}

/// Copies what can be read of a damaged file into an environment that is empty.
struct StoreSalvage {
  let file: SalvagedFile
  let description: SalvagedDescription
  let target: Environment

  func run() throws -> RepairReport {
    var report = RepairReport()
    report.damages = file.damages.map { "page \($0.page): \($0.reason)" }
    report.damageCount = file.damageCount
    report.notes = file.notes + description.notes
    let (metadata, tables) = try makeTables()
    var lost = LostRecords(file, description)
    for (model, tables) in zip(description.models, tables) {
      try Task.checkCancellation()
      var salvage = ModelSalvage(file: file, model: model, tables: tables, metadata: metadata)
      report.models[model.name] = try salvage.run(in: target, &lost, &report)
    }
    if lost.unclaimedCount > 0 {
      report.notes.append(
        "\(lost.unclaimedCount) entries behind damaged pages are of no model for certain"
      )
    }
    return report
  }

  private func makeTables() throws -> (metadata: Metadata, tables: [ModelTables]) {
    var transaction = try target.beginWrite()
    let metadata = Metadata(database: try transaction.makeDatabase(TableName.store))
    // What an application has derived from the seed stays valid.
    let seed = description.seed ?? .random(in: .min ... .max)
    try metadata.set(MetadataKey.currentFormat, for: MetadataKey.format, in: &transaction)
    try metadata.set(seed, for: MetadataKey.seed, in: &transaction)
    try metadata.set(1 as UInt64, for: MetadataKey.epoch, in: &transaction)
    try metadata.set(description.schemaVersion, for: MetadataKey.schemaVersion, in: &transaction)
    for (key, value) in description.others.sorted(by: { $0.key < $1.key }) {
      try metadata.set(value, for: key, in: &transaction)
    }
    try HistoryTable.make(in: &transaction)
    var tables: [ModelTables] = []
    for model in description.models {
      tables.append(try makeTables(model, metadata, seed: seed, in: &transaction))
    }
    try transaction.commit(.deferred)
    return (metadata, tables)
  }

  private func makeTables(
    _ model: SalvagedDescription.Model,
    _ metadata: Metadata,
    seed: UInt64,
    in transaction: inout WriteTransaction
  ) throws -> ModelTables {
    let name = model.name
    for (index, layout) in model.layouts.enumerated() {
      let key = MetadataKey.layout(name, index + 1)
      try metadata.set(layout.encoded, for: key, in: &transaction)
    }
    if model.floor > 0 {
      try metadata.set(model.floor, for: MetadataKey.floor(name), in: &transaction)
    }
    var indexes: [(IndexDescription, Database)] = []
    for index in model.indexes {
      let key = MetadataKey.index(name, index.id)
      try metadata.set(index.encoded, for: key, in: &transaction)
      indexes.append((index, try transaction.makeDatabase(TableName.index(name, index.id))))
    }
    return ModelTables(
      name,
      own: RecordLayout(fields: model.fields),
      records: try transaction.makeDatabase(TableName.records(name), keys: .integers),
      hot: try transaction.makeDatabase(TableName.hot(name), keys: .integers),
      keys: try transaction.makeDatabase(TableName.keys(name), keys: .integers),
      indexes: indexes,
      layouts: model.layouts,
      hashSeed: seed
    )
  }
}
