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
  ///   - name: The option with its dashes.
  ///   - value: The word after it; `nil` if there is none.
  ///   - isList: Whether the command prints downloads, and not events.
  /// - Returns: A sentence without a full stop.
  static func hint(
    forOption name: String,
    value: String? = nil,
    isList: Bool = true
  ) -> String? {
    // curl's -x is a proxy, and aria2c's a number of connections.
    if name == "-x", let value, Int(value) == nil { return "use --proxy URL" }
    if name == "--json", !isList { return "use --json-events" }
    if name == "-k", let value, value.first?.isNumber == true { return "use --min-split BYTES" }
    return options[name]
  }

  /// Returns the hint for a word in the place of a command; `nil` if it is not known.
  static func hint(forCommand word: String) -> String? {
    if word.contains("://") || URLText.completed(word) != nil {
      return "did you mean 'dlstore get \(word)'?"
    }
    return commands[word]
  }

  private static let options: [String: String] = {
    var options: [String: String] = [:]
    for (names, hint) in table {
      for name in names.split(separator: " ") { options[String(name)] = hint }
    }
    return options
  }()

  private static let table: [(names: String, hint: String)] = [
    (
      "-O --output-document --remote-name",
      "use -o NAME; the server's name is the default"
    ),
    ("-c -C --continue --continue-at", "a download always resumes; no option is needed"),
    (
      "-d -P --directory-prefix --output-dir --output-directory",
      "use --output-folder FOLDER, or --folder FOLDER below it"
    ),
    ("-x -s --split --max-connection-per-server", "use --connections N"),
    (
      "-Z --transfers --max-concurrent-downloads --parallel --parallel-max",
      "use --max-concurrent N"
    ),
    (
      "-k --insecure --no-check-certificate --check-certificate",
      "name the certificate to trust with --ca-certificate FILE"
    ),
    ("--cacert --ca-file", "use --ca-certificate FILE"),
    ("-E --cert --certificate", "use --client-certificate FILE"),
    ("--key --private-key", "use --client-key FILE"),
    ("--min-split-size", "use --min-split BYTES"),
    ("-U", "use -A TEXT, or --proxy URL for a proxy"),
    ("-b --cookie --load-cookies", "use --cookie-file FILE"),
    (
      "-u --user --http-user --http-passwd --http-password --password",
      "use --netrc, or --header 'Authorization: …'"
    ),
    (
      "--max-download-limit --max-overall-download-limit --bwlimit --rate --limit",
      "use --limit-rate BYTES"
    ),
    ("-t --tries --retry --retries --max-tries --low-level-retries", "use --max-attempts N"),
    ("--retry-delay --waitretry", "use --retry-wait DURATION"),
    ("-T --connect-timeout --read-timeout", "use --timeout DURATION"),
    (
      "-m --max-time", "there is no limit of the total time; --timeout limits the time without data"
    ),
    (
      "-N --timestamping -z --time-cond --conditional-get --update -R --remote-time",
      "dlstore does not compare or set the times of files"
    ),
    (
      "-nc --no-clobber --allow-overwrite --overwrite --force --clobber",
      "use --if-exists number, fail, keep or replace"
    ),
    ("-I --head --spider --dry-run", "dlstore cannot ask a server without downloading"),
    ("-L --location -f --fail", "this is the default; no option is needed"),
    ("-s -S -sS --silent", "use --quiet"),
    ("-4 -6 --ipv4 --ipv6 --interface --resolve", "dlstore has no such option"),
    ("--json", "use --format json"), ("--all-proxy --https-proxy --http-proxy", "use --proxy URL"),
  ]

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
  ]
}
