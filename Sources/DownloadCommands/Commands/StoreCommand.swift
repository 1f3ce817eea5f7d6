internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// `dlstore store`: looks into the folder of any ObjectStore, without its models.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Looks into the folder of any ObjectStore, without its models.",
    discussion: """
      Reads only: it never creates a store, and works while other processes write.

      EXAMPLES:
        dlstore store models
        dlstore store query DownloadRecord --where state=waiting --limit 10
        dlstore store get Root default
      """,
    subcommands: [StoreModelsCommand.self, StoreQueryCommand.self, StoreGetCommand.self]
  )

  @OptionGroup var location: StoreLocation
}

/// `dlstore store models`: describes the models of a store.
struct StoreModelsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models",
    abstract: "Lists the models of a store, or the fields of one.",
    discussion: """
      EXAMPLES:
        dlstore store models
        dlstore store models DownloadRecord
        dlstore --store /var/lib/notes store models --json
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Argument(help: ArgumentHelp("The model whose fields to list.", valueName: "model"))
  var name: String?

  @Flag(help: "Print one JSON array with the fields and indexes of each model.")
  var json = false

  func run() async throws {
    let store = try location.openedWithoutModels(reading)
    let models = try name.map { [try store.storedModel(named: $0)] } ?? store.storedModels()
    if json {
      return try Output.current.line(JSONValue.array(models.map(Self.json)).prettyText)
    }
    let table = name == nil ? Self.table(of: models) : Self.table(ofFieldsOf: models[0])
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

  private static func table(ofFieldsOf model: StoredModel) -> TableOutput {
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

/// `dlstore store get`: shows one object.
struct StoreGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Shows the object with a primary key.",
    discussion: """
      Finds the object by its key, without reading others. The exit code is 1 if there is none.

      EXAMPLES:
        dlstore store get Root default
        dlstore store get DownloadRecord https://example.com/model.bin --json
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Argument(help: ArgumentHelp("The name of the model.", valueName: "model"))
  var name: String

  @Argument(help: ArgumentHelp("The primary key.", valueName: "key"))
  var key: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Show the secrets of downloads unredacted.")
  var revealSecrets = false

  func run() async throws {
    let store = try location.openedWithoutModels(reading)
    let model = try store.storedModel(named: name)
    guard let field = model.fields.first(where: \.isPrimaryKey),
      let value = StoredFieldText.value(key, of: field.type)
    else {
      let type = model.fields.first(where: \.isPrimaryKey)?.type ?? .string
      throw CommandFailure(
        .usage,
        "'\(key)' is not a key of \(name), which is of type \(type): write "
          + StoredFieldText.example(of: type)
      )
    }
    guard let object = try store.storedObject(of: name, key: value) else {
      throw CommandFailure(
        .failed,
        "\(name) has no object with the key '\(Redaction.argument(key))'"
      )
    }
    let output = try StoredObjectOutput(model, revealsSecrets: revealSecrets)
    let text =
      json
      ? output.json(of: object).prettyText : output.lines(of: object).joined(separator: "\n")
    try Output.current.line(text)
  }
}
