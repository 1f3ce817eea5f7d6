internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
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
    subcommands: [StoreModelsCommand.self, StoreQueryCommand.self, StoreGetCommand.self],
    defaultSubcommand: StoreModelsCommand.self
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
  @OptionGroup var models: StoredModelsOptions

  func run() async throws {
    try models.run(in: location.openedWithoutModels(reading))
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
  @OptionGroup var object: StoredObjectOptions

  @Flag(help: "Show the secrets of downloads unredacted.")
  var revealSecrets = false

  func run() async throws {
    try object.run(
      in: location.openedWithoutModels(reading),
      shown: { Redaction.argument($0) },
      output: { try StoredObjectOutput($0, revealsSecrets: revealSecrets) }
    )
  }
}
