internal import ArgumentParser
internal import CommandLineSupport
internal import ObjectStore

/// `objectstore export`: writes the objects to a file that `import` reads.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the objects to a file or to standard output, as JSON Lines.",
    discussion: """
      The export is lossless: 'import' makes an equal store of it. It is of one snapshot. Only its \
      owner can read the file of -o. It appears once it is complete, and never replaces another \
      file. 'query --format csv' writes one model as CSV.

      EXAMPLES:
        objectstore notes export -o notes.jsonl
        objectstore notes export --model Note --model Folder
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to create; '-' is standard output, the default.",
      valueName: "file|-"
    ),
    completion: .file()
  )
  var output: String?

  @Option(
    name: .customLong("model"),
    parsing: .singleValue,
    help: ArgumentHelp("Write the objects of this model only; may be repeated.", valueName: "name")
  )
  var models: [String] = []

  func run() async throws {
    let store = try store.openedForReading(reading)
    for name in models { _ = try store.storedModel(named: name) }
    func export() throws {
      let sink = try ExportSink(output)
      _ = try store.exportJSONLines(
        where: { models.isEmpty || models.contains($0.model) },
        sink.write
      )
      try sink.finish()
    }
    guard output != nil, output != "-" else { return try export() }
    try UnfinishedFiles.endingOnSignal(saying: "export stopped: repeat the command", export)
  }
}

/// `objectstore import`: reads a file that `export` or another program wrote.
struct ImportCommand: AsyncParsableCommand {
  /// The format of an imported file.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case jsonl
    case json
    case csv
  }

  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Reads objects from a file into the store.",
    discussion: """
      'jsonl' reads an export. A missing store is created from the file alone, completely or not at \
      all. If the store exists, the whole file is checked before anything is written.

      'csv' and 'json' read the rows of another program, such as 'sqlite3 -json' or PostgreSQL's \
      COPY, into one model of an existing store. CSV begins with a line of column names; JSON is an \
      array of objects or a sequence of them. Each row becomes an object. The whole file is checked \
      before anything is written.

      EXAMPLES:
        objectstore copy import notes.jsonl
        objectstore notes import --format csv --delimiter tab --model Note notes.tsv
        objectstore notes import --format json --model Note --dry-run notes.json
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(help: "The format of the file.")
  var format = Format.jsonl

  @Option(
    help: ArgumentHelp(
      "If an object of the file is already in the store: keep the store's, replace it, or fail.",
      valueName: "keep|replace|fail"
    )
  )
  var ifKnown = KnownObjects.keep

  @OptionGroup var rows: RowOptions

  @Argument(
    help: ArgumentHelp("The file; '-' is standard input.", valueName: "file|-"),
    completion: .file()
  )
  var file: String

  func validate() throws {
    guard format == .csv || rows.delimiter == nil else {
      throw ValidationError("--delimiter requires --format csv.")
    }
    guard format != .jsonl || !rows.isGiven else {
      throw ValidationError(
        "--model, --map, --ignore-columns, --numeric-dates and --dry-run require --format json "
          + "or csv."
      )
    }
    guard format == .jsonl || rows.model != nil else {
      throw ValidationError("--format \(format) requires --model NAME.")
    }
  }

  func run() async throws {
    switch format {
    case .jsonl: try compact(after: importJSONLines())
    case .json: try compact(after: importRows(.json))
    case .csv: try compact(after: importRows(.csv))
    }
  }

  /// Compacts the store if the change was large; it is closed then.
  private func compact(after change: BulkChange) {
    change.compact(storeAt: store.path, command: "'objectstore compact'")
  }

  private func importJSONLines() throws -> BulkChange {
    let path = store.path
    let exists = Store.exists(at: path)
    let source = try ImportSource(file, mustBeSeekable: exists)
    func load() throws -> ImportReport {
      try Store.importJSONLines(
        from: source.descriptor,
        named: source.name,
        intoStoreAt: path,
        options: ifKnown.options
      )
    }
    do {
      // A stop between two transactions of an existing store leaves nothing behind.
      let report =
        try exists
        ? load()
        : UnfinishedFiles.endingOnSignal(saying: "import stopped: repeat the command", load)
      try Output.current.report(KnownObjects.summary(of: report))
      return BulkChange(objectCount: report.inserted + report.updated)
    } catch let error as StoreError where (error.cause as? JSONLinesError)?.line == 1 {
      throw CommandFailure(
        ExitStatus(error),
        "\(error); if the file is not an export, pass --format json or csv"
      )
    }
  }

  private func importRows(_ format: RowFormat) throws -> BulkChange {
    let path = try store.existing()
    let opened = rows.dryRun ? try store.openedForReading() : try .openWithoutModels(path)
    let (summary, change) = try RowImport.perform(
      format,
      rows,
      of: try opened.storedModel(named: rows.model ?? ""),
      in: opened,
      from: try ImportSource(file, mustBeSeekable: true),
      known: ifKnown
    )
    try Output.current.report(summary)
    return change
  }
}

/// `objectstore backup`: copies a store while other processes write.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store as of its last commit, while other processes write.",
    discussion: """
      DEST is a new folder, which appears once the copy is complete and synced; an existing file or \
      folder is never changed. Write to only one of the two stores afterwards.

      EXAMPLES:
        objectstore notes backup /backup/notes-2026-01-31
        objectstore notes backup --compact /backup/notes
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption
  @OptionGroup var backup: BackupOptions

  func run() async throws {
    try backup.run(store.openedForReading(reading))
  }
}
