internal import ArgumentParser
internal import CommandLineSupport
internal import ObjectStore

/// `objectstore watch`: prints the commits of all processes.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints the commits of all processes as they happen.",
    discussion: """
      Prints a line for each commit and model: the number of the commit, the model, and the primary \
      keys of the objects that it inserted, updated (with the fields) and deleted. Begins after the \
      last commit, and ends on Ctrl-C. A commit of too many objects says 'any object'.

      EXAMPLES:
        objectstore notes watch
        objectstore notes watch --model Note --json
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    name: .customLong("model"),
    parsing: .singleValue,
    help: ArgumentHelp("Print the changes of this model only; may be repeated.", valueName: "name")
  )
  var models: [String] = []

  @Option(
    help: ArgumentHelp("End after this many commits, from 1.", valueName: "n"),
    transform: { try WholeNumber.parse($0, from: 1) }
  )
  var limit: Int?

  @Flag(help: "Print one JSON object per commit and line.")
  var json = false

  func run() async throws {
    let store = try store.openedForReading()
    for name in models { _ = try store.storedModel(named: name) }
    let signals = StopSignals { _ in store.stopObserving() }
    let reader = Task {
      // A closed pipe ends the watch, also if there are no commits.
      while !Task.isCancelled, !Terminal.output.hasLostReader {
        try? await Task.sleep(for: .milliseconds(500))
      }
      store.stopObserving()
    }
    defer { reader.cancel() }
    try await printCommits(of: store)
    if let signal = signals.first, signal != .interrupt { throw CommandFailure(signal.status) }
  }

  private func printCommits(of store: Store) async throws {
    var token = try store.historyToken()
    var rest = limit ?? .max
    for try await _ in store.commits {
      guard let history = try store.storedHistory(since: token) else {
        token = try store.historyToken()
        Output.current.say(
          "the history does not have the last commits: any object may have changed"
        )
        continue
      }
      token = history.token
      for commit in history.commits {
        let shown = CommitLines(commit, models: models)
        guard !shown.isEmpty else { continue }
        try Output.current.write(json ? shown.json.text + "\n" : shown.text)
        rest -= 1
        guard rest > 0 else { return }
      }
    }
  }
}

/// The output of one commit.
struct CommitLines {
  private let number: UInt64
  private let changes: [StoredCommit.Changes]

  /// - Parameters:
  ///   - commit: The commit.
  ///   - models: The models whose changes are shown; empty for all.
  init(_ commit: StoredCommit, models: [String]) {
    number = commit.number
    changes = commit.changes.filter { models.isEmpty || models.contains($0.model) }
  }

  /// Whether there is nothing to show.
  var isEmpty: Bool { changes.isEmpty }

  /// One line for each model.
  var text: String {
    changes.map { changes in
      var words = ["\(number)", changes.model]
      func add(_ word: String, _ keys: [String]) {
        if !keys.isEmpty { words.append("\(word) \(keys.joined(separator: " "))") }
      }
      if changes.coversAllObjects { words.append("any object") }
      add("inserted", changes.inserted.map(StoredObjectOutput.text))
      add(
        "updated",
        changes.updated.map { update in
          let key = StoredObjectOutput.text(update.key)
          return update.fields.isEmpty ? key : "\(key) (\(update.fields.joined(separator: ", ")))"
        }
      )
      add("deleted", changes.deleted.map(StoredObjectOutput.text))
      return TerminalText.safe(words.joined(separator: "  ")) + "\n"
    }
    .joined()
  }

  /// An object with the number of the commit and its changes by model.
  var json: JSONValue {
    [
      "commit": .number("\(number)"),
      "changes": .array(
        changes.map { changes in
          [
            "model": .string(changes.model), "anyObject": .bool(changes.coversAllObjects),
            "inserted": .array(changes.inserted.map(\.json)),
            "updated": .array(
              changes.updated.map { update in
                [
                  "key": update.key.json, "fields": .array(update.fields.map(JSONValue.string)),
                ]
              }
            ),
            "deleted": .array(changes.deleted.map(\.json)),
          ]
        }
      ),
    ]
  }
}
