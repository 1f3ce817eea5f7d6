internal import LMDB
internal import ObjectStoreCore

/// Writes the objects of a file to a store.
///
/// Objects are collected into batches. Each batch is written in one transaction.
struct ObjectImport {
  let environment: Environment
  let options: ImportOptions
  /// What the numbers of objects count.
  private let unit: JSONLinesError.Unit
  private var writer: StoredObjectWriter
  private var batch: [DanglingReferences.Written] = []
  /// The batch is written when it has this many objects and no unresolved reference.
  private var batchSize: Int
  private var unresolved = UnresolvedReferences()
  private var cachedReferences: CachedReferences?
  /// The number of the last object that is committed, or 0.
  private(set) var storedLines = 0
  private var dangling = DanglingReferences()
  /// The numbers of the added objects by the hash of their keys, if known objects are skipped: a key
  /// that the file has twice is not one that the store had.
  private var addedLines: [Int: Int] = [:]
  /// The number of objects that ``addedLines`` remembers, in at most about 32 MB.
  private static let mostAddedLines = 1_000_000
  var report = ImportReport()

  init(
    environment: Environment,
    options: ImportOptions,
    unit: JSONLinesError.Unit = .line,
    uniqueFields: [String: Set<UInt32>] = [:],
    schemaVersion: UInt32,
    historyLimit: HistoryLimit,
    didCommit: @escaping (UInt64, [HistoryEntry.ModelEntry]) -> Void
  ) {
    self.environment = environment
    self.options = options
    self.unit = unit
    batchSize = options.linesPerTransaction
    let conflict: StoredObjectWriter.Conflict =
      switch options.conflict {
      case .replace: .replace
      case .fail: .fail
      case .skip: .skip
      }
    writer = StoredObjectWriter(
      environment: environment,
      conflict: conflict,
      uniqueFields: uniqueFields,
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      didCommit: didCommit
    )
  }

  /// Writes objects without the fields that they omit, as long as a model has few layouts.
  ///
  /// An export omits the fields that a record lacks.
  mutating func restoreLayouts() {
    writer.maximumExactLayouts = 64
  }

  /// Adds the next object of the file.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - key: Its model and primary key.
  ///   - line: Its number in the file, greater than that of the previous object.
  /// - Throws: ``StoreError`` if a full batch cannot be written.
  mutating func add(
    _ object: StoredObject,
    key: UnresolvedReferences.Key,
    line: Int
  ) throws {
    batch.append(DanglingReferences.Written(object: object, key: key, line: line))
    if options.danglingReferences == .refuse { try resolveReferences(of: object, key) }
    if batch.count >= batchSize, unresolved.isEmpty { try flush(isLast: false) }
  }

  /// Adds the object and its references to ``unresolved``.
  private mutating func resolveReferences(
    of object: StoredObject,
    _ key: UnresolvedReferences.Key
  ) throws {
    while true {
      let current = try cachedReferences ?? CachedReferences(environment)
      cachedReferences = current
      // A read transaction can only use tables that were opened before it began.
      let transaction = try environment.beginRead()
      guard try current.isCurrent(in: transaction) else {
        cachedReferences = nil
        continue
      }
      guard !current.references.fields.isEmpty else { return }
      let targets = DanglingReferences.targets(of: object, current.references)
      return try unresolved.add(key, references: targets.map(\.key)) { position in
        let (target, field) = targets[position]
        return try DanglingReferences.exists(target.bytes, field, in: transaction)
      }
    }
  }

  /// Writes the last batch and returns the report.
  mutating func finish() throws -> ImportReport {
    try flush(isLast: true)
    if options.danglingReferences == .report {
      try Store.readStored(environment) { transaction, schema in
        let followed = try EnforcedReferences(schema, in: transaction)
        let found = try dangling.remaining(followed, in: transaction)
        report.danglingReferences = found.list
        report.danglingReferenceCount = found.count
      }
    }
    return report
  }

  /// Aborts a write because a reference has no target, which a later line may add.
  private struct UnresolvedReference: Error {}

  /// Writes the batch in one transaction.
  ///
  /// If a reference has no target and this is not the last batch, aborts the transaction and
  /// enlarges the batch.
  private mutating func flush(isLast: Bool) throws {
    guard !batch.isEmpty else { return }
    try Task.checkCancellation()
    var failed: Int?
    do {
      let before = dangling
      var updated = before
      let outcomes = try writer.write(
        batch.map(\.object),
        failed: { failed = $0 },
        check: { [options, unit, storedLines, batch] written, transaction in
          // The writer may call this more than once.
          updated = before
          let objects = zip(batch, written.outcomes).filter { $1 != .skipped }.map(\.0)
          let followed = try EnforcedReferences(written.schema, in: transaction)
          try updated.add(objects, followed, in: transaction)
          guard options.danglingReferences == .refuse else { return }
          let found = try updated.remaining(followed, in: transaction)
          updated = before
          guard let first = found.list.first else { return }
          guard isLast else { throw UnresolvedReference() }
          throw Self.failure(first, count: found.count, unit: unit, storedLines: storedLines)
        }
      )
      dangling = updated
      count(outcomes)
    } catch is UnresolvedReference {
      // Another writer deleted the target after it was found. A later line may add it again.
      batchSize = batch.count + options.linesPerTransaction
      return
    } catch let error as StoreError {
      guard let failed else { throw error }
      let cause = JSONLinesError(
        line: batch[failed].line,
        unit: unit,
        reason: error.message,
        storedLines: storedLines
      )
      throw StoreError(error.code, "cannot import \(cause)", cause: cause)
    }
    batchSize = options.linesPerTransaction
    storedLines = batch.last?.line ?? storedLines
    unresolved.removeAll()
    batch.removeAll(keepingCapacity: true)
  }

  /// Counts the objects of the batch.
  private mutating func count(_ outcomes: [StoredObjectWriter.Outcome]) {
    for (written, outcome) in zip(batch, outcomes) {
      switch outcome {
      case .inserted:
        report.inserted += 1
        guard options.conflict == .skip, addedLines.count < Self.mostAddedLines else { continue }
        addedLines[written.key.hashValue] = written.line
      case .updated: report.updated += 1
      case .unchanged: report.unchanged += 1
      case .skipped:
        report.skipped += 1
        guard let keptLine = addedLines[written.key.hashValue] else { continue }
        let first = ImportReport.RepeatedKeys(unit: unit, line: written.line, keptLine: keptLine)
        report.repeatedKeys = report.repeatedKeys ?? first
        report.repeatedKeys?.count += 1
      }
    }
  }

  private static func failure(
    _ first: ImportReport.DanglingReference,
    count: Int,
    unit: JSONLinesError.Unit,
    storedLines: Int
  ) -> StoreError {
    let reason =
      "\(first.model).\(first.field) refers to \(first.target) \(first.key), which does not exist"
    let error = JSONLinesError(
      line: first.line,
      unit: unit,
      reason: reason,
      storedLines: storedLines
    )
    return StoreError(
      .danglingReference,
      """
      \(error); dangling references in \(count) \(count == 1 ? "field" : "fields"): import the \
      missing objects first, or add them to the file
      """,
      cause: error
    )
  }
}
