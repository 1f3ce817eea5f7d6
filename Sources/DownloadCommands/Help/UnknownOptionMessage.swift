internal import CommandLineSupport
internal import DownloadReports

/// What is said about options that a command does not have.
struct UnknownOptionMessage {
  /// The option that the parser has found.
  private let name: String
  private let arguments: [String]
  private let scan: CommandLineScan

  init(_ name: String, _ arguments: [String], _ scan: CommandLineScan) {
    (self.name, self.arguments, self.scan) = (name, arguments, scan)
  }

  /// The first line of the message, without `Error: `.
  var line: String {
    let message = "Unknown option '\(name)'"
    if Int(name) != nil { return "\(message): no value here may be negative." }
    if scan.names.isEmpty, let hint = Self.hintWithoutCommand(arguments) {
      return "\(message): \(hint)."
    }
    let unknown = UnknownOptions(arguments, scan)
    // An option of this command is the better answer.
    if unknown.found.count < 2, unknown.translated == nil, let hint = ownHint(for: name) {
      return "\(message): \(hint)."
    }
    if let line = unknown.line(other: ownHint, isCommand: Self.isCommand) { return line }
    guard name.hasPrefix("--") else { return message }
    let near = Suggestion.text(for: name, among: spellings + ["--help", "--version"])
    guard near.isEmpty, let other = Suggestion.nearest(to: name, among: Self.spellings) else {
      return near.isEmpty ? message : "\(message).\(near)"
    }
    // A mistyped option of another command.
    let hint = ownHint(for: other).map { " '\(other)': \($0)." } ?? ""
    return "\(message). Did you mean '\(other)'?\(hint)"
  }

  /// Returns the hint for a command line with a URL that names no command; `nil` if it has no URL.
  static func hintWithoutCommand(_ arguments: [String]) -> String? {
    let hasURL = arguments.contains { $0.contains("://") && !$0.hasPrefix("-") }
    guard hasURL else { return nil }
    let command = getCommand(arguments).map { "; this works: \($0)" }
    return "a command is missing" + (command ?? ": 'get' downloads a URL")
  }

  /// Returns `get` with the arguments, in quotation marks; `nil` if it cannot be run.
  static func getCommand(_ arguments: [String]) -> String? {
    let words = ["get"] + arguments
    let unknown = UnknownOptions(words, DLStoreCommand.scan(words))
    guard unknown.found.isEmpty else { return unknown.command(isCommand) }
    return isCommand(words) ? SuggestedCommand.line(words) : nil
  }

  /// The long options of the command.
  private var spellings: [String] { scan.arguments.flatMap(\.spellings).filter(Self.isLong) }

  /// The long options of all commands.
  private static var spellings: [String] {
    let commands = CommandInfo(of: DLStoreCommand.self).visibleCommands
    return Set(commands.flatMap(\.visibleArguments).flatMap(\.spellings).filter(isLong)).sorted()
  }

  private static func isLong(_ name: String) -> Bool { name.hasPrefix("--") }

  private static func isCommand(_ arguments: [String]) -> Bool {
    (try? DLStoreCommand.command(of: arguments)) != nil
  }

  /// Returns the hint for an option that other commands have; `nil` if none has it.
  private func ownHint(for name: String) -> String? {
    let selects = scan.arguments.contains { $0.spellings.contains("--match") }
    switch (scan.names.first, name) {
    case ("add", "--output-folder"), ("add", "--dir"):
      return "use --folder FOLDER below the folder for files, -o /PATH/NAME, or 'get'"
    case (_, RemoteOptions.server), (_, RemoteOptions.tokenFile):
      return "write it before the command, as in 'dlstore --server URL list'"
    case ("list", "--all"): return "without a selection, all are shown"
    case (_, "--all") where selects: return "--match '*' selects all downloads"
    default: break
    }
    // Another program's meaning of a name is likelier than that of another command.
    guard ForeignOption.all[name] == nil else { return nil }
    let commands = CommandInfo(of: DLStoreCommand.self).visibleCommands.filter { command in
      command.visibleArguments.contains { !$0.isBuiltIn && $0.spellings.contains(name) }
    }
    .map { "'\($0.fullName)'" }
    guard let last = commands.last else { return nil }
    let isMany = commands.count > 6
    let names = (isMany ? commands.prefix(3) : commands.dropLast()).joined(separator: ", ")
    let hint =
      "it is an option of " + (names.isEmpty ? last : "\(names) and \(isMany ? "others" : last)")
    let isOfAdd = scan.names == ["run"] && commands.contains("'dlstore add'")
    return isOfAdd ? "\(hint); 'run' runs what 'add' has stored" : hint
  }
}
