internal import LMDB
public import ObjectStoreCore

extension Store {
  /// Copies every readable object of a damaged store into a new store.
  ///
  /// The damaged store is only read; close it in every process first. Every page is validated
  /// before it is used. If a branch page is damaged, the file is searched for the pages that it
  /// led to, and a record found there is saved if only one model can decode it. Objects keep their
  /// ids, and the numbers of commits continue. Primary keys and indexes are rebuilt from the records.
  /// The history of the new store is empty. The report lists what could not be saved.
  ///
  /// Afterwards, ``verify(at:immutable:limit:progress:)`` should report no problem in the new store
  /// except references to lost objects.
  ///
  /// - Parameters:
  ///   - path: The folder of the damaged store.
  ///   - target: The folder of the new store. It must not exist.
  ///   - models: The models of the program. If the store's own description of one is lost, its objects
  ///     are read as the program stores them.
  ///   - schemaVersion: The schema version of the program, which the new store gets if the store's
  ///     own is lost: no step of a migration is then applied. Without it, programs can only read such
  ///     a store.
  /// - Returns: A report of the objects that were saved and lost.
  /// - Throws: ``StoreError`` with `alreadyExists`, `notFound`, `tooNew`, `diskFull`, `other`, or
  ///   `damaged` if nothing can be saved because no commit or no model description is readable.
  ///   `CancellationError` if the task is cancelled. The new store is then not created.
  /// - Complexity: O(n log n) in the objects and index entries. Uses memory for the hot parts of
  ///   one model, the ids of its objects, and the entries found behind damaged pages.
  public static func repair(
    at path: String,
    into target: String,
    models: [any Model.Type] = [],
    schemaVersion: UInt32? = nil
  ) throws -> RepairReport {
    try translating("repairing \(path)") {
      let salvage = try StoreSalvage(path: path, models, schemaVersion)
      return try NewFolder.make(target) { folder in try salvage.run(into: folder) }
    }
  }
}

/// Copies the readable contents of a damaged file into an empty environment.
struct StoreSalvage {
  private let file: SalvagedFile
  private let description: SalvagedDescription
  /// The schema version of the new store.
  private let schemaVersion: UInt32
  private let notes: [String]

  /// Reads the description of the damaged store in a folder.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - models: The models of the program.
  ///   - version: The schema version of the program.
  /// - Throws: ``StoreError`` with `tooNew` or `damaged`; an error of LMDB.
  init(path: String, _ models: [any Model.Type], _ version: UInt32?) throws {
    file = try SalvagedFile(path: path)
    description = try SalvagedDescription(
      file.description,
      knowing: models.map { $0.schema }
    ) { [file] in
      file.hasEntries(of: $0)
    }
    // With an earlier version, a program would apply its steps to migrated objects again.
    schemaVersion = description.schemaVersion ?? version ?? .max
    var notes = file.notes + description.notes
    if description.schemaVersion == nil {
      notes.append(
        version.map { "the schema version is lost; the copy has that of this program, \($0)" }
          ?? """
          the schema version is lost, so programs can only read the copy; a repair by the store's \
          program gives it that of the program
          """
      )
    }
    self.notes = notes
  }

  /// Creates a store with the readable contents in an empty folder; synced on return.
  func run(into folder: String) throws -> RepairReport {
    let target = try Environment.open(folder, continuingAfter: file.lastCommit)
    let report = try run(in: target)
    try target.sync()
    return report
  }

  private func run(in target: Environment) throws -> RepairReport {
    var report = RepairReport()
    report.damagedPages = file.damagedPages.map { "page \($0.page): \($0.reason)" }
    report.damageCount = file.damageCount
    report.notes = notes
    let (metadata, tables) = try makeTables(in: target)
    var lost = LostRecords(file, description)
    for (model, tables) in zip(description.models, tables) {
      try Task.checkCancellation()
      var salvage = ModelSalvage(file: file, model: model, tables: tables, metadata: metadata)
      report.models[model.name] = try salvage.run(in: target, &lost, &report)
    }
    if lost.unclaimedCount > 0 {
      report.notes.append(
        "\(lost.unclaimedCount) entries behind damaged pages could not be assigned to one model"
      )
    }
    return report
  }

