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
      "Select downloads in one of the states: \(DownloadState.words.joined(separator: " ")).",
      valueName: "state[,state]"
    ),
    completion: StoreCompletion.states,
    transform: { text in
      try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
        guard !DownloadState.states(named: String(word)).isEmpty else {
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

  /// The condition of the query; states and tags use an index.
  var condition: Filter<DownloadRecord> {
    let columns = DownloadRecord.columns
    let wanted = states.flatMap { $0 }.flatMap(DownloadState.states(named:))
    // Records that are about to be deleted are not shown.
    var condition = wanted.isEmpty ? columns.state != .removed : columns.state.isIn(wanted)
    for tag in tags { condition = columns.tags.contains(tag) && condition }
    return condition
  }
}
