internal import ArgumentParser
internal import DownloadReports

/// Options that select records by the URL and the file name.
struct URLFilter: ParsableArguments {
  @Option(
    name: .customLong("match"),
    help: ArgumentHelp(
      "Select downloads whose URL or file name matches the pattern: * ? [a-z] [!a-z].",
      valueName: "glob"
    )
  )
  var pattern: String?

  @Option(
    help: ArgumentHelp(
      "Select downloads whose URL has this host, or one that matches, such as '*.example.com'.",
      valueName: "host[:port]"
    )
  )
  var host: String?

  func validate() throws {
    if let pattern, GlobPattern(pattern).hasUnclosedBracket {
      throw ValidationError(
        "--match: '[' is never closed in '\(pattern)'; write [[] for the character."
      )
    }
    guard host?.isEmpty != true else {
      throw ValidationError("--host requires the name of a host.")
    }
  }

  /// Whether no option was given.
  var isEmpty: Bool { pattern == nil && host == nil }

  /// The options as words of a command line.
  var arguments: [String] {
    (pattern.map { ["--match", $0] } ?? []) + (host.map { ["--host", $0] } ?? [])
  }

  /// The options as the user would write them.
  var words: [String] {
    [pattern.map { "--match '\($0)'" }, host.map { "--host '\($0)'" }].compactMap { $0 }
  }
}
