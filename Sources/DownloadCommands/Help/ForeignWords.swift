/// Options and commands of other programs, and what `dlstore` has instead.
///
/// The options are those of curl, wget, aria2c and rclone; the commands those of git, docker and
/// kubectl.
enum ForeignWords {
  /// The commands that delete or drop something, which are never suggested for a mistyped word.
  static let destructiveCommands: Set = ["cancel", "restart", "remove", "rm", "purge"]

  /// Returns the hint for an option that `dlstore` does not have; `nil` if it is not known.
  ///
  /// - Parameters:
  ///   - name: The option with its dashes, as it was typed: also `-x16` and `-fsSL`.
  ///   - value: The word after it; `nil` if there is none.
  ///   - isList: Whether the command prints downloads, and not events.
  /// - Returns: A sentence without a full stop.
  static func hint(
    forOption name: String,
    value: String? = nil,
    isList: Bool = true
  ) -> String? {
    switch (name, value) {
    // curl's -x is a proxy, and aria2c's a number of connections.
    case ("-x", let value?): return Int(value) == nil ? "use --proxy URL" : "use --connections N"
    case ("-s", let value?) where Int(value) != nil: return "use --connections N"
    case ("-N", let value?) where Int(value) != nil: return "use --connections N"
    case ("-w", let value?) where value.first?.isNumber == true: return wait
    case ("-k", let value?) where value.first?.isNumber == true: return "use --min-split BYTES"
    case ("-k", _): return "name the certificate to trust with --ca-certificate FILE"
    case ("--json", _) where !isList: return "use --json-events"
    default: return options[name] ?? hint(forJoined: name)
    }
  }

  /// Returns the hint for short options that are written as one word, as `-fsSL`, or for one with its
  /// value, as `-x16`.
  private static func hint(forJoined word: String) -> String? {
    guard word.hasPrefix("-"), !word.hasPrefix("--"), word.count > 2 else { return nil }
    let names = word.dropFirst().map { "-\($0)" }
    let known = names.map { (name: $0, hint: options[$0]) }
    guard known.allSatisfy({ $0.hint != nil }) else {
      return hint(forOption: names[0], value: String(word.dropFirst(2)))
    }
    var hints: [(names: [String], hint: String)] = []
    for case (let name, let hint?) in known {
      if let index = hints.firstIndex(where: { $0.hint == hint }) {
        hints[index].names.append(name)
      } else {
        hints.append(([name], hint))
      }
    }
    return hints.map { "\($0.names.joined(separator: " ")): \($0.hint)" }.joined(separator: ". ")
  }

  /// Returns the hint for a word in the place of a command; `nil` if it is not known.
  static func hint(forCommand word: String) -> String? {
    if word.contains("://") || URLText.completed(word) != nil {
      return "did you mean 'dlstore get \(word)'?"
    }
    return commands[word]
  }

  /// The hints by the names of options.
  static let options: [String: String] = {
    var options = ShortOption.hints
    for (names, hint) in table {
      for name in names.split(separator: " ") { options[String(name)] = hint }
    }
    return options
  }()

