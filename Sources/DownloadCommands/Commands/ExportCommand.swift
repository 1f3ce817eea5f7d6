internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The format of an exported file.
enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
  case jsonl
  case aria2
}

/// `dlstore export`: writes the records to a file that `import` reads.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the records to a file or to standard output.",
    discussion: """
      'jsonl' is lossless, and works with any ObjectStore folder. 'aria2' is the format of aria2's \
      sessions and input files, without completed and cancelled downloads unless --state names \
      them.

      Both formats contain secrets: header fields and URLs are not redacted. Only its owner can \
      read the file. It appears once it is complete, and never replaces another file.

      EXAMPLES:
        dlstore export downloads.jsonl
        dlstore export --format aria2 --state waiting downloads.txt
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var reading: ImmutableOption

  @Option(help: "The format of the file.")
  var format = ExportFormat.jsonl

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The file to create; '-' is standard output, the default.",
      valueName: "file|-"
    ),
    completion: .file()
  )
  var output: String?

  @Argument(
    help: ArgumentHelp("The file to create, as with -o.", valueName: "file|-"),
    completion: .file()
  )
  var file: String?

  @OptionGroup var state: StateFilter
  @OptionGroup var labels: LabelFilter
  @OptionGroup var url: URLFilter

  private var filter: RecordFilter { RecordFilter(state: state, labels: labels, url: url) }

  /// The file to create; `nil` or `-` for standard output.
  var path: String? { output ?? file }

  func validate() throws {
    guard output == nil || file == nil else {
      throw ValidationError("Pass only one of these: a file, or -o with a file.")
    }
    guard let file, file.contains("://") || RecordIdentity.isID(file) else { return }
    throw ValidationError(
      "'\(Redaction.argument(file))' is a download, and not the name of a file to create: --match, "
        + "--tag, --type and --state select the downloads to export."
    )
  }

  func run() async throws {
    guard path != nil, path != "-" else { return try export() }
    try UnfinishedFiles.endingOnSignal(saying: "export stopped: repeat the command", export)
  }

  private func export() throws {
    let sink = try ExportSink(path)
    switch format {
    case .jsonl: try exportJSONLines(to: sink)
    case .aria2: try exportAria2(to: sink)
    }
    try sink.finish()
  }

  private func exportJSONLines(to sink: ExportSink) throws {
    let store = try location.openedWithoutModels(reading)
    guard !filter.isEmpty else {
      _ = try store.exportJSONLines(sink.write)
      return
    }
    try store.requireDownloads("the filters select downloads")
    var objects = ExportedObjects(
      filter,
      engineRuns: EngineLock.holder(storePath: location.resolved()) != nil
    )
    _ = try store.exportJSONLines(where: { objects.includes($0) }, sink.write)
  }

  private func exportAria2(to sink: ExportSink) throws {
    try location.openedWithoutModels(reading)
      .requireDownloads("the format 'aria2' describes downloads")
    let store = try location.openedForReading(reading)
    let roots = try store.roots()
    var omitted: [String: Int] = [:]
    var sharedSecrets = 0
    try store.objects.read { tx in
      try tx.forEach(Query(aria2Condition(engineRuns: store.hasEngine))) { record in
        let headers = record.hasHeaders ? try tx.find(RequestHeaders.self, key: record.id) : nil
        let entry = Aria2Entry(
          record,
          headers: headers?.fields ?? [],
          folder: try roots.layout(of: record).folderPath
        )
        for name in entry.omitted { omitted[name, default: 0] += 1 }
        if headers?.hasSecrets == true { sharedSecrets += 1 }
        try sink.write(Array(entry.text.utf8))
        return true
      }
    }
    for (name, count) in omitted.sorted(by: { $0.key < $1.key }) {
      Output.current.say("aria2's format does not express '\(name)' of \(count.downloads)")
    }
    if sharedSecrets > 0 {
      Output.current.say(
        "\(sharedSecrets.downloads) \(sharedSecrets == 1 ? "has" : "have") secret header fields, "
          + "which aria2c also sends to mirrors and redirect targets"
      )
    }
  }

  private func aria2Condition(engineRuns: Bool) -> Filter<DownloadRecord> {
    let condition = filter.condition(engineRuns: engineRuns)
    guard state.isEmpty else { return condition }
    let state = DownloadRecord.columns.state
    return condition && state != .completed && state != .cancelled
  }
}

extension RequestHeaders {
  /// Whether the engine would send one of the fields to their own origin only.
  fileprivate var hasSecrets: Bool { fields.contains { Redaction.field($0) != $0 } }
}

extension Int {
  fileprivate var downloads: String { self == 1 ? "1 download" : "\(self) downloads" }
}
