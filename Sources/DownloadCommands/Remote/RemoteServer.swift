internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadAsyncHTTPClient
internal import DownloadServer
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// The `dlstore serve` of another machine, which runs the commands: `dlstore --server URL list`.
struct RemoteServer: Sendable {
  /// The URL of the server, without a final slash.
  let url: String
  /// The command to run.
  let command: RemoteCommand
  /// Whether the output of the command is its result.
  private let outputIsResult: Bool
  /// The token that the address contains, as `dlstore serve` prints it.
  private let addressToken: String?
  /// The file with the token, and the option or the variable that names it.
  private let tokenFile: (path: String, source: String)?
  /// The file of certificates to trust; `nil` for those of the system.
  private let certificateFile: String?
  /// The time that the server may take to answer; `nil` for the usual one.
  var timeout: Duration?

  /// The length of a query in bytes for which a server's limit of a header has room.
  private static let longestQuery = 24 * 1024

  /// The length of a list in bytes for which a server's limit of a body has room.
  private static let longestList = 3 << 20

  /// The environment variable that takes the place of `--server`.
  static let variable = "DLSTORE_SERVER"
  private static let tokenVariable = "DLSTORE_TOKEN_FILE"
  private static let storeVariable = "DLSTORE_STORE"

  /// Finds the server of a command line: that of `--server`, or of `DLSTORE_SERVER`; `nil` if the command
  /// is to be run here.
  ///
  /// The variable has no effect on a command with `--store`. Help and commands without a store are run
  /// here.
  ///
  /// - Throws: ``CommandFailure`` with `usage`; the parser's error.
  init?(_ options: RemoteOptions, environment: [String: String]) throws {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let words = options.words
    let typed = options.given[RemoteOptions.server]
    guard let address = typed ?? variable(Self.variable) else {
      guard let name = options.given.keys.min() else { return nil }
      throw CommandFailure(
        .usage,
        "\(name) before a command needs --server URL or \(Self.variable)"
      )
    }
    let source = typed == nil ? Self.variable : RemoteOptions.server
    guard !CommandLineScan.isRequest(words), !options.given.isEmpty || !words.isEmpty else {
      return nil
    }
    if DLStoreCommand.scan(words).given["--store"] != nil {
      guard let name = typed.map({ _ in source }) ?? options.given.keys.min() else { return nil }
      throw CommandFailure(
        .usage,
        "\(name) and --store cannot be combined: the server has a store of its own"
      )
    }
    let parsed = try DLStoreCommand.command(of: try DLStoreCommand.separatingValues(in: words))
    guard Self.needsServer(parsed, isTyped: typed != nil) else { return nil }
    outputIsResult = parsed.outputIsResult
    if typed == nil, variable(Self.storeVariable) != nil {
      throw CommandFailure(
        .usage,
        "\(Self.variable) and \(Self.storeVariable) are both set: choose with --server URL or "
          + "--store PATH, or unset one"
      )
    }
    guard words.first?.hasPrefix("--config") != true else {
      throw CommandFailure(
        .usage,
        "\(source) and --config cannot be combined: the server has settings of its own"
      )
    }
    (url, addressToken) = try Self.address(address, source)
    if let path = options.given[RemoteOptions.tokenFile] {
      tokenFile = (path, RemoteOptions.tokenFile)
    } else {
      tokenFile = variable(Self.tokenVariable).map { ($0, Self.tokenVariable) }
    }
    certificateFile = options.given[RemoteOptions.certificate]
    do throws(RemoteCommand.Refusal) {
      command = try RemoteCommand(words, hasInput: true, server: source)
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  /// Whether a command is about the server's store.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - isTyped: Whether the server is an option, and not a variable.
  /// - Returns: Whether the server runs it.
  private static func needsServer(_ command: any ParsableCommand, isTyped: Bool) -> Bool {
    switch command {
    case is ConfigCommand, is ManualCommand, is ResumeDataCommand: false
    case let command as ExplainCommand: command.name != nil
    // It is the server of the store here.
    case is ServeCommand: isTyped
    default: true
    }
  }

  /// Divides an address into the URL of the server and the token, if it has one.
  ///
  /// - Throws: ``CommandFailure`` with `usage`.
  private static func address(
    _ text: String,
    _ source: String
  ) throws(CommandFailure) -> (url: String, token: String?) {
    guard (try? RecordIdentity.validate(text)) != nil, let parts = try? RequestURL(text) else {
      throw CommandFailure(
        .usage,
        "\(source): '\(Redaction.argument(text))' is not the address of a server, which begins with "
          + "http:// or https://"
      )
    }
    guard parts.userInfo == nil else {
      throw CommandFailure(
        .usage,
        "\(source): a server needs no user name: pass its token with --token-file FILE"
      )
    }
    var url = text.prefix { $0 != "?" && $0 != "#" }
    while url.hasSuffix("/") { url.removeLast() }
    guard let query = parts.query, !query.isEmpty else { return (String(url), nil) }
    guard query.hasPrefix("token="), !query.contains("&"),
      let token = query.dropFirst("token=".count).removingPercentEncoding, isToken(token)
    else {
      throw CommandFailure(
        .usage,
        "\(source): only '?token=TOKEN' may follow the address of a server, as 'dlstore serve' prints it"
      )
    }
    return (String(url), token)
  }

  /// Has the server run the command, and prints what it has printed.
  ///
  /// - Returns: The exit code of the command.
  /// - Throws: ``CommandFailure``: `unreachable` if there is no server, `permissionDenied` if it refuses the
  ///   token; the errors of ``Output/write(_:)-(String)``.
  func run() async throws -> Int32 {
    if outputIsResult { try Output.current.requireOpen() }
    let answer = try await exchange()
    let json = try? JSONParser.parse(answer.body)
    guard answer.status == 200, let result = json.flatMap({ CommandAnswer($0) }),
      UInt8(exactly: result.status) != nil
    else { throw failure(of: answer, json) }
    try print(output: result.output, messages: result.messages)
    return result.status
  }

  /// Prints what the command has printed on the other machine.
  ///
  /// - Throws: ``CommandFailure`` if the output cannot be written, after the messages.
  func print(output: String, messages: String) throws {
    // They say what the command has done.
    defer { Output.current.draw(TerminalText.safeLines(messages)) }
    do {
      // The terminal obeys no escape sequence of another machine.
      let isShown = Terminal.output.isTerminal
      try Output.current.report(isShown ? TerminalText.safeLines(output) : output)
    } catch is ClosedPipe {
      // The reader has seen enough.
    } catch let failure as CommandFailure {
      throw CommandFailure(failure.status, failure.text(outputIsResult: outputIsResult))
    }
  }

  private func exchange() async throws -> HTTPExchange.Answer {
    var headers: [HeaderField] = []
    if let token = try token {
      headers.append(HeaderField(name: "Authorization", value: "Bearer \(token)"))
    }
    let exchange = try makeExchange()
    do {
      guard command.isChange else {
        let query = command.arguments.map { "argument=\(Self.encoded($0))" }.joined(separator: "&")
        guard query.utf8.count <= Self.longestQuery else {
          throw CommandFailure(
            .usage,
            "the command line is too long for a server: select downloads with --state, --tag or "
              + "--match instead of their names"
          )
        }
        return try await exchange.send(
          "GET",
          "\(url)/api/v1/command?\(query)",
          headers: headers,
          body: []
        )
      }
      headers.append(HeaderField(name: "Content-Type", value: "application/json"))
      let body = try body
      var bytes: [UInt8] = []
      body.write(to: &bytes)
      return try await exchange.send(
        "POST",
        "\(url)/api/v1/command",
        headers: headers,
        body: bytes
      )
    } catch let failure as DownloadFailure {
      // Also an answer that is not HTTP is none of a server.
      throw CommandFailure(
        failure.code == .tooLarge ? .failed : .unreachable,
        "\(Redaction.url(url)): \(failure.message)\(advice(for: failure))"
      )
    }
  }

  /// The words of the command, and the text of the list that it names, or its bytes as characters up
  /// to U+00FF if it is not UTF-8: the server treats each line as a local command does.
  ///
  /// - Throws: ``CommandFailure`` if the list cannot be read, or is too long.
  var body: JSONValue {
    get throws {
      let arguments = JSONValue.array(command.arguments.map(JSONValue.string))
      guard let bytes = try input else { return ["arguments": arguments] }
      if let text = String(validating: bytes, as: UTF8.self) {
        return ["arguments": arguments, "input": .string(text)]
      }
      let characters = String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })
      return ["arguments": arguments, "inputBytes": .string(String(characters))]
    }
  }

