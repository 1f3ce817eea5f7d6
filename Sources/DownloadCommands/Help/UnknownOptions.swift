internal import CommandLineSupport
internal import DownloadReports

/// The options of a command line that its command does not have, and the command line with those of
/// `dlstore` in their place.
///
/// The parser stops at the first one, so a user would meet them one at a time.
struct UnknownOptions {
  /// An unknown option.
  struct Found: Sendable {
    /// The option with its dashes, such as `-f` of `-fsSL`.
    var name: String
    /// What `dlstore` has instead; `nil` if the option is not known at all.
    var option: ForeignOption?
  }

  /// The words that contain unknown options, in their order.
  private(set) var words: [String] = []
  /// The unknown options, in their order.
  private(set) var found: [Found] = []
  /// The arguments with the options of `dlstore`; `nil` if one has no counterpart.
  private(set) var translated: [String]?

  private let flags: Set<String>
  private let options: Set<String>
  /// All options of the command.
  private var own: Set<String> { options.union(flags) }
  private let isList: Bool
  private var result: [String]
  private var rest: ArraySlice<String>

  /// Finds the unknown options.
  ///
  /// - Parameters:
  ///   - arguments: The arguments without the program's name.
  ///   - scan: The scan of the arguments.
  init(_ arguments: [String], _ scan: CommandLineScan) {
    options = Set(scan.arguments.filter { $0.kind == .option }.flatMap(\.spellings))
    flags = Set(scan.arguments.filter { $0.kind == .flag }.flatMap(\.spellings))
      .union(["-h", "--help", "--version"])
    isList = options.contains("--format")
    // The options before the name are those of all commands.
    result = Array(arguments.prefix(scan.endOfName))
    rest = arguments.dropFirst(scan.endOfName)
    while let word = rest.popFirst() {
      if word == "--" {
        result += [word] + rest
        break
      }
      add(word)
    }
    let own = own
    let isPossible = found.allSatisfy { found in
      found.option?.words?.allSatisfy { !$0.hasPrefix("-") || own.contains($0) } ?? false
    }
    translated = isPossible && !found.isEmpty ? result : nil
  }

  private mutating func add(_ word: String) {
    guard word.hasPrefix("-"), word != "-" else { return result.append(word) }
    let name = String(word.prefix { $0 != "=" })
    if options.contains(name) {
      result.append(word)
      if name == word, let value = rest.popFirst() { result.append(value) }
    } else if flags.contains(name) {
      result.append(word)
    } else if name.hasPrefix("--") || ForeignOption.all[word] != nil && word.count > 2 {
      words.append(name)
      let attached = name == word ? nil : String(word.dropFirst(name.count + 1))
      replace(name, attached: attached)
    } else {
      addLetters(word)
    }
  }

  /// Adds a word of short options, the last of which may have its value in the same word.
  private mutating func addLetters(_ word: String) {
    var letters = word.dropFirst()
    let count = found.count
    while let letter = letters.popFirst() {
      let name = "-\(letter)"
      if flags.contains(name) {
        result.append(name)
      } else if options.contains(name) {
        result.append(name)
        if let value = letters.isEmpty ? rest.popFirst() : String(letters) { result.append(value) }
        break
      } else {
        let attached = letters.isEmpty ? nil : String(letters)
        let isUsed = replace(
          name,
          attached: isValue(attached, of: name) ? attached : nil,
          next: attached
        )
        if isUsed || attached.map({ !$0.allSatisfy(\.isLetter) }) ?? false { break }
      }
    }
    guard found.count > count else { return }
    words.append(found.count == count + 1 ? found[count].name : word)
  }

  /// Whether the letters after a short option may be its value: `-OJ` of curl is two options.
  private func isValue(_ letters: String?, of name: String) -> Bool {
    letters.map { name != "-O" || $0 == "-" || $0.contains(".") || $0.contains("/") } ?? false
  }

  /// Appends what replaces an unknown option.
  ///
  /// - Parameters:
  ///   - name: The option with its dashes.
  ///   - attached: The value in the option's own word; `nil` if there is none.
  ///   - next: The letters after the option in its word; `nil` if there are none.
  /// - Returns: Whether a value in the option's own word was used.
  @discardableResult
  private mutating func replace(_ name: String, attached: String?, next: String? = nil) -> Bool {
    let value = attached ?? (next == nil ? rest.first : nil)
    let option = ForeignWords.option(name, value: value, isList: isList)
    found.append(Found(name: name, option: option))
    guard let option else { return false }
    // `-x16 -s16` of aria2c is one option here; the later value counts.
    if option.value == .kept, let words = option.words, words.count == 1,
      let earlier = result.firstIndex(of: words[0]), earlier + 1 < result.count
    {
      result.removeSubrange(earlier...earlier + 1)
    }
    result += option.words ?? []
    guard option.value != .none, let value = attached ?? (next == nil ? rest.popFirst() : nil)
    else { return false }
    if option.value == .kept { result.append(value) }
    return attached != nil
  }

  // MARK: The message

  /// Makes the first line of the message.
  ///
  /// - Parameters:
  ///   - other: The hint for an option that only other commands have.
  ///   - isCommand: Whether a command line can be run.
  /// - Returns: The line; `nil` if nothing is known about the options.
  func line(other: (String) -> String?, isCommand: ([String]) -> Bool) -> String? {
    guard let hints = allHints(other) else { return nil }
    let quoted = words.map { "'\($0.prefix { $0 != "=" })'" }
    let subject =
      "Unknown \(quoted.count == 1 ? "option" : "options") \(quoted.joined(separator: ", "))"
    return "\(subject): \(hints)." + (command(isCommand).map { " This works: \($0)" } ?? "")
  }

  /// Returns the hints, each with the options for which it is given if there are several.
  private func allHints(_ other: (String) -> String?) -> String? {
    var hints: [(names: [String], hint: String)] = []
    var isKnown = false
    for found in found {
      let known = found.option.map { hint(of: $0, other) } ?? other(found.name)
      isKnown = isKnown || known != nil
      let text = known ?? "dlstore has no such option"
      if let index = hints.firstIndex(where: { $0.hint == text }) {
        if !hints[index].names.contains(found.name) { hints[index].names.append(found.name) }
      } else {
        hints.append(([found.name], text))
      }
    }
    guard isKnown else { return nil }
    guard found.count > 1 else { return hints.first?.hint }
    return hints.map { "\($0.names.joined(separator: " ")): \($0.hint)" }.joined(separator: ". ")
  }

  /// Returns the hint of an option; if only other commands have its counterpart, their names.
  private func hint(of option: ForeignOption, _ other: (String) -> String?) -> String {
    guard let name = option.words?.first, name.hasPrefix("-"), !own.contains(name),
      let commands = other(name)
    else { return option.hint }
    return commands.hasPrefix("use ") ? commands : "\(option.hint); \(commands)"
  }

  /// Returns the command that works, in quotation marks; `nil` if none is known, or if it would show
  /// a secret.
  func command(_ isCommand: ([String]) -> Bool) -> String? {
    guard let translated, isCommand(translated) else { return nil }
    return SuggestedCommand.line(translated)
  }
}
