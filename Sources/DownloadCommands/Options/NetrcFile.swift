/// A netrc file: logins and passwords by host, as curl reads it.
///
/// Tokens are separated by white space. A token in double quotes may contain white space, and the
/// escapes `\"`, `\\`, `\n`, `\r` and `\t`. A token that begins with `#` begins a comment to the
/// end of its line. The definition of a macro extends to the next empty line.
struct NetrcFile: Sendable, Equatable {
  /// A login and its password.
  struct Credentials: Sendable, Equatable {
    var login: String
    var password: String
  }

  /// A file that cannot be parsed.
  struct Invalid: Error, Equatable {
    var line: Int
    var reason: String
  }

  private struct Machine: Equatable {
    /// The host in lower case; `nil` for `default`.
    var host: String?
    var login: String?
    var password: String?
  }

  private var machines: [Machine] = []

  /// Parses a file.
  ///
  /// - Throws: ``Invalid``.
  init(_ text: String) throws(Invalid) {
    var tokens = Tokens(text)
    while let token = try tokens.next() {
      switch token.lowercased() {
      case "machine":
        machines.append(Machine(host: try tokens.value(of: token).lowercased()))
      case "default": machines.append(Machine())
      case "login": try set(\.login, token, &tokens)
      case "password": try set(\.password, token, &tokens)
      case "account": _ = try tokens.value(of: token)
      case "macdef": tokens.skipMacro()
      // The token may be a password that is not quoted, so the message does not repeat it.
      default: throw Invalid(line: tokens.line, reason: "expected machine, login or password")
      }
    }
  }

  private mutating func set(
    _ property: WritableKeyPath<Machine, String?>,
    _ token: String,
    _ tokens: inout Tokens
  ) throws(Invalid) {
    let value = try tokens.value(of: token)
    guard !machines.isEmpty else {
      throw Invalid(line: tokens.line, reason: "'\(token)' has no machine above it")
    }
    machines[machines.count - 1][keyPath: property] = value
  }

  /// Returns the credentials for a host: those of the first machine with its name, or else of the
  /// first default; `nil` if there are none.
  ///
  /// A machine without a login or without a password has none.
  func credentials(for host: String) -> Credentials? {
    let host = host.lowercased()
    let machine =
      machines.first { $0.host == host && $0.login != nil && $0.password != nil }
      ?? machines.first { $0.host == nil && $0.login != nil && $0.password != nil }
    guard let login = machine?.login, let password = machine?.password else { return nil }
    return Credentials(login: login, password: password)
  }
}

/// The tokens of a netrc file.
private struct Tokens {
  private var rest: Substring.UnicodeScalarView
  /// The line of the next token, from 1.
  private(set) var line = 1

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

  /// Returns the next token; `nil` at the end.
  mutating func next() throws(NetrcFile.Invalid) -> String? {
    while let scalar = rest.first {
      if Self.isBlank(scalar) {
        _ = pop()
      } else if scalar == "#" {
        while let next = rest.first, next != "\n" { _ = pop() }
      } else if scalar == "\"" {
        return try quoted()
      } else {
        let token = rest.prefix { !Self.isBlank($0) }
        rest = rest.dropFirst(token.count)
        return String(token)
      }
    }
    return nil
  }

  /// Returns the value after a keyword.
  mutating func value(of keyword: String) throws(NetrcFile.Invalid) -> String {
    let start = line
    guard let value = try next() else {
      throw NetrcFile.Invalid(line: start, reason: "'\(keyword)' has no value")
    }
    return value
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
