internal import CommandLineSupport

/// `--server` and its options, which stand before the command's name.
///
/// The parser does not know them: it would also find those of `dlstore` behind the name of a command,
/// whose `--ca-certificate` is another option.
struct RemoteOptions: Sendable, Hashable {
  /// The value of each option that is given.
  private(set) var given: [String: String] = [:]
  /// The words without these options.
  private(set) var words: [String] = []

  /// The option that names the server.
  static let server = "--server"
  static let tokenFile = "--token-file"
  static let certificate = "--ca-certificate"
  private static let own: Set = [server, tokenFile, certificate]

  /// Reads the options before the command's name.
  ///
  /// - Parameter arguments: The words after the program's name.
  /// - Throws: ``CommandFailure`` with `usage` for a missing value.
  init(_ arguments: [String]) throws(CommandFailure) {
    var rest = arguments[...]
    while let word = rest.first {
      let name = String(word.prefix { $0 != "=" })
      let isOwn = Self.own.contains(name)
      guard isOwn || name == "--store" || name == "--config" else { break }
      rest.removeFirst()
      let value = name == word ? rest.popFirst() : String(word.dropFirst(name.count + 1))
      if !isOwn {
        words.append(word)
        if name == word, let value { words.append(value) }
      } else if let value, !value.isEmpty {
        given[name] = value
      } else {
        throw CommandFailure(.usage, "\(name) needs a value")
      }
    }
    words += rest
  }
}
