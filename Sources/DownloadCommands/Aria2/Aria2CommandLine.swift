internal import CommandLineSupport

/// The arguments of `aria2c`, by the rules of `getopt_long`.
///
/// Options and URLs may be in any order; `--` ends the options. A long name may be shortened to a prefix
/// that no other option has.
struct Aria2CommandLine: Sendable, Equatable {
  /// An argument that aria2c would refuse, too, or an option that is not supported.
  struct Problem: Error, Sendable, Hashable {
    var message: String
  }

  /// An option with its value.
  struct Given: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// What is asked for instead of downloads.
  enum Request: Sendable, Hashable {
    case version
    case help
  }

  /// The options, in their order.
  private(set) var options: [Given] = []
  /// The URLs, and the paths of Metalink documents.
  private(set) var operands: [String] = []
  private(set) var request: Request?

  /// Parses the arguments without the program's name.
  ///
  /// - Throws: ``Problem``.
  init(_ arguments: [String]) throws(Problem) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      } else if word.hasPrefix("--") {
        try takeLong(word.dropFirst(2), &rest)
      } else if word.hasPrefix("-"), word != "-" {
        try takeShort(word.dropFirst(), &rest)
      } else {
        operands.append(word)
      }
    }
  }

  /// The last value of an option; `nil` if it is not given.
  func value(of name: String) -> String? { options.last { $0.name == name }?.value }

  /// Whether an option is `true`; `nil` if it is not given.
  func flag(_ name: String) -> Bool? { value(of: name).map { $0 == "true" } }

  private mutating func takeLong(
    _ word: Substring,
    _ rest: inout ArraySlice<String>
  ) throws(Problem) {
    let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = word[..<(equals ?? word.endIndex)]
    let attached = equals.map { String(word[word.utf8.index(after: $0)...]) }
    if name == "version" || name == "help" {
      request = name == "version" ? .version : .help
      return
    }
    try take(try Self.option(named: name), attached, &rest)
  }

  private mutating func takeShort(
    _ word: Substring,
    _ rest: inout ArraySlice<String>
  ) throws(Problem) {
    guard let letter = word.first else { return }
    if letter == "v" || letter == "h" {
      request = letter == "v" ? .version : .help
      return
    }
    guard let option = Aria2Option.byShortName[letter] else {
      throw Problem(message: "unrecognized option '-\(letter)'")
    }
    let attached = word.dropFirst()
    // The value of `-cq` could only be `q`, and aria2c refuses it: several letters are not one word.
    try take(option, attached.isEmpty ? nil : String(attached), &rest)
  }

  private mutating func take(
    _ option: Aria2Option,
    _ attached: String?,
    _ rest: inout ArraySlice<String>
  ) throws(Problem) {
    let value: String
    switch option.value {
    case .boolean:
      value = attached ?? "true"
      // `remote-time` and a few others accept more words, which the table has as values.
      guard value == "true" || value == "false" else {
        throw Problem(message: "--\(option.name) must be true or false")
      }
    case .optional: value = attached ?? ""
    case .required:
      guard let given = attached ?? rest.popFirst() else {
        throw Problem(message: "--\(option.name) requires a value")
      }
      value = given
    }
    switch option.effect {
    case .refused(let reason):
      throw Problem(message: "the option --\(option.name) of aria2c \(reason)")
    case .refusedUnless(let usual, let reason) where value != usual:
      throw Problem(message: "--\(option.name)=\(value) of aria2c \(reason)")
    case .ignored, .refusedUnless: break
    case .download, .engine: options.append(Given(name: option.name, value: value))
    }
  }

  /// Finds an option by its name or by a prefix of it.
  private static func option(named name: Substring) throws(Problem) -> Aria2Option {
    if let option = Aria2Option.all[String(name)] { return option }
    let found = Aria2Option.all.values.filter { $0.name.hasPrefix(name) }
    if found.count == 1, let option = found.first { return option }
    guard found.isEmpty else {
      let names = found.map { "--\($0.name)" }.sorted().joined(separator: ", ")
      throw Problem(message: "option '--\(name)' is ambiguous: \(names)")
    }
    let names = Aria2Option.all.keys.sorted().map { "--\($0)" }
    let meant = Suggestion.nearest(to: "--\(name)", among: names)
    throw Problem(
      message: "unrecognized option '--\(name)'" + (meant.map { "; did you mean '\($0)'?" } ?? "")
    )
  }
}
