internal import LMDB
package import ObjectStoreCore

/// An import of JSON Lines in progress.
struct JSONLinesImport {
  private let schemaVersion: UInt32
  /// Whether the lines are only checked, and nothing is written.
  private let isCheck: Bool
  private(set) var schema: JSONLinesSchema? { didSet { fields = schema?.fieldsByKey ?? [:] } }
  /// The fields of the schema by their keys in the lines.
  private var fields: [String: JSONLinesSchema.FieldsByKey] = [:]
  /// The fields to import, for each model that has fields to skip.
  ///
  /// All fields of a model that is not listed are imported.
  private var knownFields: [String: Set<UInt32>] = [:]
  private var modelsLeftOut: Set<String> = []
  private let review: (any ImportReview)?
  /// Whether ``review`` applies to the objects; known once the schema is.
  private var isReviewed = false
  private var objects: ObjectImport

  init(
    environment: Environment,
    options: ImportOptions,
    schemaVersion: UInt32,
    historyLimit: HistoryLimit,
    isCheck: Bool = false,
    review: (any ImportReview)? = nil,
    didCommit: @escaping (UInt64, [HistoryEntry.ModelEntry]) -> Void
  ) {
    self.schemaVersion = schemaVersion
    self.isCheck = isCheck
    self.review = review
    review?.begin(isCheck: isCheck)
    objects = ObjectImport(
      environment: environment,
      options: options,
      uniqueFields: review?.uniqueFields ?? [:],
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      didCommit: didCommit
    )
  }

  /// Adds all lines that a reader has left.
  mutating func add(_ lines: LineReader) throws {
    do {
      while let line = try lines.next() { try add(line) }
      if isReviewed { try review?.end() }
    } catch let refusal as ImportRefusal {
      throw failure(refusal)
    } catch let error as LineReader.LineTooLong {
      objects.report.lines += 1
      throw failure(error.reason)
    }
  }

  /// Adds the next line of the file.
  mutating func add(_ line: [UInt8]) throws {
    objects.report.lines += 1
    // Skip blank lines, which some editors leave at the end.
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return }
    let json: JSONValue
    do {
      json = try JSONParser.parse(line)
    } catch {
      throw failure(Self.reason(error, in: line))
    }
    if schema == nil {
      if JSONLinesSchema.isHeader(json) {
        objects.restoreLayouts()
        return try adopt(try header(json))
      }
      let stored = try StoredSchema(objects.environment)
      try stored.requireConverted("an import")
      schema = JSONLinesSchema(stored, [])
      isReviewed = review.map { stored.model($0.model) != nil } ?? false
    }
    guard let object = try reviewed(object(json)) else { return }
    let key = try key(of: object)
    guard !isCheck else { return }
    try objects.add(object, key: key, line: objects.report.lines)
  }

  /// Says why a line is not JSON.
  static func reason(_ error: JSONSyntaxError, in line: [UInt8]) -> String {
    let isIncomplete = line.first == UInt8(ascii: "{") && error.offset >= line.count
    return isIncomplete
      ? "invalid JSON: the line ends in the middle of an object: the file may be cut off"
      : "invalid JSON: \(error)"
  }

  /// Returns the object as it is to be written; `nil` if it is skipped.
  private mutating func reviewed(_ object: StoredObject?) throws -> StoredObject? {
    guard isReviewed, let review, let object else { return object }
    do {
      if let reviewed = try review.review(object, line: objects.report.lines) { return reviewed }
      objects.report.skipped += 1
      return nil
    } catch let refusal as ImportRefusal {
      throw failure(refusal)
    }
  }

  private func failure(_ refusal: ImportRefusal) -> StoreError {
    failure(refusal.reason, line: refusal.line)
  }

  private func key(of object: StoredObject) throws -> UnresolvedReferences.Key {
    let field = fields[object.model]?.primaryKey
    let value = object.fields.first { $0.id == field?.id }?.value
    guard let field, let bytes = try? value?.bytes(as: field.type) else {
      throw failure("the primary key is missing")
    }
    return UnresolvedReferences.Key(model: object.model, bytes: bytes)
  }

  /// Writes the last batch and returns the report.
  mutating func finish() throws -> ImportReport {
    try objects.finish()
  }

  private func failure(_ reason: String, line: Int? = nil) -> StoreError {
    let line = line ?? objects.report.lines
    let cause = JSONLinesError(line: line, reason: reason, storedLines: objects.storedLines)
    return StoreError(.invalidInput, "cannot import \(cause)", cause: cause)
  }
}

extension JSONLinesImport {
  /// Decodes the first line.
  private func header(_ json: JSONValue) throws -> JSONLinesSchema {
    do {
      return try JSONLinesSchema(json: json)
    } catch let error as JSONLinesError {
      throw failure(error.reason)
    }
  }

