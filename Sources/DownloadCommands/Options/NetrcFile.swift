internal import DownloadStore

/// A netrc file: logins and passwords by host, as curl reads it.
///
/// Tokens are separated by white space. A token in double quotes may contain white space, and the
/// escapes `\"`, `\\`, `\n`, `\r` and `\t`. A token that begins with `#` begins a comment to the end
/// of its line; a value that begins with it is in quotes. The definition of a macro extends to the
/// next empty line. Keywords of other programs, such as `port` and `protocol`, and unknown tokens are ignored.
struct NetrcFile: Sendable, Equatable {
  /// A login and its password.
  struct Credentials: Sendable, Equatable {
    /// The login; empty if the file has only a password.
    var login: String
    var password: String
    /// Whether each character stands for one byte of the file, because it is not UTF-8.
    fileprivate(set) var hasBytes = false

    /// The login and the password, with a colon between them, as the bytes of the file.
    var bytes: [UInt8] {
      let text = "\(login):\(password)"
      return hasBytes
        ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        : Array(text.utf8)
    }
  }

  /// A file that cannot be parsed.
  struct Invalid: Error, Equatable {
    var line: Int
    var reason: String
  }

  private struct Machine: Equatable {
    /// The host in lower case and in ASCII; `nil` for `default`.
    var host: String?
    var login: String?
    var password: String?
  }

  private var machines: [Machine] = []
  private var hasBytes = false

  /// Parses the bytes of a file.
  ///
  /// If they are not UTF-8, the credentials are sent as they are.
  ///
  /// - Throws: ``Invalid``.
  init(bytes: [UInt8]) throws(Invalid) {
    if let text = String(validating: bytes, as: UTF8.self) {
      try self.init(text)
    } else {
      try self.init(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))
      hasBytes = true
    }
  }

  /// Parses a file.
  ///
  /// - Throws: ``Invalid``.
  init(_ text: String) throws(Invalid) {
    var tokens = Tokens(text)
    var firstLine: Int?
    while let token = try tokens.next() {
      firstLine = firstLine ?? tokens.line
      switch token.lowercased() {
      case "machine":
        machines.append(Machine(host: RequestURL.comparableHost(try tokens.value())))
      case "default": machines.append(Machine())
      case "login": set(\.login, try tokens.value())
      case "password": set(\.password, try tokens.value())
      case "macdef": tokens.skipMacro()
      case let word where Tokens.keywords.contains(word): _ = try tokens.value()
      // Of a program that is not known here.
      default: break
      }
    }
    // The first token may be a password, so the message does not repeat it.
    if machines.isEmpty, let firstLine, !tokens.hasMacro {
      throw Invalid(line: firstLine, reason: "this is not a netrc file: it names no machine")
    }
  }

  /// Sets a value of the last machine; without one, or once it has a login and a password, the value
  /// is ignored.
  private mutating func set(_ property: WritableKeyPath<Machine, String?>, _ value: String) {
    guard let machine = machines.last, machine.login == nil || machine.password == nil else {
      return
    }
    machines[machines.count - 1][keyPath: property] = value
  }

  /// Returns the credentials for a host: those of the first machine with its name, or else of the
  /// first default; `nil` if there are none.
  ///
  /// A machine without a password has none. One without a login has an empty one, unless a later
  /// machine of that name has a login.
  ///
  /// - Parameters:
  ///   - host: The host, in any case, in ASCII or Unicode.
  ///   - allowsDefault: Whether the default applies.
  /// - Returns: The credentials.
  func credentials(for host: String, allowsDefault: Bool = true) -> Credentials? {
    let host = RequestURL.comparableHost(host)
    let candidates = machines.filter { $0.password != nil }
    func best(_ host: String?) -> Machine? {
      let named = candidates.filter { $0.host == host }
      return named.first { $0.login != nil } ?? named.first
    }
    let machine = best(host) ?? (allowsDefault ? best(nil) : nil)
    guard let machine, let password = machine.password else { return nil }
    return Credentials(login: machine.login ?? "", password: password, hasBytes: hasBytes)
  }
}

/// The tokens of a netrc file.
private struct Tokens {
  /// The words that are followed by a value, except `default`.
  static let keywords: Set = [
    "machine", "default", "login", "password", "account", "macdef", "method", "org", "port",
    "protocol",
  ]

  private var rest: Substring.UnicodeScalarView
  /// The line of the next token, from 1.
  private(set) var line = 1
  /// Whether a macro was skipped.
  private(set) var hasMacro = false

  init(_ text: String) {
    rest = text[...].unicodeScalars
    if rest.first == "\u{FEFF}" { rest.removeFirst() }
  }

  private mutating func pop() -> Unicode.Scalar? {
    guard let scalar = rest.popFirst() else { return nil }
    if scalar == "\n" { line += 1 }
    return scalar
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
  }

  private mutating func skipBlanks() {
    while let scalar = rest.first, Self.isBlank(scalar) { _ = pop() }
  }

  /// Skips blanks and comments.
  private mutating func skipComments() {
    skipBlanks()
    while rest.first == "#" {
      while let next = rest.first, next != "\n" { _ = pop() }
      skipBlanks()
    }
  }

  /// Returns the next token that is not a value; `nil` at the end.
  mutating func next() throws(NetrcFile.Invalid) -> String? {
    skipComments()
    return rest.isEmpty ? nil : try token()
  }

  /// Returns the value after a keyword; empty if there is none, because another keyword follows on
  /// a later line, or the file ends.
  mutating func value() throws(NetrcFile.Invalid) -> String {
    let start = line
    skipComments()
    guard let first = rest.first else { return "" }
    guard line == start || first == "\"" else {
      let word = String(rest.prefix { !Self.isBlank($0) })
      return Self.keywords.contains(word.lowercased()) ? "" : try token()
    }
    return try token()
  }

  private mutating func token() throws(NetrcFile.Invalid) -> String {
    if rest.first == "\"" { return try quoted() }
    let token = rest.prefix { !Self.isBlank($0) }
    rest = rest[token.endIndex...]
    return String(token)
  }

  private mutating func quoted() throws(NetrcFile.Invalid) -> String {
    let start = line
    _ = pop()
    var token = String.UnicodeScalarView()
    while let scalar = pop() {
      switch scalar {
      case "\"": return String(token)
      case "\n": throw NetrcFile.Invalid(line: start, reason: "a quotation mark is missing")
      case "\\":
        guard let escaped = pop() else { break }
        switch escaped {
        case "n": token.append("\n")
        case "r": token.append("\r")
        case "t": token.append("\t")
        default: token.append(escaped)
        }
      default: token.append(scalar)
      }
    }
    throw NetrcFile.Invalid(line: start, reason: "a quotation mark is missing")
  }

  /// Skips the definition of a macro: all lines up to an empty one.
  mutating func skipMacro() {
    hasMacro = true
    var isEmptyLine = false
    while let scalar = pop() {
      if scalar == "\n" {
        if isEmptyLine { return }
        isEmptyLine = true
      } else if scalar != "\r" {
        isEmptyLine = false
      }
    }
  }
}
