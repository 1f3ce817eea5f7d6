internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore

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

  /// The option as words of a command line.
  var arguments: [String] { states.flatMap { ["--state", $0.joined(separator: ",")] } }

  /// The option as the user would write it; empty if it was not given.
  var words: [String] { states.map { "--state '\($0.joined(separator: ","))'" } }
}
