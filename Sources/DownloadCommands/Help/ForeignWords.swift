internal import CommandLineSupport
internal import DownloadReports

/// Options and commands of other programs, and what `dlstore` has instead.
///
/// The options are those of curl, wget, aria2c and others; the commands those of git, docker,
/// kubectl and apt.
enum ForeignWords {
  /// The commands that delete or drop something, which are never suggested for a mistyped word.
  static let destructiveCommands: Set = ["cancel", "restart", "remove", "rm", "purge"]

  /// Finds what `dlstore` has instead of an option; `nil` if the option is not known.
  ///
  /// - Parameters:
  ///   - name: The option with its dashes.
  ///   - value: The word after it, or the rest of its own word; `nil` if there is none.
  ///   - isList: Whether the command prints a list, and not events.
  /// - Returns: The option, with its hint.
  static func option(
    _ name: String,
    value: String? = nil,
    isList: Bool = true
  ) -> ForeignOption? {
    let isNumber = value?.first?.isNumber == true
    switch (name, value) {
    // curl's -x is a proxy, and aria2c's a number of connections.
    case ("-x", let value?) where Int(value) == nil: return .named("--proxy", "URL")
    case ("-x", _?),
      ("-s", _?) where isNumber, ("-N", _?) where isNumber:
      return .named("--connections", "N")
    case ("-s", _): return .words("--quiet")
    case ("-w", _?) where isNumber: return .absent(ForeignOption.wait)
    case ("-k", _?) where isNumber: return .named("--min-split", "BYTES")
    case ("-k", _): return .named("--insecure")
    // wget's -O has a value, and curl's has none.
    case ("-O", let value?) where value == "-" || !value.hasPrefix("-") && !value.contains("://"):
      return .named("-o", "NAME")
    case ("-O", _): return .omitted(ShortOption.fileName)
    // A list of kubectl, head, ls or docker.
    case ("-o", let value?) where isList && OutputFormat(rawValue: value) != nil:
      return .named("--format", "FORMAT")
    case ("-n", _?) where isList && isNumber: return .named("--limit", "N")
    case ("-a", _) where isList, ("-l", _) where isList:
      return .omitted("the list shows all downloads and their details")
    case ("--json", _) where !isList: return .words("--json-events")
    case ("--json", _): return .words("--format json")
    default: return .named(name)
    }
  }

  /// Returns the hint for a word in the place of a command; `nil` if it is not known.
  static func hint(forCommand word: String) -> String? {
    if word.contains("://") || URLText.completed(word) != nil {
      return "did you mean \(SuggestedCommand.text("get \(ShellWord.quoted(word))"))?"
    }
    return commands[word]
  }

  private static let completion =
    "'dlstore --generate-completion-script bash' prints a script for bash; zsh and fish work, too"

  /// The hints by the words.
  static let commands = [
    "ps": "did you mean 'list'?", "info": "did you mean 'inspect'?",
    "delete": "did you mean 'remove'?",
    "top": "did you mean 'list --watch'?", "watch": "did you mean 'list --watch'?",
    "start": "did you mean 'run' (the engine) or 'resume' (a download)?",
    "stop": "did you mean 'pause'? Ctrl-C or SIGTERM stops the engine",
    "continue": "did you mean 'resume'?",
    "download": "did you mean 'get'?", "fetch": "did you mean 'get'?",
    "log": "did you mean 'inspect' for the failures of a download, or 'run --verbose'?",
    "update": "did you mean 'refresh' or 'set'?", "edit": "did you mean 'set'?",
    "version": "did you mean '--version'?", "pull": "did you mean 'get'?",
    "logs": "did you mean 'inspect' for the failures of a download, or 'run --verbose'?",
    "daemon": "did you mean 'run'?",
    "server": "did you mean 'run'?", "service": "did you mean 'run'?",
    "queue": "did you mean 'add', or 'list --state waiting'?", "jobs": "did you mean 'list'?",
    "unpause": "did you mean 'resume'?", "abort": "did you mean 'pause'?",
    "kill": "did you mean 'pause'?", "describe": "did you mean 'inspect'?",
    "check": "did you mean 'verify' (the store) or 'verify-file' (a file)?",
    "clone": "did you mean 'get'?", "install": "did you mean 'get'?", "curl": "did you mean 'get'?",
    "wget": "did you mean 'get'?", "new": "did you mean 'add'?",
    "create": "did you mean 'add'?", "enqueue": "did you mean 'add'?",
    "push": "nothing is uploaded: 'add' stores a URL, and 'get' downloads it",
    "upload": "nothing is uploaded: 'add' stores a URL, and 'get' downloads it",
    "images": "did you mean 'list'?", "downloads": "did you mean 'list'?",
    "search": "did you mean 'list --match'?", "find": "did you mean 'list --match'?",
    "grep": "did you mean 'list --match'?", "attach": "did you mean 'list --watch'?",
    "progress": "did you mean 'list --watch'?", "monitor": "did you mean 'list --watch'?",
    "rmi": "did you mean 'remove'?", "del": "did you mean 'remove'?",
    "prune": "did you mean 'purge' (downloads) or 'compact' (the store)?",
    "clean": "did you mean 'purge' (downloads) or 'compact' (the store)?",
    "clear": "did you mean 'purge' (downloads) or 'compact' (the store)?",
    "gc": "did you mean 'compact'?", "vacuum": "did you mean 'compact'?",
    "mv": "did you mean 'set --filename'?", "rename": "did you mean 'set --filename'?",
    "move": "did you mean 'set --filename'?", "tag": "did you mean 'set --tag'?",
    "events": "did you mean 'run --json-events'?", "history": "did you mean 'inspect'?",
    "open": "did you mean 'inspect', which shows the path of the file?",
    "save": "did you mean 'export'?", "dump": "did you mean 'export'?",
    "load": "did you mean 'import'?", "upgrade": "did you mean 'migrate'?",
    "restore": "a backup is a store: give its folder to --store, or copy it back",
    "fsck": "did you mean 'verify'?", "doctor": "did you mean 'verify'?",
    "repair": "did you mean 'verify --repair' (the store) or 'verify-file --repair' (a file)?",
    "checksum": "did you mean 'verify-file'?", "df": "did you mean 'stats'?",
    "du": "did you mean 'stats'?", "count": "did you mean 'stats'?",
    "throttle": "did you mean 'limit'?", "speed": "did you mean 'limit'?",
    "login": "did you mean the option --netrc of 'get' and 'add'?",
    "init": "'add' and 'run' create the store, so nothing is to be initialized",
    "completion": completion, "completions": completion,
    "settings": "did you mean 'config'?", "quit": "Ctrl-C or SIGTERM stops the engine",
    "exit": "Ctrl-C or SIGTERM stops the engine", "shutdown": "Ctrl-C or SIGTERM stops the engine",
  ]
}
