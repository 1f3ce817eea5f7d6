internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// Options that select downloads, by name or by properties; the same for all commands.
struct SelectionOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("URLs, ids, id prefixes, or file names.", valueName: "url|id|file"),
    completion: StoreCompletion.downloads,
    transform: PositionalWords.split
  )
  var nameLists: [[String]] = []

  var names: [String] { nameLists.flatMap(\.self) }

  @OptionGroup var state: StateFilter
  @OptionGroup var labels: LabelFilter
  @OptionGroup var url: URLFilter

  func validate() throws {
    guard names.isEmpty || !isFiltered else {
      throw ValidationError(
        "Pass only one of these: the names of downloads, or options that select them."
      )
    }
  }

  /// What the options select.
  private var filter: RecordFilter { RecordFilter(state: state, labels: labels, url: url) }

  /// Whether an option selects downloads.
  var isFiltered: Bool { !filter.isEmpty }

  /// Whether neither a name nor an option was given.
  var isEmpty: Bool { names.isEmpty && !isFiltered }

  /// The condition of the options; states, tags and the type use indexes.
  func condition(
    engineRuns: Bool,
    includesRemoved: Bool = false
  ) -> Filter<DownloadRecord> {
    filter.condition(engineRuns: engineRuns, includesRemoved: includesRemoved)
  }

  /// The options as the user would write them.
  var text: String { filter.words.joined(separator: " ") }

  /// The words with which another command selects the same downloads.
  var arguments: [String] { filter.arguments + names }

  /// Looks up the names, and returns the condition that selects the downloads.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - engineRuns: Whether an engine runs on it.
  ///   - includesRemoved: Whether removed downloads, whose files are still to be deleted, are selected.
  /// - Returns: The downloads.
  /// - Throws: `StoreError`.
  func found(
    in store: RecordStore,
    engineRuns: Bool,
    includesRemoved: Bool = false
  ) throws -> FoundDownloads {
    guard !names.isEmpty else {
      return FoundDownloads(
        condition: condition(engineRuns: engineRuns, includesRemoved: includesRemoved)
      )
    }
    return try FoundDownloads(named: names, in: store, includesRemoved: includesRemoved)
  }
}

extension SelectionOptions {
  /// Refuses options that select no download at all; does nothing for names, which are looked up.
  ///
  /// - Throws: ``CommandFailure`` with `failed`; `StoreError`.
  func requireKnown(in store: RecordStore) throws {
    guard isFiltered, try !isKnown(in: store) else { return }
    throw CommandFailure(.failed, "\(none) exists")
  }

  /// Whether the options select a download.
  func isKnown(in store: RecordStore, includesRemoved: Bool = false) throws -> Bool {
    let condition = condition(engineRuns: store.hasEngine, includesRemoved: includesRemoved)
    return try store.objects.read { tx in try !tx.fetch(Query(condition).limit(1)).isEmpty }
  }

  /// The beginning of a message about options that select nothing.
  var none: String { "no download with \(TerminalText.safe(text))" }
}

/// The downloads that were found for a selection.
struct FoundDownloads: Sendable {
  /// The condition that selects them.
  var condition: Filter<DownloadRecord>
  /// The condition for the downloads that were given by name; `nil` if options selected them.
  var names: Filter<DownloadRecord>?
  /// What is wrong with the names that select no single download.
  var problems: [String] = []

  /// Creates the downloads that match a condition.
  init(condition: Filter<DownloadRecord>) { self.condition = condition }

  /// Looks up names.
  ///
  /// - Throws: `StoreError`.
  init(named names: [String], in store: RecordStore, includesRemoved: Bool = false) throws {
    var urls: [String] = []
    for (name, result) in zip(names, try store.records(matching: names)) {
      switch result {
      case .success(let record): urls.append(record.url)
      case .failure(let error):
        let option = error.code == .unknownRecord ? Advice.option(for: name) : nil
        problems.append(option.map { "\(error.message); \($0)" } ?? Advice.message(of: error))
      }
    }
    let columns = DownloadRecord.columns
    condition =
      includesRemoved
      ? columns.url.isIn(urls) : columns.url.isIn(urls) && columns.state != .removed
    self.names = condition
  }

  /// Prints the problems.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if there are any.
  func report() throws {
    for problem in problems { Output.current.say(problem) }
    guard problems.isEmpty else { throw CommandFailure(.failed) }
  }
}
