internal import ArgumentParser
internal import CommandLineSupport

/// A command line that a client of `dlstore serve` has the server run.
///
/// The server runs the command itself, so its output and its exit code are those of the command. Only
/// what is listed here is allowed: commands and options that read no other file than the store, start no
/// program, connect nowhere, and choose no folder outside of those of the store. The client reads the list
/// of `add --input-file` and sends its text.
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
  /// The words after the program's name, as they were typed.
  let arguments: [String]
  /// The path of the list, which the client reads and sends; `nil` if there is none.
  let inputFile: String?
  /// The options, each with its value in the same word.
  private let options: [String]
  /// The positional words.
  private let names: [String]

  /// Checks a command line.
  ///
  /// - Parameters:
  ///   - arguments: The words after the program's name.
  ///   - hasInput: Whether the client sends the text of the file of `--input-file`.
  ///   - server: The option or the variable that names the server, for messages.
  /// - Throws: ``Refusal``.
  init(
    _ arguments: [String],
    hasInput: Bool = false,
    server: String = "--server"
  ) throws(Refusal) {
    guard let word = arguments.first, !word.hasPrefix("-") else {
      throw Refusal("\(server) needs a command, such as 'list'")
    }
    let scan = DLStoreCommand.scan([word])
    name = scan.command.configuration.commandName ?? word
    guard var allowed = Self.readers[name] ?? Self.writers[name] else {
      throw Refusal(
        "'\(word)' needs the files of the store, so it does not work with \(server): run it on that "
          + "machine, or on a store of this one with --store PATH"
      )
    }
    self.arguments = arguments
    if hasInput, name == "add" { allowed.insert("--input-file") }
    var reading = Reading(scan.arguments, allowed, command: word, server)
    try reading.read(arguments.dropFirst())
    (options, names) = (reading.options, reading.names)
    inputFile = reading.inputFile
    isChange = Self.writers[name] != nil || name == "limit" && !names.isEmpty
  }

  /// Returns the words with which the server runs the command.
  ///
  /// The parser can read them in one way only, in which they have been checked.
  ///
  /// - Parameter path: The path of the store.
  /// - Returns: The words after the program's name.
  func words(onStoreAt path: String) -> [String] {
    [name, "--store", path] + options + (names.isEmpty ? [] : ["--"] + names)
  }

  private static let selection: Set = ["--state", "--tag", "--type", "--match", "--host"]
  private static let targets = selection.union(["--all", "--quiet"])
  private static let asking = targets.union(["--dry-run", "--yes"])

  /// The options of the commands that change nothing; `limit` does with a rate.
  private static let readers: [String: Set<String>] = [
    "list": selection.union([
      "--sort", "--limit", "--format", "--json", "--quiet", "--columns", "--bytes", "--no-header",
      "--color",
    ]),
    "inspect": selection.union(["--json", "--verbose"]),
    "stats": ["--json", "--engine"],
    "limit": ["--json"],
  ]

  /// The options of the commands that change the store.
  private static let writers: [String: Set<String>] = [
    "add": [
      "--output", "--folder", "--folders-from-url", "--cut", "--tag", "--priority", "--mirror",
      "--key", "--checksum", "--header", "--user-agent", "--referer", "--type", "--paused",
      "--quiet", "--if-exists", "--limit-rate-per-download", "--connections-per-download",
      "--not-before", "--refresh-every", "--keep-versions",
    ],
    "pause": targets, "resume": targets.union(["--now"]), "retry": targets, "cancel": asking,
    "restart": asking, "remove": asking.union(["--with-file"]),
    "set": [
      "--state", "--match", "--host", "--with-tag", "--filename", "--type", "--tag", "--untag",
      "--priority", "--limit-rate-per-download", "--connections-per-download", "--not-before",
      "--refresh-every", "--keep-versions", "--mirror", "--url", "--quiet",
    ],
  ]
}

extension RemoteCommand {
  /// The reading of the words after a command's name, by the declarations of its options.
  private struct Reading {
    private(set) var options: [String] = []
    private(set) var names: [String] = []
    private(set) var inputFile: String?

    private let declared: [ArgumentInfo]
    private let allowed: Set<String>
    private let command: String
    private let server: String

    init(_ declared: [ArgumentInfo], _ allowed: Set<String>, command: String, _ server: String) {
      (self.declared, self.allowed, self.command, self.server) =
        (declared, allowed, command, server)
    }

    mutating func read(_ words: ArraySlice<String>) throws(Refusal) {
      var rest = words
      while let word = rest.popFirst() {
        if word == "--" {
          names += rest
          return
        }
        guard word.hasPrefix("-") else {
          names.append(word)
          continue
        }
        let isLong = word.hasPrefix("--")
        let name = isLong ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
        let option = try option(name)
        var value = word.count > name.count ? String(word.dropFirst(name.count)) : nil
        if option.kind == .flag {
          // Short options may be one word, as in -qy.
          if let letters = value, !isLong { rest.insert("-\(letters)", at: rest.startIndex) }
          options.append(isLong ? word : name)
          continue
        }
        if value?.hasPrefix("=") == true { value?.removeFirst() }
        guard let value = value ?? rest.popFirst() else {
          // The parser says that the value is missing.
          options.append(name)
          return
        }
        try check(value, of: name, option)
        if option.longName == "--input-file" { inputFile = value }
        options.append("\(option.longName)=\(value)")
      }
    }

    /// Returns the declaration of an option that is allowed.
    private func option(_ name: String) throws(Refusal) -> ArgumentInfo {
      guard let option = declared.first(where: { $0.spellings.contains(name) }) else {
        throw Refusal("'\(command)' has no option '\(name)'")
      }
      guard option.spellings.contains(where: allowed.contains) else {
        throw Refusal(
          "\(name) of '\(command)' does not work with \(server): \(Self.reason(option.longName))"
        )
      }
      return option
    }

    private func check(_ value: String, of name: String, _ option: ArgumentInfo) throws(Refusal) {
      guard ["--output", "--folder"].contains(option.longName),
        value.hasPrefix("/") || value.hasPrefix("~")
      else { return }
      throw Refusal(
        "\(name) must be a path below the folder of the server's store: \(value) is a place on "
          + "that machine"
      )
    }

    /// Returns why an option of an allowed command is not allowed.
    private static func reason(_ option: String) -> String {
      switch option {
      case "--store", "--config": "the server has a store and settings of its own"
      case "--reveal-secrets": "secrets do not leave that machine"
      case "--watch", "--no-progress": "the server answers once, when the command has ended"
      case "--immutable": "the server may write to the store"
      case "--dry-run": "a client cannot make the server ask other servers"
      case "--input-file", "--metalink", "--metalink-location", "--checksum-file", "--cookie-file",
        "--netrc", "--netrc-file", "--adopt":
        "the server reads no files for a client"
      default: "the server does not offer it to a client"
      }
    }
  }
}

extension ArgumentInfo {
  /// The first long name with its dashes; a short one if there is no other.
  fileprivate var longName: String {
    spellings.first { $0.hasPrefix("--") } ?? spellings.first ?? ""
  }
}