  /// Compares the file's schema with the store's, and applies ``ImportOptions/unknown`` to the
  /// differences.
  private mutating func adopt(_ schema: JSONLinesSchema) throws {
    let (stored, rules) = try Store.readStored(objects.environment) { transaction, schema in
      try schema.requireConverted("an import")
      return (schema, try schema.metadata.references(in: transaction))
    }
    var additions: [StoredSchemaWriter.Addition] = []
    for model in schema.models {
      guard let entry = stored.model(model.name) else {
        try requireFit(model, schema.schemaVersion)
        objects.report.unknownModels.append(model.name)
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
      try ModelSchema.requireSameForm(model.name, as: entry.tables.name)
      try requireSameTypes(model, entry)
      let unknown = model.fields.filter { entry.names[$0.field.id] == nil }
      objects.report.unknownFields += unknown.map { "\(model.name).\($0.key)" }
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
    isReviewed =
      review.map { stored.model($0.model) != nil || schema.model($0.model) != nil } ?? false
    switch objects.options.unknown {
    case .add:
      knownFields = [:]
      if !additions.isEmpty, !isCheck { try addToSchema(additions) }
    case .refuse:
      guard objects.report.unknownModels.isEmpty, objects.report.unknownFields.isEmpty else {
        let all = (objects.report.unknownModels + objects.report.unknownFields).joined(
          separator: ", "
        )
        throw StoreError(.schemaMismatch, "the file describes what the store lacks: \(all)")
      }
    case .ignore:
      modelsLeftOut = Set(objects.report.unknownModels)
    }
  }

  private func addToSchema(_ additions: [StoredSchemaWriter.Addition]) throws {
    try StoredSchemaWriter(environment: objects.environment, schemaVersion: schemaVersion)
      .add(additions)
  }

  /// Compares a model that the store lacks with that of the program which is to open the store.
  private func requireFit(_ model: JSONLinesSchema.Model, _ version: UInt32) throws {
    guard let own = review?.models(ofVersion: version).first(where: { $0.name == model.name })
    else { return }
    for field in own.fields {
      let other = model.fields.first { $0.field.id == field.id }?.field
      guard (other?.isPrimaryKey ?? false) == field.isPrimaryKey else {
        throw failure("the primary key of \(model.name) is not the field with id \(field.id)")
      }
      if let other, other.type != field.type {
        throw failure("\(model.name).\(field.name) has type \(other.type), and not \(field.type)")
      }
    }
  }

  private func requireSameTypes(
    _ model: JSONLinesSchema.Model,
    _ entry: StoredSchema.Entry
  ) throws {
    var isSamePrimaryKey =
      model.fields.first(where: \.field.isPrimaryKey)?.field.id
      == entry.fields.first(where: \.isPrimaryKey)?.id
    let stored = Dictionary(uniqueKeysWithValues: entry.fields.map { ($0.id, $0) })
    for (key, field) in model.fields {
      guard let own = stored[field.id] else { continue }
      guard own.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          """
          \(model.name).\(key.shownName) has type \(field.type) in the file, and \(own.name) has type \
          \(own.type) in the store: import the file into a new store, and migrate that one
          """
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
  package func layoutFields(_ fields: [RecordLayout.Field]) -> [RecordLayout.Field] {
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
  private mutating func object(_ json: JSONValue) throws -> StoredObject? {
    guard case .string(let name) = json["model"], case .object(let members) = json["fields"] else {
      throw failure("'model' or 'fields' is missing")
    }
    guard !modelsLeftOut.contains(name) else {
      objects.report.ignoredObjects += 1
      return nil
    }
    guard let model = self.fields[name] else { throw failure("unknown model \(name.shownName)") }
    var fields: [StoredObject.Field] = []
    for member in members {
      guard let field = model.fields[Array(member.name.utf8)] else {
        throw failure("\(name) has no field \(member.name.shownName)")
      }
      if let known = knownFields[name], !known.contains(field.id) {
        objects.report.ignoredValues += 1
        continue
      }
      guard let value = StoredValue(json: member.value, type: field.type) else {
        throw failure("the value of \(member.name.shownName) is not a valid \(field.type)")
      }
      fields.append(
        StoredObject.Field(id: field.id, name: member.name, type: field.type, value: value)
      )
    }
    guard let key = model.primaryKey,
      let own = fields.first(where: { $0.id == key.id }), !own.value.isNull
    else { throw failure("the primary key is missing") }
    var id: UInt64 = 0
    if case .number(let digits) = json["object"] { id = UInt64(digits) ?? 0 }
    return StoredObject(model: name, id: id, fields: fields)
  }
}

extension String {
  /// What a message repeats of a name in a file, which may have any length.
  ///
  /// A valid name has at most 100 bytes.
  var shownName: String {
    guard utf8.count > 100 else { return self }
    return String(UnicodeScalarView(unicodeScalars.prefix(100))) + "…"
  }
}