  private static let table: [(names: String, hint: String)] = [
    ("--output-document --remote-name", ShortOption.fileName),
    ("-C --continue --continue-at", ShortOption.always),
    ("--directory-prefix --output-dir --output-directory", ShortOption.folder),
    ("--split --max-connection-per-server", "use --connections N"),
    (
      "--transfers --max-concurrent-downloads --parallel --parallel-max",
      "use --max-concurrent N"
    ),
    (
      "--insecure --no-check-certificate --check-certificate",
      "name the certificate to trust with --ca-certificate FILE"
    ),
    ("--cacert --ca-file", "use --ca-certificate FILE"),
    ("--cert --certificate", "use --client-certificate FILE"),
    ("--private-key", "use --client-key FILE"),
    ("--min-split-size", "use --min-split BYTES"),
    ("--cookie --load-cookies", "use --cookie-file FILE"),
    ("--user --http-user --http-passwd --http-password --password", ShortOption.login),
    (
      "--max-download-limit --max-overall-download-limit --bwlimit --rate --limit",
      "use --limit-rate BYTES"
    ),
    ("--tries --retry --retries --max-tries --low-level-retries", "use --max-attempts N"),
    ("--retry-delay --waitretry", "use --retry-wait DURATION"),
    ("--connect-timeout --read-timeout", "use --timeout DURATION"),
    (
      "--max-time", "there is no limit of the total time; --timeout limits the time without data"
    ),
    (
      "--timestamping -z --time-cond --conditional-get --update --remote-time", ShortOption.times
    ),
    (
      "-nc --no-clobber --allow-overwrite --overwrite --force --clobber",
      "use --if-exists number, fail, keep or replace"
    ),
    ("--head --spider --dry-run", ShortOption.withoutDownload),
    ("--location -f --fail", ShortOption.isDefault),
    ("-sS --silent", "use --quiet"),
    ("-4 -6 --ipv4 --ipv6 --interface --resolve", "dlstore has no such option"),
    ("--json", "use --format json"), ("--all-proxy --https-proxy --http-proxy", "use --proxy URL"),
    ("-w --watch --follow", "use 'dlstore list --watch'"),
    ("--no-verbose -nv", "use --quiet"),
    (
      "--progress --progress-bar -#",
      "progress bars are shown on a terminal; --no-progress has none"
    ),
    ("--wait --random-wait --sleep-interval", wait),
    ("-a --append-output --output-file --log", "use 2>> FILE of the shell for the messages"),
    ("--background", ShortOption.background),
    ("--mirror-site --convert-links --page-requisites", ShortOption.links),
    ("--concurrent-fragments", "use --connections N"),
    ("-J --remote-header-name --content-disposition", ShortOption.fileName),
    ("--create-dirs --remote-name-all", ShortOption.isDefault),
    ("--no-overwrites --auto-file-renaming", "use --if-exists number, fail, keep or replace"),
    ("--file-allocation", "use --preallocate none, sparse or full"),
    ("--cookies", "use --cookie-file FILE"),
    ("--exec --on-download-complete", "use --on-complete CMD"),
    ("--on-download-error", "use --on-error CMD"),
    ("--lowest-speed-limit --speed-limit", "use --lowest-speed BYTES"),
    ("--speed-time", "use --lowest-speed-time DURATION"),
    ("-X --request --data", "dlstore only sends GET requests"),
    ("-r --recursive -np --no-parent -nd", ShortOption.links),
    ("--range", "dlstore downloads whole files"),
    (
      "-K --http1.1 --http2 --compressed --no-proxy --save-cookies --cookie-jar",
      "dlstore has no such option"
    ),
  ]

  private static let wait =
    "dlstore does not wait between downloads; use --per-host N or --limit-rate BYTES"

  private static let commands = [
    "ps": "did you mean 'list'?", "info": "did you mean 'inspect'?",
    "delete": "did you mean 'remove'?",
    "top": "did you mean 'list --watch'?", "watch": "did you mean 'list --watch'?",
    "start": "did you mean 'run' (the engine) or 'resume' (a download)?",
    "stop": "did you mean 'pause'? Ctrl-C or SIGTERM stops the engine",
    "continue": "did you mean 'resume'?",
    "download": "did you mean 'get'?", "fetch": "did you mean 'get'?",
    "log": "did you mean 'inspect' for the failures of a download, or 'run --verbose'?",
    "update": "did you mean 'set'?", "edit": "did you mean 'set'?",
    "version": "did you mean '--version'?", "pull": "did you mean 'get'?",
    "logs": "did you mean 'inspect' for the failures of a download, or 'run --verbose'?",
    "daemon": "did you mean 'run'?", "serve": "did you mean 'run'?",
    "server": "did you mean 'run'?", "service": "did you mean 'run'?",
    "queue": "did you mean 'add', or 'list --state waiting'?", "jobs": "did you mean 'list'?",
    "unpause": "did you mean 'resume'?", "abort": "did you mean 'pause'?",
    "kill": "did you mean 'pause'?", "describe": "did you mean 'inspect'?",
    "check": "did you mean 'verify' (the store) or 'verify-file' (a file)?",
  ]
}
