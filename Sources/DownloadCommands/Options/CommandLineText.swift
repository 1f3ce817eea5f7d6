internal import CommandLineSupport
internal import DownloadStore

/// The percent-encoding of bytes that are not text.
enum PercentEncoding {
  /// Returns the bytes as text, in which each byte above ASCII is percent-encoded.
  ///
  /// A server receives these bytes as they were given, in whatever encoding they are.
  static func encodedBytes(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for byte in bytes {
      if byte < 0x80 {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The arguments of this process, and what messages show of them.
enum CommandLineText {
  /// The arguments without the program's name.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for one that is not UTF-8, and for a current folder or a
  ///   variable that is not.
  static func arguments() throws -> [String] {
    try CommandLineArguments.ofProcess(reading: isRead, encodedURL)
  }

  /// Whether the value of an environment variable matters, and not only that it is set.
  private static func isRead(_ variable: String) -> Bool {
    variable.hasPrefix(Setting.variablePrefix) || otherVariables.contains(variable)
  }

  private static let otherVariables: Set = [
    "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR", "NOTIFY_SOCKET", "SSL_CERT_FILE",
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  /// Converts an argument; a URL that is not UTF-8 is requested as its bytes are.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for another argument that is not UTF-8.
  static func argument(_ bytes: [UInt8], at position: Int) throws -> String {
    try CommandLineArguments.argument(bytes, at: position, encodedURL)
  }

  private static func encodedURL(_ bytes: [UInt8]) -> String? {
    let encoded = PercentEncoding.encodedBytes(bytes)
    let start = encoded.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://" ? encoded : nil
  }

  /// Options of other programs, such as curl, whose values are credentials.
  private static let credentialOptions: Set = ["-u", "-U", "-b", "--user", "--proxy-user", "-E"]

  /// Returns a message of the parser, which repeats arguments, without their secrets.
  static func redacted(_ message: String, _ arguments: [String]) -> String {
    var message = Redaction.text(message)
    var previous = ""
    for word in arguments {
      defer { previous = word }
      var replacements: [(word: String, shown: String)] = []
      if word.hasPrefix("-"), let equals = word.firstIndex(of: "=") {
        let (name, value) = (word[...equals], String(word[word.index(after: equals)...]))
        let shown =
          isCredential(String(name.dropLast())) ? Redaction.mark : Redaction.argument(value)
        replacements = [(word, "\(name)\(shown)"), (value, shown)]
      } else if isCredential(previous), !word.hasPrefix("-") {
        replacements = [(word, Redaction.mark)]
      } else {
        replacements = [(word, Redaction.argument(word))]
      }
      for (word, shown) in replacements where word != shown && !word.isEmpty {
        message = message.replacing("'\(word)'", with: "'\(shown)'")
        // A short word may be a part of another.
        if word.utf8.count >= 6 { message = message.replacing(word, with: shown) }
      }
    }
    return message
  }

  private static func isCredential(_ option: String) -> Bool {
    credentialOptions.contains(option)
      || (option.hasPrefix("--") && Redaction.isSecretName(String(option.dropFirst(2))))
  }
}
