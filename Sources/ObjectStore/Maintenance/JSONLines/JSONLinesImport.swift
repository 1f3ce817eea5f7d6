internal import LMDB

/// One import that is under way.
struct JSONLinesImport {
  let environment: Environment
  let options: ImportOptions
  let schemaVersion: UInt32
  private let writer: StoredObjectWriter
  var schema: JSONLinesSchema?
  /// For each model, the fields of the file that the store has, or gets: all are imported when the
  /// model is not here.
  var knownFields: [String: Set<UInt32>] = [:]
  var modelsLeftOut: Set<String> = []
  private var batch: [ImportedReferences.Written] = []
  /// So many lines are written together, once they refer to nothing that is to come.
  private var wantedLines: Int
  private var awaited = AwaitedObjects()
  private var known: KnownReferences?
  private var storedLines = 0
  private var references = ImportedReferences()
  var report = ImportReport()

  init(
    environment: Environment,
    options: ImportOptions,
    schemaVersion: UInt32,
    historyLimit: HistoryLimit,
    didCommit: @escaping (UInt64, [HistoryEntry.ModelEntry]) -> Void
  ) {
    self.environment = environment
    self.options = options
    self.schemaVersion = schemaVersion
    wantedLines = options.linesPerTransaction
    let conflict: StoredObjectWriter.Conflict =
      switch options.conflict {
      case .replace: .replace
      case .fail: .fail
      case .skip: .skip
      }
    writer = StoredObjectWriter(
      environment: environment,
      conflict: conflict,
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      didCommit: didCommit
    )
  }

  /// Takes the next line.
  mutating func take(_ line: [UInt8]) throws {
    report.lines += 1
    // A blank one, such as some editors leave at the end.
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return }
    let json: JSONText
    do {
      json = try JSONParser.parse(line)
    } catch {
      throw failure("it is no JSON: \(error)", cause: error)
    }
    if schema == nil {
      if JSONLinesSchema.isHeader(json) {
        return try adopt(try header(json))
      }
      schema = JSONLinesSchema(try StoredSchema(environment), [])
    }
    guard let object = try object(json) else { return }
    let key = try key(of: object)
    batch.append(ImportedReferences.Written(object: object, key: key, line: report.lines))
    if options.danglingReferences == .refuse { try noteReferences(of: object, key) }
    if batch.count >= wantedLines, awaited.isEmpty { try flush(isLast: false) }
  }

  /// Notes what the object brings for others, and what it needs of them.
  private mutating func noteReferences(
    of object: StoredObject,
    _ key: AwaitedObjects.Key
  ) throws {
    while true {
      let current = try known ?? KnownReferences(environment)
      known = current
      // After the tables were opened, or it could not use them.
      let transaction = try environment.beginRead()
      guard try current.isCurrent(in: transaction) else {
        known = nil
        continue
      }
      guard !current.references.fields.isEmpty else { return }
      let targets = ImportedReferences.targets(of: object, current.references)
      return try awaited.add(key, references: targets.map(\.key)) { place in
        let (target, field) = targets[place]
        return try ImportedReferences.isThere(target.bytes, field, in: transaction)
      }
    }
  }

  private func key(of object: StoredObject) throws -> AwaitedObjects.Key {
    let field = schema?.model(object.model)?.fields.first(where: \.field.isPrimaryKey)?.field
    let value = object.fields.first { $0.id == field?.id }?.value
    guard let field, let bytes = try? value?.bytes(as: field.type) else {
      throw failure("the primary key is missing")
    }
    return AwaitedObjects.Key(model: object.model, bytes: bytes)
  }

  /// Writes what is left, and says what was done.
  mutating func finish() throws -> ImportReport {
    try flush(isLast: true)
    if options.danglingReferences == .report {
      try ObjectStore.readStored(environment) { transaction, schema in
        let followed = try FollowedReferences(schema, in: transaction)
        let dangling = try references.dangling(followed, in: transaction)
        report.danglingReferences = dangling.list
        report.danglingReferenceCount = dangling.count
      }
    }
    return report
  }

  /// Something refers to what a later line may bring.
  private struct Unresolved: Error {}

  /// Writes the lines of one transaction, unless they have to wait for what they refer to.
  private mutating func flush(isLast: Bool) throws {
    guard !batch.isEmpty else { return }
    try Task.checkCancellation()
    var failed: Int?
    do {
      let before = references
      var noted = before
      let outcomes = try writer.write(
        batch.map(\.object),
        failed: { failed = $0 },
        check: { [options, storedLines, batch] written, transaction in
          // The writer may try more than once.
          noted = before
          let objects = zip(batch, written.outcomes).filter { $1 != .skipped }.map(\.0)
          let followed = try FollowedReferences(written.schema, in: transaction)
          try noted.note(objects, followed, in: transaction)
          guard options.danglingReferences == .refuse else { return }
          let dangling = try noted.dangling(followed, in: transaction)
          noted = before
          guard let first = dangling.list.first else { return }
          guard isLast else { throw Unresolved() }
          throw Self.failure(first, count: dangling.count, storedLines: storedLines)
        }
      )
      references = noted
      count(outcomes)
    } catch is Unresolved {
      // Somebody has deleted it meanwhile; a later line may bring it anew.
      wantedLines = batch.count + options.linesPerTransaction
      return
    } catch let error as StoreError {
      guard let failed else { throw error }
      let line = batch[failed].line
      throw StoreError(
        error.code,
        "line \(line): \(error.message)",
        cause: JSONLinesError(line: line, reason: error.message, storedLines: storedLines)
      )
    }
    wantedLines = options.linesPerTransaction
    storedLines = batch.last?.line ?? storedLines
    awaited.removeAll()
    batch.removeAll(keepingCapacity: true)
  }

  private mutating func count(_ outcomes: [StoredObjectWriter.Outcome]) {
    for outcome in outcomes {
      switch outcome {
      case .inserted: report.inserted += 1
      case .updated: report.updated += 1
      case .unchanged: report.unchanged += 1
      case .skipped: report.skipped += 1
      }
    }
  }

  private static func failure(
    _ first: ImportReport.DanglingReference,
    count: Int,
    storedLines: Int
  ) -> StoreError {
    let reason =
      "\(first.model) refers in \(first.field) to \(first.target) \(first.key), which is not there"
    let error = JSONLinesError(line: first.line, reason: reason, storedLines: storedLines)
    return StoreError(
      .danglingReference,
      "\(error); \(count) fields dangle so: add what they name, or ask for a report of them",
      cause: error
    )
  }

  func failure(_ reason: String, cause: (any Error)? = nil) -> StoreError {
    StoreError(
      .invalidInput,
      "line \(report.lines) cannot be imported",
      cause: JSONLinesError(line: report.lines, reason: reason, storedLines: storedLines)
    )
  }
}
