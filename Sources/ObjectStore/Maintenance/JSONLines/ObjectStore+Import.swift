internal import LMDB

extension ObjectStore {
  /// Reads objects from a file that ``exportJSONLines(to:)`` or somebody else wrote.
  ///
  /// Objects get new object ids, in the order of the lines. Without a first line that describes the
  /// models, fields are those that the store has, by name. A field that a line does not have is left
  /// as it is in an object that is replaced, and otherwise has the default of the program that reads
  /// it.
  ///
  /// References may come before what they name; what happens with those that name nothing at the
  /// end, the options say. Each transaction is synced, and observers are told of it. An import that fails leaves those before; the error says how many
  /// lines they took, and importing all anew does no harm unless conflicts are to fail.
  ///
  /// - Throws: ``StoreError`` with `invalidInput` (the cause is a ``JSONLinesError`` with the number
  ///   of the line), `schemaMismatch` when the store has a field under another type or lacks one
  ///   that is not to be added, `duplicateKey`, `danglingReference`, `tooNew` (a later version has
  ///   migrated the store meanwhile), `permissionDenied`, `notFound`, `diskFull`; or
  ///   `CancellationError` when the task is cancelled.
  /// - Complexity: O(n log n) in the lines; memory for the lines of one transaction, and for the
  ///   references that name nothing yet.
  @discardableResult
  public func importJSONLines(
    from path: String,
    options: ImportOptions = ImportOptions()
  ) throws -> ImportReport {
    guard !isReadOnly else {
      throw StoreError(
        .permissionDenied,
        "writing \(self.path): the store is open for reading only"
      )
    }
    let lines = try LineReader(path)
    return try translating("importing \(path)") {
      var session = JSONLinesImport(
        environment: environment,
        options: options,
        schemaVersion: schemaVersion,
        historyLimit: historyLimit,
        didCommit: { [feed] in feed.publish($0, $1) }
      )
      while let line = try lines.next() { try session.take(line) }
      let report = try session.finish()
      log?.didImport(report)
      return report
    }
  }
}

