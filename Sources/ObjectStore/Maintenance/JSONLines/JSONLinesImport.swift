internal import LMDB

/// An import in progress.
///
/// Lines are collected into batches. Each batch is written in one transaction.
struct JSONLinesImport {
  let environment: Environment
  let options: ImportOptions
  let schemaVersion: UInt32
  /// Whether the lines are only checked, and nothing is written.
  private let isCheck: Bool
  private let writer: StoredObjectWriter
  var schema: JSONLinesSchema?
  /// The fields to import, for each model that has fields to skip.
  ///
  /// All fields of a model that is not listed are imported.
  var knownFields: [String: Set<UInt32>] = [:]
  var modelsLeftOut: Set<String> = []
  private var batch: [DanglingReferences.Written] = []
  /// The batch is written when it has this many lines and no unresolved reference.
  private var batchSize: Int
  private var unresolved = UnresolvedReferences()
  private var cachedReferences: CachedReferences?
  private var storedLines = 0
  private var dangling = DanglingReferences()
  var report = ImportReport()

  init(
    environment: Environment,
    options: ImportOptions,
    schemaVersion: UInt32,
    historyLimit: HistoryLimit,
    isCheck: Bool = false,
    didCommit: @escaping (UInt64, [HistoryEntry.ModelEntry]) -> Void
  ) {
    self.isCheck = isCheck
    self.environment = environment
    self.options = options
    self.schemaVersion = schemaVersion
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
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      didCommit: didCommit
    )
  }

  /// Adds the next line of the file.
  mutating func add(_ line: [UInt8]) throws {
    report.lines += 1
    // Skip blank lines, which some editors leave at the end.
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return }
    let json: JSONValue
    do {
      json = try JSONParser.parse(line)
    } catch {
      throw failure("invalid JSON: \(error)", cause: error)
    }
    if schema == nil {
      if JSONLinesSchema.isHeader(json) {
        return try adopt(try header(json))
      }
      schema = JSONLinesSchema(try StoredSchema(environment), [])
    }
    guard let object = try object(json) else { return }
    let key = try key(of: object)
    guard !isCheck else { return }
    batch.append(DanglingReferences.Written(object: object, key: key, line: report.lines))
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

  private func key(of object: StoredObject) throws -> UnresolvedReferences.Key {
    let field = schema?.model(object.model)?.fields.first(where: \.field.isPrimaryKey)?.field
    let value = object.fields.first { $0.id == field?.id }?.value
    guard let field, let bytes = try? value?.bytes(as: field.type) else {
      throw failure("the primary key is missing")
    }
    return UnresolvedReferences.Key(model: object.model, bytes: bytes)
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
        check: { [options, storedLines, batch] written, transaction in
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
          throw Self.failure(first, count: found.count, storedLines: storedLines)
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
      let line = batch[failed].line
      throw StoreError(
        error.code,
        "line \(line): \(error.message)",
        cause: JSONLinesError(line: line, reason: error.message, storedLines: storedLines)
      )
    }
    batchSize = options.linesPerTransaction
    storedLines = batch.last?.line ?? storedLines
    unresolved.removeAll()
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
      "\(first.model).\(first.field) refers to \(first.target) \(first.key), which does not exist"
    let error = JSONLinesError(line: first.line, reason: reason, storedLines: storedLines)
    return StoreError(
      .danglingReference,
      """
      \(error); \(count) fields have dangling references: add the missing objects, or import with \
      danglingReferences: .report
      """,
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

extension JSONLinesImport {
  /// Decodes the first line.
  func header(_ json: JSONValue) throws -> JSONLinesSchema {
    do {
      return try JSONLinesSchema(json: json)
    } catch let error as JSONLinesError {
      throw failure(error.reason)
    }
  }

  /// Compares the file's schema with the store's, and applies ``ImportOptions/unknown`` to the
  /// differences.
  mutating func adopt(_ schema: JSONLinesSchema) throws {
    let (stored, rules) = try Store.readStored(environment) { transaction, schema in
      try schema.requireConverted("an import")
      return (schema, try schema.metadata.references(in: transaction))
    }
    var additions: [StoredSchemaWriter.Addition] = []
    for model in schema.models {
      guard let entry = stored.model(model.name) else {
        report.unknownModels.append(model.name)
        let layout = RecordLayout(
          fields: model.layoutFields(model.fields.map(\.field)),
          storage: model.storage
        )
        additions.append(
          StoredSchemaWriter.Addition(
            model: model.name,
            layouts: [layout],
            indexes: model.indexes,
            columns: model.columns,
            references: model.references
          )
        )
        continue
      }
      try requireSameTypes(model, entry)
      let unknown = model.fields.filter { entry.names[$0.field.id] == nil }
      report.unknownFields += unknown.map { "\(model.name).\($0.key)" }
      knownFields[model.name] = Set(entry.fields.map(\.id))
      var addition = StoredSchemaWriter.Addition(model: model.name)
      if !unknown.isEmpty {
        let own = entry.fields.map { RecordLayout.Field($0) }
        addition.layouts = [
          RecordLayout(fields: model.layoutFields(own + unknown.map(\.field)))
        ]
      }
      let indexes = entry.tables.indexes.map(\.description)
      addition.indexes = model.indexes.filter { !$0.isCovered(by: indexes) }
      let columns = entry.tables.columns.map(\.description)
      addition.columns = model.columns.filter { !columns.contains($0) }
      addition.references = model.references.filter { rule in
        !rules.contains { $0.isOfField(of: rule) }
      }
      if !addition.isEmpty { additions.append(addition) }
    }
    self.schema = schema
    switch options.unknown {
    case .add:
      knownFields = [:]
      if !additions.isEmpty, !isCheck { try addToSchema(additions) }
    case .refuse:
      guard report.unknownModels.isEmpty, report.unknownFields.isEmpty else {
        let all = (report.unknownModels + report.unknownFields).joined(separator: ", ")
        throw StoreError(.schemaMismatch, "the file describes what the store lacks: \(all)")
      }
    case .ignore:
      modelsLeftOut = Set(report.unknownModels)
    }
  }

  private func addToSchema(_ additions: [StoredSchemaWriter.Addition]) throws {
    try StoredSchemaWriter(environment: environment, schemaVersion: schemaVersion).add(additions)
  }

  private func requireSameTypes(
    _ model: JSONLinesSchema.Model,
    _ entry: StoredSchema.Entry
  ) throws {
    var isSamePrimaryKey =
      model.fields.first(where: \.field.isPrimaryKey)?.field.id
      == entry.fields.first(where: \.isPrimaryKey)?.id
    for (key, field) in model.fields {
      guard let own = entry.fields.first(where: { $0.id == field.id }) else { continue }
      guard own.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          "\(model.name).\(key) has type \(field.type) in the file and \(own.type) in the store"
        )
      }
      if own.isPrimaryKey != field.isPrimaryKey { isSamePrimaryKey = false }
    }
    guard isSamePrimaryKey else {
      throw StoreError(
        .schemaMismatch,
        "the primary key of \(model.name) is another field in the file than in the store"
      )
    }
  }
}

