internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// A new value of an option that `none` removes.
enum Change<Value: Sendable>: Sendable {
  case none
  case value(Value)

  /// The new value; `nil` to remove it.
  var new: Value? {
    switch self {
    case .none: nil
    case .value(let value): value
    }
  }
}

/// `dlstore set`: changes a download's properties.
struct SetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes a download's file name, type, tags, priority, limits or URLs.",
    discussion: """
      --tag adds a tag; --with-tag selects the downloads that have one. --filename, --mirror and --url \
      need one download; the other options change all that are selected. \
      --filename renames the file of a completed download together with its record. --url replaces \
      an expired link: the download keeps its id and the bytes on disk, and resumes if it had \
      failed. The options of one command take effect together or not at all for each download.

      EXAMPLES:
        dlstore set 8c2b47 --filename model-v2.bin --tag kept --untag temporary
        dlstore set 8c2b47 --url 'https://example.com/model.bin?sig=new'
        dlstore set --host example.com --limit-rate-per-download 500K
      """
  )

  @OptionGroup var location: StoreLocation

  @Argument(
    help: ArgumentHelp("URLs, ids, id prefixes, or file names.", valueName: "url|id|file"),
    completion: StoreCompletion.downloads,
    transform: PositionalWords.split
  )
  var nameLists: [[String]] = []

  var names: [String] { nameLists.flatMap(\.self) }

  @OptionGroup var state: StateFilter
  @OptionGroup var url: URLFilter

  @Option(
    name: .customLong("with-tag"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Select downloads with this tag; of several, with all of them.",
      valueName: "tag[,tag]"
    ),
    transform: TagList.parse
  )
  var selectedTagLists: [[String]] = []

  @Option(help: ArgumentHelp("The file name.", valueName: "name"))
  var filename: String?

  @Option(help: ArgumentHelp("The type, a label of your choice.", valueName: "type"))
  var type: String?

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp("A tag to add; repeatable.", valueName: "tag[,tag]"),
    transform: TagList.parse
  )
  var tagLists: [[String]] = []

  @Option(
    name: .customLong("untag"),
    parsing: .singleValue,
    help: ArgumentHelp("A tag to remove; repeatable.", valueName: "tag[,tag]"),
    transform: TagList.parse
  )
  var removedTagLists: [[String]] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Higher starts first; from \(Int32.min) to \(Int32.max).",
      valueName: "n"
    ),
    transform: { try WholeNumber.parse($0) }
  )
  var priority: Int32?

  @Option(
    name: .customLong("limit-rate-per-download"),
    help: ArgumentHelp(
      "The rate limit, such as 500K or 2M; also while the download runs.",
      valueName: "bytes/s|none"
    ),
    transform: { text in
      let limit = try ByteAmount.limit(text)
      return limit == 0 ? .none : .value(limit)
    }
  )
  var rateLimit: Change<Int64>?

  @Option(
    name: .customLong("connections-per-download"),
    help: ArgumentHelp(
      "The maximum number of connections; also while the download runs.",
      valueName: "n|none"
    ),
    transform: { text in text == "none" ? .none : .value(try ConnectionCount.parse(text)) }
  )
  var connections: Change<Int32>?

  @Option(
    help: ArgumentHelp(
      "Do not start before this time: ISO 8601, or HH:MM in local time.",
      valueName: "time|none"
    ),
    transform: { text in text == "none" ? .none : .value(try EarliestStart.date(text)) }
  )
  var notBefore: Change<Date>?

  @Option(
    help: ArgumentHelp(
      "Ask for a newer version of the finished file when the last check is this long ago; at least 1m.",
      valueName: "duration|none"
    ),
    transform: { text in text == "none" ? .none : .value(try RefreshPeriod.parse(text)) }
  )
  var refreshEvery: Change<Duration>?

  @Option(
    help: ArgumentHelp(
      "Keep this many previous versions of the finished file, from 1 to 100; 'none' keeps no more.",
      valueName: "n|none"
    ),
    transform: { text in text == "none" ? .none : .value(try VersionCount.parse(text)) }
  )
  var keepVersions: Change<Int32>?

  @Option(
    name: .customLong("mirror"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Another URL of the same file, in place of the mirrors so far; repeatable; 'none' removes them.",
      valueName: "url|none"
    )
  )
  var mirrors: [String] = []

  @Option(name: .customLong("url"), help: ArgumentHelp("The new URL.", valueName: "url"))
  var newURL: String?

  @OptionGroup var messages: QuietOption

  /// The mirrors in place of those so far; `nil` to keep these.
  private var newMirrors: [String]? {
    mirrors == ["none"] ? [] : mirrors.isEmpty ? nil : mirrors
  }

  /// The tags that a selected download has.
  private var selectedTags: [String] { selectedTagLists.flatMap(\.self) }

  /// Whether an option selects downloads.
  private var isFiltered: Bool { !state.isEmpty || !url.isEmpty || !selectedTags.isEmpty }

  func validate() throws {
    guard !names.isEmpty || isFiltered else {
      throw ValidationError(
        "No download specified: pass a URL, an id or a file name, or --state, --match, --host or "
          + "--with-tag."
      )
    }
    guard names.isEmpty || !isFiltered else {
      throw ValidationError(
        "Pass only one of these: the names of downloads, or options that select them."
      )
    }
    guard names.count == 1 || filename == nil && newURL == nil && mirrors.isEmpty else {
      throw ValidationError("--filename, --mirror and --url require the name of one download.")
    }
    guard update != RecordUpdate() else {
      throw ValidationError(
        "Nothing to change: give --filename, --type, --tag, --untag, --priority, "
          + "--limit-rate-per-download, --connections-per-download, --not-before, --refresh-every, "
          + "--keep-versions, --mirror or --url."
      )
    }
    if let filename, !FileName.isPlain(filename) {
      throw ValidationError("--filename must be a file name without a folder, not '\(filename)'.")
    }
    do {
      for url in [newURL].compactMap(\.self) + (newMirrors ?? []) {
        try RecordIdentity.validate(url)
      }
      try RecordLimits.requireMirrors(newMirrors ?? [])
    } catch {
      throw ValidationError(error.message)
    }
  }

  func run() async throws {
    let store = try RecordStore(at: location.resolved(), access: .readWrite)
    guard names.count == 1 else { return try await changeAll(in: store) }
    let outcome = try await store.update(matching: names[0], with: update)
    if let filename, !messages.quiet { FileNameNotice.say(filename, "--filename") }
    sayNotRefreshed(outcome)
    if newURL != nil, let record = outcome.record { try sayWithheld(from: record, in: store) }
    if filename != nil, let record = outcome.record { try sayKeptFile(of: record, in: store) }
    let report = CommandReport(
      verb: "changed",
      outcomes: [outcome],
      engineRuns: store.hasEngine
    )
    try messages.report(report.text)
    if newURL != nil, let notice = report.notice { messages.say(notice) }
  }

  /// Changes the downloads of several names or of options, each in a transaction of its own.
  private func changeAll(in store: RecordStore) async throws {
    let engineRuns = store.hasEngine
    var outcomes: [CommandOutcome] = []
    for name in try names.isEmpty ? selectedURLs(in: store, engineRuns) : names {
      do {
        let outcome = try await store.update(matching: name, with: update)
        sayNotRefreshed(outcome)
        outcomes.append(outcome)
      } catch let error as RecordStoreError {
        outcomes.append(CommandOutcome(name: name, effect: .unknown(error)))
      }
    }
    let report = CommandReport(verb: "changed", outcomes: outcomes, engineRuns: engineRuns)
    try messages.report(report.text)
    for problem in report.problems { Output.current.say(problem) }
    if outcomes.isEmpty { Output.current.say("no such download exists") }
    if outcomes.isEmpty || !report.problems.isEmpty { throw CommandFailure(.failed) }
  }

  private func selectedURLs(in store: RecordStore, _ engineRuns: Bool) throws -> [String] {
    var filter = DownloadFilter()
    filter.states = state.states.flatMap(\.self)
    filter.tags = selectedTags
    filter.pattern = url.pattern
    filter.host = url.host
    let condition = filter.condition(engineRuns: engineRuns)
    return try store.objects.read { tx in try tx.fetch(Query(condition)) { view in try view.url } }
  }

  /// Reports that a download is not refreshed, although it has a period for that now.
  private func sayNotRefreshed(_ outcome: CommandOutcome) {
    guard refreshEvery?.new != nil, let record = outcome.record,
      let obstacle = record.refreshObstacle
    else { return }
    Output.current.say("not refreshed: \(TerminalText.safe(record.filename)): \(obstacle)")
  }

  /// Reports that the file of a completed download was not renamed with its record.
  private func sayKeptFile(of record: DownloadRecord, in store: RecordStore) throws {
    guard record.state == .completed,
      FileInspection(of: record, in: try store.roots().layout(of: record)).final != .ours
    else { return }
    Output.current.say(
      "only the record was renamed: the downloaded file is missing, or another file has replaced it"
    )
  }

  /// Reports the header fields that are not sent to the new URL.
  private func sayWithheld(from record: DownloadRecord, in store: RecordStore) throws {
    let sent = Set(try store.headers(of: record, sentTo: record.url))
    let names = try store.headers(of: record).filter { !sent.contains($0) }.map(\.name)
    guard !names.isEmpty else { return }
    Output.current.say(
      "these header fields are not sent to another host, port or scheme: "
        + "\(names.joined(separator: ", ")); to send them, use 'add' with the new URL and "
        + "--header"
    )
  }

  private var update: RecordUpdate {
    var update = RecordUpdate()
    update.filename = filename
    update.type = type
    update.addedTags = Set(tagLists.flatMap(\.self))
    update.removedTags = Set(removedTagLists.flatMap(\.self))
    update.priority = priority
    update.bytesPerSecond = rateLimit.map(\.new)
    update.connections = connections.map(\.new)
    update.notBefore = notBefore.map(\.new)
    update.keepVersions = keepVersions.map(\.new)
    update.refreshEvery = refreshEvery.map(\.new)
    update.mirrors = newMirrors
    update.url = newURL
    return update
  }
}
