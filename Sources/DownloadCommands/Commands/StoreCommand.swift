internal import ArgumentParser
internal import CommandLineSupport
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
    try StoredModelOutput.print(models, fields: name != nil, json: json)
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
    let (model, object) = try store.storedObject(of: name, keyText: key) {
      Redaction.argument($0)
    }
    let output = try StoredObjectOutput(model, revealsSecrets: revealSecrets)
    let text =
      json
      ? output.json(of: object).prettyText : output.lines(of: object).joined(separator: "\n")
    try Output.current.line(text)
  }
}
