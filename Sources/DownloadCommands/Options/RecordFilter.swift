internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

/// Options that select records by state and tag.
struct RecordFilter: ParsableArguments {
  @Option(
    name: .customLong("state"),
    parsing: .singleValue,
    help: ArgumentHelp(
      """
      Select downloads in one of the states: \(DownloadState.words.joined(separator: " ")). Without \
      an engine, none is running.
      """,
      valueName: "state[,state]"
    ),
    completion: StoreCompletion.states,
    transform: { text in
      try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
        guard DownloadState.words.contains(String(word)) else {
          let words = DownloadState.words.joined(separator: " ")
          let suggestion = Suggestion.text(for: String(word), among: DownloadState.words)
          throw ValidationError("'\(word)' is not a state. The states are: \(words).\(suggestion)")
        }
        return String(word)
      }
    }
  )
  var states: [[String]] = []

  @Option(
    name: .customLong("tag"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Select downloads with this tag; given several times, with all of them.",
      valueName: "tag"
    )
  )
  var tags: [String] = []

  /// Whether no option was given.
  var isEmpty: Bool { states.isEmpty && tags.isEmpty }

  /// Returns the stored states that are selected; `nil` for all that are shown.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store.
  /// - Returns: The states.
  func storedStates(engineRuns: Bool) -> [DownloadState]? {
    guard !states.isEmpty else { return nil }
    return states.flatMap { $0 }.flatMap { DownloadState.states(named: $0, engineRuns: engineRuns) }
  }

  /// Returns the condition of the query; states and tags use an index.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store.
  /// - Returns: The condition.
  func condition(engineRuns: Bool) -> Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    // Records that are about to be deleted are not shown.
    var condition = columns.state != .removed
    if let wanted = storedStates(engineRuns: engineRuns) {
      condition = wanted.isEmpty ? .none : columns.state.isIn(wanted)
    }
    for tag in tags { condition = columns.tags.contains(tag) && condition }
    return condition
  }
}
