internal import ArgumentParser
internal import DownloadStore
internal import ObjectStore

/// Which records a command is about.
struct RecordFilter: ParsableArguments {
  @Option(
    name: .customLong("state"),
    parsing: .singleValue,
    help: ArgumentHelp(
      "Only those in one of the states: \(DownloadState.words.joined(separator: " ")).",
      valueName: "state[,state]"
    ),
    transform: { text in
      try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
        guard !DownloadState.states(named: String(word)).isEmpty else {
          let words = DownloadState.words.joined(separator: " ")
          throw ValidationError("'\(word)' is no state. States are: \(words)")
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
      "Only those with that tag; with several, with all of them.",
      valueName: "tag"
    )
  )
  var tags: [String] = []

  /// Whether anything is asked for.
  var isEmpty: Bool { states.isEmpty && tags.isEmpty }

  /// The condition.
  ///
  /// An index serves states and tags.
  var predicate: Predicate<DownloadRecord> {
    let columns = DownloadRecord.columns
    let wanted = states.flatMap { $0 }.flatMap(DownloadState.states(named:))
    // What is about to go is no longer shown.
    var predicate = wanted.isEmpty ? columns.state != .removed : columns.state.isIn(wanted)
    for tag in tags { predicate = columns.tags.contains(tag) && predicate }
    return predicate
  }
}