extension JSONLinesSchema.Model {
  /// Returns the fields with unique names, as a layout requires: of two fields with the same name,
  /// the later one is named by its id.
  func layoutFields(_ fields: [RecordLayout.Field]) -> [RecordLayout.Field] {
    var taken: Set<String> = []
    return fields.map { field in
      var field = field
      if !taken.insert(field.name).inserted {
        field.name = String("\(field.id)")
        taken.insert(field.name)
      }
      return field
    }
  }
}

extension JSONLinesImport {
  /// Decodes the object of a line, or returns `nil` if its model is skipped.
  mutating func object(_ json: JSONValue) throws -> StoredObject? {
    guard case .string(let name) = json["model"], case .object(let members) = json["fields"] else {
      throw failure("'model' or 'fields' is missing")
    }
    guard !modelsLeftOut.contains(name) else {
      report.ignoredObjects += 1
      return nil
    }
    guard let model = schema?.model(name) else { throw failure("unknown model \(name)") }
    var fields: [StoredObject.Field] = []
    for member in members {
      guard let field = model.field(member.name) else {
        throw failure("\(name) has no field \(member.name)")
      }
      if let known = knownFields[name], !known.contains(field.id) {
        report.ignoredValues += 1
        continue
      }
      guard let value = StoredValue(json: member.value, type: field.type) else {
        throw failure("the value of \(member.name) is not a valid \(field.type)")
      }
      fields.append(
        StoredObject.Field(id: field.id, name: member.name, type: field.type, value: value)
      )
    }
    guard let key = model.fields.first(where: \.field.isPrimaryKey)?.field,
      let own = fields.first(where: { $0.id == key.id }), !own.value.isNull
    else { throw failure("the primary key is missing") }
    var id: UInt64 = 0
    if case .number(let digits) = json["object"] { id = UInt64(digits) ?? 0 }
    return StoredObject(model: name, id: id, fields: fields)
  }
}