  private func makeTables(
    in target: Environment
  ) throws -> (metadata: Metadata, tables: [ModelTables]) {
    var transaction = try target.beginWrite()
    let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
    // Keep the seed, because an application may have derived values from it.
    let seed = description.seed ?? .random(in: .min ... .max)
    try metadata.set(MetadataKey.currentFormat, for: MetadataKey.format, in: &transaction)
    try metadata.set(seed, for: MetadataKey.seed, in: &transaction)
    try metadata.set(1 as UInt64, for: MetadataKey.epoch, in: &transaction)
    try metadata.set(schemaVersion, for: MetadataKey.schemaVersion, in: &transaction)
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
    let names = model.tableNames
    for (index, layout) in model.layouts.enumerated() {
      let key = MetadataKey.layout(name, index + 1)
      try metadata.set(layout.encoded, for: key, in: &transaction)
    }
    if model.floor > 0 {
      try metadata.set(model.floor, for: MetadataKey.floor(name), in: &transaction)
    }
    try metadata.set(model.defaults, of: name, in: &transaction)
    var indexes: [(IndexDescription, Database)] = []
    for index in model.indexes {
      let key = MetadataKey.index(name, index.id)
      try metadata.set(index.encoded, for: key, in: &transaction)
      indexes.append((index, try transaction.createDatabase(names.index(index.id))))
    }
    var columns: [(ColumnDescription, Database)] = []
    for column in model.columns {
      columns.append(try metadata.addColumn(column, of: name, in: &transaction))
    }
    return ModelTables(
      name,
      own: RecordLayout(fields: model.fields, storage: model.storage),
      records: try transaction.createDatabase(names.records, keys: .integers),
      hot: try transaction.createDatabase(names.hot, keys: .integers),
      keys: try transaction.createDatabase(names.keys, keys: .integers),
      indexes: indexes,
      columns: columns,
      layouts: model.layouts,
      defaults: model.defaults,
      hashSeed: seed
    )
  }
}

/// The result of a repair: the objects that were saved, and those that were not.
///
/// ```swift
/// let report: RepairReport = try Store.repair(at: "/var/lib/notes", into: "/var/lib/rescued")
/// for (name, model) in report.models {
///   print("\(name): \(model.saved) saved, \(model.lostCount ?? model.lost.count) lost")
/// }
/// for skipped in report.skippedObjects { print(skipped.object.model, skipped.reason) }
/// if !report.isComplete { print(report.damagedPages + report.notes) }
/// ```
public struct RepairReport: Sendable, Hashable {
  /// The result for the objects of one model.
  public struct ModelReport: Sendable, Hashable {
    /// The number of objects copied to the new store.
    public var saved = 0
    /// The ids of saved objects that lost their hot fields.
    ///
    /// Optional hot fields are now nil; the others are zero or empty.
    public var withoutHotFields: [UInt64] = []
    /// The ids that occur in the file but have no readable record.
    ///
    /// A damaged id may be among them, so there may be more of them than lost objects.
    public var lost: [UInt64] = []
    /// The number of objects that have no readable record; `nil` if it is not known.
    ///
    /// It is the number of records at the last commit without those that were read.
    public var lostCount: Int? = 0

    /// Creates an empty report.
    package init() {}
  }

  /// A readable object that was not copied to the new store.
  public struct SkippedObject: Sendable, Hashable {
    /// The object.
    public var object: StoredObject
    /// The reason: another object has its primary key, or its values in a unique index.
    public var reason: String
  }

  /// The result for each model, by model name.
  public internal(set) var models: [String: ModelReport] = [:]
  /// Objects left out because they conflict with a saved object.
  ///
  /// Records are read in the order of their ids, followed by those behind damaged pages. Of two
  /// that conflict, the first one read is saved.
  public internal(set) var skippedObjects: [SkippedObject] = []
  /// Descriptions of the first damaged pages of the file.
  public internal(set) var damagedPages: [String] = []
  /// The total number of damages found in the file's pages.
  public internal(set) var damageCount = 0
  /// Descriptions of what could not be searched or recovered.
  public internal(set) var notes: [String] = []

  /// Whether everything was saved, as far as the repair can tell.
  public var isComplete: Bool {
    damageCount == 0 && skippedObjects.isEmpty && notes.isEmpty
      && models.values.allSatisfy { $0.lost.isEmpty && $0.withoutHotFields.isEmpty }
  }
}