/// One import that is under way.
struct JSONLinesImport {
  private let environment: Environment
  private let options: ImportOptions
  private let schemaVersion: UInt32
  private let writer: StoredObjectWriter
  private var schema: JSONLinesSchema?
  /// For each model, the fields of the file that the store has, or gets: all are imported when the
  /// model is not here.
  private var knownFields: [String: Set<UInt32>] = [:]
  private var modelsLeftOut: Set<String> = []
  private var batch: [StoredObject] = []
  private var batchLines: [Int] = []
  private var storedLines = 0
  private var references = ImportedReferences()
  private var report = ImportReport()

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
      schema = JSONLinesSchema(try StoredSchema(environment))
    }
    guard let object = try object(json) else { return }
    batch.append(object)
    batchLines.append(report.lines)
    if options.danglingReferences == .report, batch.count >= options.linesPerTransaction {
      try flush()
    }
  }

  /// Writes what is left, and says what was done.
  mutating func finish() throws -> ImportReport {
    try flush()
    if options.danglingReferences == .report {
      try ObjectStore.readStored(environment) { transaction, schema in
        let followed = try FollowedReferences(schema, in: transaction)
        try references.finish(followed, in: transaction, &report)
      }
    }
    return report
  }

  private mutating func flush() throws {
    guard !batch.isEmpty else { return }
    try Task.checkCancellation()
    var failed: Int?
    do {
      let numbered = Array(zip(batch, batchLines).map { (object: $0, line: $1) })
      let (before, refuses) = (references, options.danglingReferences == .refuse)
      var noted = before
      let outcomes = try writer.write(
        batch,
        failed: { failed = $0 },
        check: { written, transaction in
          // The writer may try more than once.
          noted = before
          let objects = zip(numbered, written.outcomes).filter { $1 != .skipped }.map(\.0)
          let followed = try FollowedReferences(written.schema, in: transaction)
          try noted.note(objects, followed, in: transaction)
          guard refuses else { return }
          try Self.refuse(noted, followed, in: transaction)
        }
      )
      references = noted
      for outcome in outcomes {
        switch outcome {
        case .inserted: report.inserted += 1
        case .updated: report.updated += 1
        case .unchanged: report.unchanged += 1
        case .skipped: report.skipped += 1
        }
      }
    } catch let error as StoreError {
      guard let failed else { throw error }
      let line = batchLines[failed]
      throw StoreError(
        error.code,
        "line \(line): \(error.message)",
        cause: JSONLinesError(line: line, reason: error.message, storedLines: storedLines)
      )
    }
    storedLines = batchLines.last ?? storedLines
    batch.removeAll(keepingCapacity: true)
    batchLines.removeAll(keepingCapacity: true)
  }

  /// - Throws: ``StoreError`` with `danglingReference`.
  private static func refuse(
    _ references: ImportedReferences,
    _ followed: FollowedReferences,
    in transaction: borrowing WriteTransaction
  ) throws {
    var report = ImportReport()
    try references.finish(followed, in: transaction, &report)
    guard let first = report.danglingReferences.first else { return }
    let reason =
      "\(first.model) refers in \(first.field) to \(first.target) \(first.key), which is not there"
    throw StoreError(
      .danglingReference,
      "line \(first.line): \(reason), one of \(report.danglingReferenceCount); nothing was imported",
      cause: JSONLinesError(line: first.line, reason: reason, storedLines: 0)
    )
  }

  private func failure(_ reason: String, cause: (any Error)? = nil) -> StoreError {
    StoreError(
      .invalidInput,
      "line \(report.lines) cannot be imported",
      cause: JSONLinesError(line: report.lines, reason: reason, storedLines: storedLines)
    )
  }

  // MARK: The first line

  private func header(_ json: JSONText) throws -> JSONLinesSchema {
    do {
      return try JSONLinesSchema(json: json)
    } catch let error as JSONLinesError {
      throw failure(error.reason)
    }
  }

  /// Compares what the file describes with what the store has, and adds what is to be added.
  private mutating func adopt(_ schema: JSONLinesSchema) throws {
    let stored = try StoredSchema(environment)
    var additions: [StoredSchemaWriter.Addition] = []
    for model in schema.models {
      guard let entry = stored.model(model.name) else {
        report.unknownModels.append(model.name)
        let layout = RecordLayout(fields: model.layoutFields(model.fields.map(\.field)))
        additions.append(
          StoredSchemaWriter.Addition(
            model: model.name,
            layouts: [layout],
            indexes: model.indexes
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
      addition.indexes = model.indexes.filter { !$0.isServed(by: indexes) }
      if !addition.layouts.isEmpty || !addition.indexes.isEmpty { additions.append(addition) }
    }
    self.schema = schema
    switch options.unknown {
    case .add:
      knownFields = [:]
      if !additions.isEmpty { try addToSchema(additions) }
    case .refuse:
      guard report.unknownModels.isEmpty, report.unknownFields.isEmpty else {
        let all = (report.unknownModels + report.unknownFields).joined(separator: ", ")
        throw StoreError(.schemaMismatch, "the store does not have \(all)")
      }
    case .leaveOut:
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
    for (key, field) in model.fields {
      guard let own = entry.fields.first(where: { $0.id == field.id }) else { continue }
      guard own.type == field.type, own.isPrimaryKey == field.isPrimaryKey else {
        throw StoreError(
          .schemaMismatch,
          "the field \(key) of \(model.name) is \(field.type) in the file and \(own.type) in the store"
        )
      }
    }
    let key = model.fields.first(where: \.field.isPrimaryKey)?.field.id
    guard key == entry.fields.first(where: \.isPrimaryKey)?.id else {
      throw StoreError(
        .schemaMismatch,
        "the primary key of \(model.name) is not the one that it has in the store"
      )
    }
  }

  // MARK: Objects

  /// The object of a line; `nil` when its model is left out.
  private mutating func object(_ json: JSONText) throws -> StoredObject? {
    guard case .string(let name) = json["model"], case .object(let members) = json["fields"] else {
      throw failure("it has no model or no fields")
    }
    guard !modelsLeftOut.contains(name) else {
      report.objectsLeftOut += 1
      return nil
    }
    guard let model = schema?.model(name) else { throw failure("there is no model \(name)") }
    var fields: [StoredObject.Field] = []
    for member in members {
      guard let field = model.field(member.name) else {
        throw failure("\(name) has no field \(member.name)")
      }
      if let known = knownFields[name], !known.contains(field.id) {
        report.valuesLeftOut += 1
        continue
      }
      guard let value = StoredValue(json: member.value, type: field.type) else {
        throw failure("the value of \(member.name) is no \(field.type)")
      }
      fields.append(
        StoredObject.Field(id: field.id, name: member.name, type: field.type, value: value)
      )
    }
    guard let key = model.fields.first(where: \.field.isPrimaryKey)?.field,
      let own = fields.first(where: { $0.id == key.id }), !own.value.isNull
    else { throw failure("the primary key is missing") }
    return StoredObject(model: name, fields: fields)
  }
}

extension JSONLinesSchema.Model {
  /// Fields as one layout can have them: of two of one name, one is called by its key.
  fileprivate func layoutFields(_ fields: [RecordLayout.Field]) -> [RecordLayout.Field] {
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
