internal import DownloadStore

/// What became of a wish, for people to read.
struct WishReport {
  /// What is said of a download for which it had an effect, such as `paused`.
  var verb: String
  var outcomes: [WishOutcome]

  /// A line a download: its id, what became of it, and the name of its file.
  var text: String {
    outcomes.compactMap { outcome in
      switch outcome.effect {
      case .done(let record): line(record, verb)
      case .unchanged(let record): line(record, "unchanged (\(record.state.word))")
      case .unknown: nil
      }
    }
    .joined()
  }

  /// Why some were not dealt with.
  var problems: [String] {
    outcomes.compactMap { outcome in
      if case .unknown(let error) = outcome.effect { error.message } else { nil }
    }
  }

  private func line(_ record: DownloadRecord, _ word: String) -> String {
    "\(record.id)  \(TerminalText.padded(word, to: 9))  \(TerminalText.safe(record.filename))\n"
  }
}
