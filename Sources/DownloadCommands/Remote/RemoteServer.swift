internal import CommandLineSupport
internal import DownloadAsyncHTTPClient
internal import DownloadServer
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// The `dlstore serve` of another machine, which runs the commands: `dlstore --server URL list`.
struct RemoteServer: Sendable {
  /// The URL of the server.
  let url: String
  /// The command to run.
  let command: RemoteCommand
  /// The file with the token; `nil` for a server without one.
  private let tokenFile: String?
  /// The file of certificates to trust; `nil` for those of the system.
  private let certificateFile: String?

  /// The length of a query in bytes for which a server's limit of a header has room.
  private static let longestQuery = 24 * 1024

  /// The options before the command's name.
  private static let options: Set = ["--server", "--token-file", "--ca-certificate"]
  /// The words that have the same meaning with and without a server.
  private static let localCommands: Set = [
    "config", "help", "manual", "resume-data", "serve", "completions",
  ]

  /// Reads `--server` and its options before the command's name, or `DLSTORE_SERVER` and
  /// `DLSTORE_TOKEN_FILE`; `nil` if the command is to be run here.
  ///
  /// The variables have no effect on a command with `--store`.
  ///
  /// - Throws: ``CommandFailure`` with `usage`.
  init?(_ arguments: [String], environment: [String: String]) throws(CommandFailure) {
    var rest = arguments[...]
    var given: [String: String] = [:]
    while let word = rest.first {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts.first ?? "")
      guard Self.options.contains(name) else { break }
      rest.removeFirst()
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
        throw CommandFailure(.usage, "\(name) needs a value")
      }
      given[name] = value
    }
    let variable = environment["DLSTORE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
    if given["--server"] == nil {
      guard given.isEmpty else {
        throw CommandFailure(.usage, "--token-file before a command needs --server")
      }
      guard variable != nil, let word = rest.first, !word.hasPrefix("-"),
        !Self.localCommands.contains(word),
        !rest.contains(where: { $0 == "--store" || $0.hasPrefix("--store=") })
      else { return nil }
    }
    guard let server = given["--server"] ?? variable else { return nil }
    do {
      try RecordIdentity.validate(server)
    } catch {
      throw CommandFailure(
        .usage,
        "--server: '\(Redaction.argument(server))' is not an https or http URL"
      )
    }
    url = server.hasSuffix("/") ? String(server.dropLast()) : server
    tokenFile = given["--token-file"] ?? environment["DLSTORE_TOKEN_FILE"]
    certificateFile = given["--ca-certificate"]
    do throws(RemoteCommand.Refusal) {
      command = try RemoteCommand(Array(rest))
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  /// Has the server run the command, and prints what it has printed.
  ///
  /// - Returns: The exit code of the command.
  /// - Throws: ``CommandFailure``: `unreachable` if there is no server, `permissionDenied` if it refuses the
  ///   token; the errors of ``Output/write(_:)-(String)``.
  func run() async throws -> Int32 {
    let answer = try await exchange()
    let json = try? JSONParser.parse(answer.body)
    guard answer.status == 200, let result = json.flatMap({ CommandAnswer($0) }),
      UInt8(exactly: result.status) != nil
    else { throw failure(of: answer, json) }
    do {
      // The terminal obeys no escape sequence of another machine.
      let isShown = Terminal.output.isTerminal
      try Output.current.write(isShown ? TerminalText.safeLines(result.output) : result.output)
    } catch is ClosedPipe {
      // The reader has seen enough.
    }
    Output.current.draw(TerminalText.safeLines(result.messages))
    return result.status
  }

  private func exchange() async throws -> HTTPExchange.Answer {
    var headers: [HeaderField] = []
    if let token = try token {
      headers.append(HeaderField(name: "Authorization", value: "Bearer \(token)"))
    }
    var settings = ConnectionSettings()
    settings.certificateAuthorities = certificateFile
    do {
      let exchange = try HTTPExchange(settings)
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
      let body: JSONValue = ["arguments": .array(command.arguments.map(JSONValue.string))]
      var bytes: [UInt8] = []
      body.write(to: &bytes)
      return try await exchange.send(
        "POST",
        "\(url)/api/v1/command",
        headers: headers,
        body: bytes
      )
    } catch let failure as DownloadFailure {
      let advice = failure.code == .tooLarge ? ": select fewer downloads, or use --limit" : ""
      let isUnreachable = failure.code.traits.contains(.unreachable) || failure.code == .timedOut
      throw CommandFailure(
        isUnreachable ? .unreachable : .failed,
        "\(Redaction.url(url)): \(failure.message)\(advice)"
      )
    }
  }

  /// The token; `nil` without a file.
  private var token: String? {
    get throws(CommandFailure) {
      guard let tokenFile else { return nil }
      guard let data = FileManager.default.contents(atPath: tokenFile), data.count <= 4_096 else {
        throw CommandFailure(.usage, "--token-file: \(tokenFile) cannot be read")
      }
      let text = String(decoding: data, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw CommandFailure(.usage, "--token-file: \(tokenFile) contains no token")
      }
      return text
    }
  }

  private func failure(of answer: HTTPExchange.Answer, _ json: JSONValue?) -> CommandFailure {
    let shown = Redaction.url(url)
    switch answer.status {
    case 401:
      return CommandFailure(
        .permissionDenied,
        "\(shown) refuses the token: pass --token-file with that of the server"
      )
    case 403:
      return CommandFailure(
        .permissionDenied,
        "\(shown) refuses the command: \(Self.message(json) ?? "it was started without --allow-changes")"
      )
    case 404:
      return CommandFailure(.failed, "\(shown) is no 'dlstore serve' that runs commands")
    default:
      let reason = Self.message(json).map { ": \($0)" } ?? ""
      return CommandFailure(.failed, "\(shown) answered with the status \(answer.status)\(reason)")
    }
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
