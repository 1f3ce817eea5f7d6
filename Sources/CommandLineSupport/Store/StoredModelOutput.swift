package import ObjectStore

/// The text and JSON of the descriptions of models.
package enum StoredModelOutput {
  /// Prints models, or the fields of the first one.
  ///
  /// - Throws: As ``Output/write(_:)``.
  package static func print(_ models: [StoredModel], fields: Bool, json: Bool) throws {
    if json {
      return try Output.current.line(JSONValue.array(models.map(Self.json)).prettyText)
    }
    let table = fields ? fieldTable(of: models[0]) : table(of: models)
    try Output.current.line(table.lines(width: Terminal.output.width).joined(separator: "\n"))
  }

  private static func table(of models: [StoredModel]) -> TableOutput {
    var table = TableOutput(columns: [
      .init(title: "MODEL"), .init(title: "OBJECTS", isAlignedRight: true), .init(title: "KEY"),
      .init(title: "FIELDS", isAlignedRight: true), .init(title: "INDEXES"),
    ])
    table.rows = models.map { model in
      let key = model.fields.first(where: \.isPrimaryKey)
      return [
        model.name, "\(model.objectCount)", key.map { "\($0.name): \($0.type)" } ?? "",
        "\(model.fields.count)", model.sortedIndexes.map(model.names).joined(separator: " "),
      ]
    }
    return table
  }

  private static func fieldTable(of model: StoredModel) -> TableOutput {
    var table = TableOutput(columns: [
      .init(title: "FIELD"), .init(title: "TYPE"), .init(title: "OPTIONAL"),
      .init(title: "INDEX"), .init(title: "ID", isAlignedRight: true),
    ])
    table.rows = model.fields.map { field in
      let indexes = model.sortedIndexes.filter { $0.fields.contains(field.id) }
      let uses =
        (field.isPrimaryKey ? ["primary key"] : []) + indexes.map(model.names)
        + (model.columns.contains(field.id) ? ["column"] : [])
      return [
        field.name, "\(field.type)", field.isOptional ? "yes" : "no",
        uses.joined(separator: " "), "\(field.id)",
      ]
    }
    return table
  }

  private static func json(of model: StoredModel) -> JSONValue {
    [
      "name": .string(model.name), "objects": .integer(Int64(model.objectCount)),
      "layouts": .integer(Int64(model.layoutCount)), "layout": .string("\(model.layout)"),
      "fields": .array(
        model.fields.map { field in
          [
            "id": .integer(Int64(field.id)), "name": .string(field.name),
            "type": .string("\(field.type)"), "optional": .bool(field.isOptional),
            "primaryKey": .bool(field.isPrimaryKey), "hot": .bool(field.isHot),
            "column": .bool(model.columns.contains(field.id)),
          ]
        }
      ),
      "indexes": .array(
        model.sortedIndexes.map { index in
          [
            "id": .integer(Int64(index.id)),
            "fields": .array(index.fields.map { .string(model.fieldName($0)) }),
            "unique": .bool(index.isUnique), "entries": .integer(Int64(index.entryCount)),
          ]
        }
      ),
    ]
  }
}

extension StoredModel {
  fileprivate var sortedIndexes: [Index] {
    indexes.sorted { $0.fields.lexicographicallyPrecedes($1.fields) }
  }

  fileprivate func fieldName(_ id: UInt32) -> String {
    fields.first { $0.id == id }?.name ?? "#\(id)"
  }

  /// The names of an index's fields, such as `genre+year`, with an exclamation mark if it is unique.
  fileprivate func names(of index: Index) -> String {
    index.fields.map(fieldName).joined(separator: "+") + (index.isUnique ? "!" : "")
  }
}
