internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore

/// The outcome of a command for each download, as text for people.
struct CommandReport {
  /// The word for a download that was changed, such as `paused`.
  var verb: String
  var outcomes: [CommandOutcome]
  /// Whether an engine runs on the store.
  var engineRuns: Bool

  /// One line per download: its id, the outcome, and its file name.
  var text: String {
    outcomes.compactMap { outcome in
      switch outcome.effect {
      case .done(let record): line(record, verb)
      case .unchanged(let record):
        line(record, "unchanged (\(record.state.word(engineRuns: engineRuns)))")
      case .unknown: nil
      }
    }
    .joined()
  }

  /// Says that nothing runs the downloads that may start now; `nil` if there are none, or an engine
  /// runs.
  var notice: String? {
    let count = outcomes.filter { outcome in
      guard case .done(let record) = outcome.effect else { return false }
      return record.intent == .run && record.state.awaitsStart
    }
    .count
    guard !engineRuns, count > 0 else { return nil }
    return "no engine runs: \(SuggestedCommand.text("run")) continues \(count == 1 ? "it" : "them")"
  }

  /// Says how the downloads that a `resume` has not changed are downloaded again.
  var restartAdvice: [String] {
    outcomes.compactMap { outcome in
      guard case .unchanged(let record) = outcome.effect,
        record.state == .completed || record.continuation == .command(.restart)
      else { return nil }
      let name = TerminalText.safe(record.filename)
      let state = record.state.word(engineRuns: engineRuns)
      let restart = SuggestedCommand.text("restart \(record.id)")
      return "'\(name)' is \(state): \(restart) downloads it again"
    }
  }

  /// The errors of downloads that were not found.
  var problems: [String] {
    outcomes.compactMap { outcome in
      guard case .unknown(let error) = outcome.effect else { return nil }
      let hint =
        outcome.name == "all" ? "--all selects all downloads" : Advice.option(for: outcome.name)
      return hint.map { "\(error.message); \($0)" } ?? Advice.message(of: error)
    }
  }

  private func line(_ record: DownloadRecord, _ word: String) -> String {
    "\(record.id)  \(TerminalText.padded(word, to: 9))  \(TerminalText.safe(record.filename))\n"
  }
}

extension RecordStore.Added {
  /// The messages for standard error about what the request did not do, or did besides.
  var messages: [String] { [noteMessage, mirrorMessage, headerMessage].compactMap(\.self) }

  private var headerMessage: String? {
    guard change?.hasUnkeptHeaders == true else { return nil }
    return
      "\(record.id): the header fields are not kept for '\(TerminalText.safe(record.filename))': "
      + "a download has those of one server, and keeps those of its first URL"
  }

  /// Says how many mirrors are not kept; `nil` if all are.
  var mirrorMessage: String? {
    guard unkeptMirrorCount > 0 else { return nil }
    let name = TerminalText.safe(record.filename)
    let mirrors =
      unkeptMirrorCount == 1 ? "1 mirror is" : "\(unkeptMirrorCount) mirrors are"
    return "\(record.id): \(mirrors) not kept for '\(name)': a download has at most "
      + "\(RecordLimits.mirrors)"
  }

  private var noteMessage: String? {
    let name = TerminalText.safe(record.filename)
    return switch note {
    case .documentIgnored:
      "\(record.id): '\(name)' is known: its checksum and its mirrors are kept, because the document "
        + "does not state the same checksum"
    case .pauseIgnored:
      "\(record.id): '\(name)' is known and stays \(record.state.word(engineRuns: true)), because "
        + "only new downloads are added paused"
        + (record.state.isProceeding
          ? ": \(SuggestedCommand.text("pause \(record.id)")) pauses it" : "")
    case .fileDiffers:
      "\(record.id): the finished file '\(name)' was changed or has another checksum: it is "
        + "downloaded again"
    case .fileStays:
      "\(record.id): the file '\(name)' was changed, or is not the downloaded one: it stays, and the "
        + "download gets another name"
    case .folderUnreachable:
      "\(record.id): '\(name)' is complete, but the folder of its file is missing or cannot be "
        + "searched: it was moved or deleted, or its volume is not mounted; "
        + "\(SuggestedCommand.text("root list")) shows where it should be, and "
        + "\(SuggestedCommand.text("restart \(record.id)")) downloads the file there again"
    case nil: nil
    }
  }

  /// The line of `add` and `import`: the id, `new` or `known`, and the file name.
  var line: String {
    "\(record.id)  \(isNew ? "new  " : "known")  \(TerminalText.safe(record.filename))\n"
  }
}
