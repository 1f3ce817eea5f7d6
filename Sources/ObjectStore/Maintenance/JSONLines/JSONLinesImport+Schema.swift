extension JSONLinesImport {
  func header(_ json: JSONText) throws -> JSONLinesSchema {
    do {
      return try JSONLinesSchema(json: json)
    } catch let error as JSONLinesError {
      throw failure(error.reason)
    }
  }

  /// Compares what the file describes with what the store has, and adds what is to be added.
  mutating func adopt(_ schema: JSONLinesSchema) throws {
    let (stored, rules) = try ObjectStore.readStored(environment) { transaction, schema in
      (schema, try schema.metadata.references(in: transaction))
    }
    var additions: [StoredSchemaWriter.Addition] = []
    for model in schema.models {
      guard let entry = stored.model(model.name) else {
        report.unknownModels.append(model.name)
        let layout = RecordLayout(fields: model.layoutFields(model.fields.map(\.field)))
        additions.append(
          StoredSchemaWriter.Addition(
            model: model.name,
            layouts: [layout],
            indexes: model.indexes,
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
      addition.indexes = model.indexes.filter { !$0.isServed(by: indexes) }
      addition.references = model.references.filter { rule in
        !rules.contains { $0.isOfField(of: rule) }
      }
      if !addition.isEmpty { additions.append(addition) }
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