  /// The bytes of the list that the command names; `nil` if it names none.
  private var input: [UInt8]? {
    get throws {
      guard let path = command.inputFile else { return nil }
      let name = path == "-" ? "standard input" : path
      let bytes = try ResumeDataFile.read(path, upTo: Self.longestList + 1)
      guard bytes.count <= Self.longestList else {
        throw CommandFailure(
          .usage,
          "\(name) has more than \(Self.longestList >> 20) MiB, which is too much for one request: "
            + "divide it"
        )
      }
      guard !bytes.contains(0) else {
        throw CommandFailure(.damaged, "\(name) is not a text file: it contains a null byte")
      }
      return bytes
    }
  }

  /// Creates the client.
  ///
  /// - Throws: ``CommandFailure``: `notFound` if the file of certificates does not exist, otherwise `usage`.
  private func makeExchange() throws(CommandFailure) -> HTTPExchange {
    var settings = ConnectionSettings()
    settings.certificateAuthorities = certificateFile
    do {
      var exchange = try HTTPExchange(settings)
      if let timeout { exchange.timeout = timeout }
      return exchange
    } catch {
      guard let certificateFile, !FileManager.default.fileExists(atPath: certificateFile) else {
        throw CommandFailure(.usage, "\(error)")
      }
      throw CommandFailure(
        .notFound,
        "\(RemoteOptions.certificate): \(certificateFile) does not exist"
      )
    }
  }

