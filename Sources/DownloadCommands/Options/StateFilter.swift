internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import ObjectStore

/// The option that selects records by state.
struct StateFilter: ParsableArguments {
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

  /// Whether the option was not given.
  var isEmpty: Bool { states.isEmpty }

  /// Returns the stored states that are selected; `nil` for all that are shown.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store.
  /// - Returns: The states.
  func storedStates(engineRuns: Bool) -> [DownloadState]? {
    guard !states.isEmpty else { return nil }
    return states.flatMap { $0 }.flatMap { DownloadState.states(named: $0, engineRuns: engineRuns) }
  }

  /// Returns the condition of the query, which uses an index.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store.
  /// - Returns: The condition.
  func condition(engineRuns: Bool) -> Filter<DownloadRecord> {
    let state = DownloadRecord.columns.state
    // Records that are about to be deleted are not shown.
    guard let wanted = storedStates(engineRuns: engineRuns) else { return state != .removed }
    return wanted.isEmpty ? .none : state.isIn(wanted)
  }

  /// The option as words of a command line.
  var arguments: [String] { states.flatMap { ["--state", $0.joined(separator: ",")] } }

  /// The option as the user would write it; empty if it was not given.
  var words: [String] { states.map { "--state '\($0.joined(separator: ","))'" } }
}
