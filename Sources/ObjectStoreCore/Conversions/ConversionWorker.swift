internal import LMDB

/// Stores the new form of outdated records, in transactions of a few milliseconds.
///
/// The position in the store advances with each of them, so the next program continues after a
/// kill. It stays before an object that a step cannot convert. Several programs may convert the same
/// model at a time. The history has no entry for a conversion, because no value changes for a reader.
struct ConversionWorker {
  /// The maximum number of records that a step examines.
  private static let readCount = 16_384

  /// The maximum number of records that a step converts.
  private let batchCount: Int
  private let environment: Environment
  private let models: [any Model.Type]
  private let options: StoreOptions
  private var pass: Pass?
  /// The models of which an object could not be converted, with the first error of each.
  private var failures: [(model: String, error: any Error)] = []

  /// One pass over the objects of a model.
  private struct Pass {
    let schema: StoreSchema
    let model: any Model.Type
    let tables: ModelTables
    /// The least id that is not examined.
    var next: UInt64
    var objectCount: UInt64
    /// The reason why the first object that cannot be converted cannot.
    var failure: (any Error)?
  }

  /// The result of a step.
  enum Step {
    /// No record is outdated.
    case nothing
    /// More steps follow.
    case progressed
    /// All records of a model are converted.
    case completed(model: String, objectCount: UInt64)
  }

  init(_ environment: Environment, _ models: [any Model.Type], _ options: StoreOptions) {
    self.environment = environment
    self.models = models
    self.options = options
    batchCount = min(512, options.upgrade?.batchCount ?? .max)
  }

  /// Performs one step.
  ///
  /// - Throws: ``StoreError`` with `migrationFailed` when all objects of all models are examined and
  ///   some cannot be converted, with the first of them; `tooNew` or `damaged`; an error of LMDB.
  mutating func step() throws -> Step {
    guard let current = try pass ?? begin() else {
      guard let failure = failures.first else { return .nothing }
      failures = []
      throw failure.error
    }
    var pass = current
    // After an error, the next step begins at the position in the store.
    self.pass = nil
    let step = try StoreOpening.growingMap {
      // A step that is repeated begins with the same state.
      pass = current
      return try convert(&pass)
    }
    // Without a step, another program has changed the schema.
    guard let step else { return .progressed }
    guard case .completed = step else {
      if pass.next < .max {
        self.pass = pass
      } else if let failure = pass.failure {
        failures.append((pass.tables.name, failure))
      }
      return step
    }
    // Now the indexes of the changed fields can be built.
    try StoreOpening.writeSchema(of: environment, models: models, options: options, nil)
    return step
  }

  private func begin() throws -> Pass? {
    let schema = try StoreOpening.readSchema(of: environment, models: models, options: options)
    let next = schema.outdatedModels.first { entry in
      !failures.contains { $0.model == entry.tables.name }
    }
    guard let (model, tables) = next else { return nil }
    return Pass(
      schema: schema,
      model: model,
      tables: tables,
      next: tables.outdated.next,
      objectCount: tables.outdated.objectCount
    )
  }

  /// Converts the next records in a transaction; returns `nil` if the schema has changed.
  private func convert(_ pass: inout Pass) throws -> Step? {
    var transaction = try environment.beginWrite()
    let metadata = pass.schema.metadata
    let epoch: UInt64? = try metadata.integer(MetadataKey.epoch, in: transaction)
    guard epoch == pass.schema.epoch, try metadata.conversions(in: transaction).isEmpty,
      let current = pass.tables.current
    else { return nil }
    let writer = ModelWriter(pass.tables, current: current, metadata: metadata)
    let (ids, isLast) = try outdatedRecords(&pass, in: transaction)
    for id in ids {
      do {
        try rewrite(id, as: pass.model, writer, in: &transaction)
      } catch let error as StoreError where error.code == .migrationFailed {
        if pass.failure == nil { pass.failure = error }
      }
    }
    try writer.flush(in: &transaction)
    try note(pass, isLast: isLast, in: &transaction)
    try transaction.commit(isLast ? .full : .ordered)
    options.upgrade?.didWrite?()
    guard isLast, pass.failure == nil else { return .progressed }
    return .completed(model: pass.tables.name, objectCount: pass.objectCount)
  }

  /// Returns the ids of the next outdated records, and whether none follow.
  private func outdatedRecords(
    _ pass: inout Pass,
    in transaction: borrowing WriteTransaction
  ) throws -> (ids: [UInt64], isLast: Bool) {
    let layouts = Set(pass.tables.outdated.versions.flatMap(\.layouts))
    let name = pass.tables.name
    var ids: [UInt64] = []
    var count = 0
    var next: UInt64?
    try transaction.forEachEntry(from: pass.next, in: pass.tables.records) { id, value in
      guard let id else {
        throw StoreError(.damaged, "a record of \(name) has a key that is not an id")
      }
      guard count < Self.readCount, ids.count < batchCount else {
        next = id
        return false
      }
      do throws(RecordError) {
        if layouts.contains(try RecordHeader(value).layoutNumber) { ids.append(id) }
      } catch {
        throw StoreError(error, model: name, objectID: id)
      }
      count += 1
      return true
    }
    // A count for display, and a damaged one must not end the process.
    pass.objectCount &+= UInt64(count)
    pass.next = next ?? .max
    return (ids, next == nil)
  }

  /// Stores an object again.
  private func rewrite<M: Model>(
    _ id: UInt64,
    as model: M.Type,
    _ writer: ModelWriter,
    in transaction: inout WriteTransaction
  ) throws {
    guard let found = try writer.find(id: id, in: transaction) else { return }
    let object = try found.decode(model)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    guard try writer.keepsKey(of: found) else {
      throw StoreError(
        .migrationFailed,
        "a step changes the primary key of object \(id) of \(writer.tables.name)"
      )
    }
    try writer.replace(found, in: &transaction)
  }

  /// Advances the position in the store, and ends the conversion with the last step.
  private func note(
    _ pass: Pass,
    isLast: Bool,
    in transaction: inout WriteTransaction
  ) throws {
    let metadata = pass.schema.metadata
    let name = pass.tables.name
    var outdated = try metadata.outdatedLayouts(of: name, in: transaction)
    if isLast, pass.failure == nil {
      outdated.complete()
      try metadata.advanceEpoch(in: &transaction)
    } else if pass.failure == nil, pass.next > outdated.next {
      outdated.next = pass.next
      outdated.objectCount = pass.objectCount
    }
    let key = MetadataKey.outdatedLayouts(name)
    try metadata.set(outdated.encoded, for: key, in: &transaction)
  }
}
