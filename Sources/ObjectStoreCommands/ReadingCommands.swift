internal import ArgumentParser
internal import CommandLineSupport
internal import ObjectStore

/// `objectstore models`: describes the models of a store.
struct ModelsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models",
    abstract: "Lists the models of a store, or the fields of one.",
    discussion: """
      Reads only the descriptions: the cost does not depend on the number of objects.

      EXAMPLES:
        objectstore notes models
        objectstore notes models Note
        objectstore notes models --json
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var models: StoredModelsOptions

  func run() async throws {
    try models.run(in: store.openedForReading(reading))
  }
}

/// `objectstore query`: lists objects of a model.
struct QueryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Lists the objects of a model, or counts them.",
    discussion: """
      Without --sort the objects are in the order in which they were inserted. A condition on an \
      indexed field uses the index. In arrays and sets, '=' finds an element. 'null' is a missing \
      value, and meets no condition but '=null'. Dates are days or times in UTC, such as \
      2026-01-31. JSON has the value forms of an export; tables and CSV show dates as ISO 8601.

      EXAMPLES:
        objectstore notes query Note --where 'title~milk' --limit 10
        objectstore notes query Note --where 'changed>=2026-01-31' --sort title
        objectstore notes query Note --where folder=null --count
        objectstore notes query Note --fields id,title --format csv
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var query: StoredQueryOptions

  func run() async throws {
    try query.run(in: store.openedForReading(reading)) { model, fields in
      try StoredObjectOutput(model, fields: fields)
    }
  }
}

/// `objectstore get`: shows one object.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Shows the object with a primary key.",
    discussion: """
      Finds the object by its key, without reading others. The exit code is 1 if there is none. A \
      key that begins with a dash follows '--'.

      EXAMPLES:
        objectstore notes get Note 42
        objectstore notes get Note 42 --json
        objectstore notes get Note -- -1
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var object: StoredObjectOptions

  func run() async throws {
    try object.run(in: store.openedForReading(reading)) { try StoredObjectOutput($0) }
  }
}

/// `objectstore stats`: shows the size and the use of a store.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Shows how many objects a store has, and the size and use of its file.",
    discussion: """
      Reads no whole records. Readers are the processes that have a snapshot open; pages freed \
      after a snapshot was opened cannot be reused until it is closed.

      EXAMPLES:
        objectstore notes stats
        objectstore notes stats --json
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let report = try StoreStatsReport(of: store.openedForReading(reading), path: store.path)
    guard !json else { return try Output.current.line(report.json().prettyText) }
    let lines =
      StoreStatsReport.lines(of: report.properties) + [""]
      + report.modelTable.lines(width: Terminal.output.width)
    try Output.current.line(lines.joined(separator: "\n"))
  }
}
