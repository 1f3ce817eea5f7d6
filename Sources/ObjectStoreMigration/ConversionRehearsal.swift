internal import LMDB
internal import ObjectStoreCore

/// Applies steps to the objects that are still to be converted when they are read, on a snapshot.
///
/// Stores nothing.
struct ConversionRehearsal {
  private let models: [any Model.Type]
  private let options: StoreOptions
  private let failureLimit: Int
  /// The summaries of the steps.
  private(set) var steps: [String] = []
  /// The number of objects to be converted.
  private(set) var objectCount = 0
  /// The first objects that cannot be converted.
  private(set) var failures: [MigrationFailure] = []
  private(set) var failureCount = 0

  init(_ models: [any Model.Type], _ options: StoreOptions, failureLimit: Int) {
    self.models = models
    self.options = options
    self.failureLimit = failureLimit
  }

  /// Converts all outdated records of the program's models.
  ///
  /// - Throws: ``StoreError`` with `schemaMismatch` if the program has no step for them, or
  ///   `damaged`; `CancellationError`.
  mutating func run(_ environment: Environment) throws {
    guard try StoredSchema(environment).models.contains(where: \.outdated.isPending) else { return }
    while true {
      // A transaction cannot use tables that were opened after it began.
      let schema = try StoreOpening.readSchema(of: environment, models: models, options: options)
      let transaction = try environment.beginRead()
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      guard epoch == schema.epoch else { continue }
      let tables = schema.outdatedModels.map(\.tables)
      if let version = tables.flatMap(\.outdated.versions).map(\.version).min() {
        let applied = options.migration?.steps(after: version, upTo: schema.version) ?? []
        steps = applied.map(\.summary)
      }
      for tables in tables { try convert(tables, in: transaction) }
      return
    }
  }

  private mutating func convert(
    _ tables: ModelTables,
    in transaction: borrowing ReadTransaction
  ) throws {
    var cancellation = CancellationCheck()
    let start = tables.outdated.next
    try tables.forEachRecord(in: transaction, as: .stored, from: start) { id, record in
      try cancellation.step()
      guard let conversion = record.conversion else { return true }
      objectCount += 1
      do {
        _ = try conversion.convert(record, id)
      } catch let error as RecordError {
        throw StoreError(error, model: tables.name, objectID: id)
      } catch let error as StoreError {
        guard let failure = error.cause as? MigrationFailure else { throw error }
        failureCount += 1
        if failures.count < failureLimit { failures.append(failure) }
      }
      return true
    }
  }
}

extension MigrationRehearsal {
  /// Adds the result of a rehearsal of conversions.
  mutating func add(_ conversions: ConversionRehearsal, duration: Duration) {
    steps = conversions.steps
    objectCount = conversions.objectCount
    failures = conversions.failures
    failureCount = conversions.failureCount
    peakMemory = AnonymousMemory.current
    self.duration = duration
  }
}
