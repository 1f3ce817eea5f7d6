/// A command line that a client of `dlstore serve` has the server run.
///
/// The server runs the command itself, so its output and its exit code are those of the command. Only
/// what is listed here is allowed: commands and options that read no other file than the store, start no
/// program, connect nowhere, and choose no folder outside of those of the store.
struct RemoteCommand: Sendable, Hashable {
  /// Why a command line is not run on the server, for the user.
  struct Refusal: Error, Hashable {
    var message: String

    init(_ message: String) { self.message = message }
  }

  /// The command's name.
  let name: String
  /// Whether the command changes the store.
  let isChange: Bool
  /// The words after the program's name.
  let arguments: [String]

  /// Checks a command line.
  ///
  /// - Parameter arguments: The words after the program's name.
  /// - Throws: ``Refusal``.
  init(_ arguments: [String]) throws(Refusal) {
    guard let word = arguments.first, !word.hasPrefix("-") else {
      throw Refusal("--server needs a command after it, such as 'list'")
    }
    name = Self.aliases[word] ?? word
    self.arguments = arguments
    if let options = Self.readers[name] {
      isChange = name == "limit" && arguments.contains { !$0.hasPrefix("-") && $0 != word }
      try Self.check(arguments.dropFirst(), options, of: word)
    } else if let options = Self.writers[name] {
      isChange = true
      try Self.check(arguments.dropFirst(), options, of: word)
    } else {
      throw Refusal(
        "'\(word)' needs the files of the store, so it does not work with --server: run it on that "
          + "machine"
      )
    }
  }

  private static let aliases = ["ls": "list", "status": "list", "show": "inspect", "rm": "remove"]
  private static let selection: Set = ["--state", "--tag", "--type", "--match", "--host"]
  private static let targets = selection.union(["--all", "-q", "--quiet"])
  private static let asking = targets.union(["--dry-run", "--yes", "-y"])

  /// The options of the commands that change nothing; `limit` does with a rate.
  private static let readers: [String: Set<String>] = [
    "list": selection.union([
      "--sort", "--limit", "--format", "--json", "-q", "--quiet", "--columns", "--bytes",
      "--no-header", "--color",
    ]),
    "inspect": selection.union(["--json", "-v", "--verbose"]),
    "stats": ["--json", "--engine"],
    "limit": ["--json"],
  ]

  /// The options of the commands that change the store.
  private static let writers: [String: Set<String>] = [
    "add": [
      "-o", "--output", "--out", "--folder", "--folders-from-url", "--cut", "--tag", "--priority",
      "--mirror", "--key", "--checksum", "-H", "--header", "-A", "--user-agent", "-e", "--referer",
      "--type", "--paused", "-q", "--quiet", "--if-exists", "--limit-rate-per-download",
      "--connections-per-download", "--not-before", "--refresh-every", "--keep-versions",
    ],
    "pause": targets, "resume": targets.union(["--now"]), "retry": targets, "cancel": asking,
    "restart": asking, "remove": asking.union(["--with-file", "--with-files"]),
    "set": [
      "--state", "--match", "--host", "--with-tag", "--filename", "--type", "--tag", "--untag",
      "--priority", "--limit-rate-per-download", "--connections-per-download", "--not-before",
      "--refresh-every", "--keep-versions", "--url", "-q", "--quiet",
    ],
  ]

  /// The options of `add` whose values are places of files.
  private static let places: Set = ["-o", "--output", "--out", "--folder"]

  private static func check(
    _ words: ArraySlice<String>,
    _ options: Set<String>,
    of command: String
  ) throws(Refusal) {
    var previous = ""
    for word in words {
      let name = word.hasPrefix("-") ? String(word.prefix { $0 != "=" }) : ""
      // A value that begins with a hyphen is refused, too: it could be read as an option.
      guard name.isEmpty || options.contains(name) else {
        throw Refusal(
          "\(name) of '\(command)' does not work with --server: it is about files or programs of this "
            + "machine, or unknown"
        )
      }
      let value = name.isEmpty ? word : String(word.dropFirst(name.utf8.count + 1))
      let option = name.isEmpty ? previous : name
      if places.contains(option), value.hasPrefix("/") || value.hasPrefix("~") {
        throw Refusal(
          "\(option) must be a path below the folder of the server's store: \(value) is a place on "
            + "that machine"
        )
      }
      previous = name == word ? name : ""
    }
  }
}