  /// Returns what the user can do about a failure, after a semicolon; empty if nothing is known.
  private func advice(for failure: DownloadFailure) -> String {
    switch (failure.code, failure.detail) {
    case (.tooLarge, _): "; select fewer downloads, or use --limit"
    case (_, .untrustedIssuer):
      "; if you trust it, name it with \(RemoteOptions.certificate) FILE before the command"
    case (_, .noTLS): "; if it is an http server, use http://"
    case (_, .mayExpectTLS): "; if it does, use https://"
    // A server that expects TLS closes the connection.
    case (.connectionLost, nil) where url.hasPrefix("http://"):
      "; if it expects https, use https://"
    default: ""
    }
  }

  /// The token; `nil` without one.
  ///
  /// `--token-file` overrides the address, and the address overrides the variable.
  private var token: String? {
    get throws(CommandFailure) {
      if let addressToken, tokenFile?.source != RemoteOptions.tokenFile { return addressToken }
      guard let (path, source) = tokenFile else { return nil }
      let bytes: [UInt8]
      do {
        bytes = try ResumeDataFile.read(path, upTo: 4_096)
      } catch {
        let failure = error as? CommandFailure
        throw CommandFailure(
          failure?.status ?? .inputOutput,
          "\(source): \(failure?.message ?? "\(error)")"
        )
      }
      let text = String(decoding: bytes, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      guard Self.isToken(text) else {
        throw CommandFailure(.usage, "\(source): \(path) contains no token")
      }
      return text
    }
  }

  /// Whether a header field can have the text.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private func failure(of answer: HTTPExchange.Answer, _ json: JSONValue?) -> CommandFailure {
    let shown = Redaction.url(url)
    switch answer.status {
    case 401:
      let isGiven = tokenFile != nil || addressToken != nil
      return CommandFailure(
        .permissionDenied,
        "\(shown) \(isGiven ? "refuses the token" : "needs a token, and none was given"): pass "
          + "--token-file FILE, or the address with its token that 'dlstore serve' prints"
      )
    case 403:
      return CommandFailure(
        .permissionDenied,
        "\(shown) refuses the command: \(Self.message(json) ?? "it was started without --allow-changes")"
      )
    case 400, 413, 414, 431:
      guard let message = Self.message(json) else { return noServer(answer) }
      return CommandFailure(.usage, "\(shown) refuses the command: \(message)")
    default: return noServer(answer)
    }
  }

  /// The failure of an answer that is none of a server that works.
  private func noServer(_ answer: HTTPExchange.Answer) -> CommandFailure {
    let shown = Redaction.url(url)
    if let message = Self.message(try? JSONParser.parse(answer.body)), answer.status >= 500 {
      return CommandFailure(.unreachable, "\(shown) cannot run commands: \(message)")
    }
    return CommandFailure(
      .unreachable,
      "\(shown) is no 'dlstore serve' that runs commands: it answered with the status \(answer.status)"
    )
  }

  private static func message(_ json: JSONValue?) -> String? {
    guard case .string(let text)? = json?["error"]?["message"] ?? json?["message"] else {
      return nil
    }
    return TerminalText.safe(text)
  }

  /// Percent-encodes all but the unreserved characters (RFC 3986, 2.3).
  private static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + Hexadecimal.encode([byte]).uppercased()
      }
    }
    .joined()
  }
}
