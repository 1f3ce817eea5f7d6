import CommandTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The client of a server: which command lines it sends, and how it fails.
@Suite(.timeLimit(.minutes(10)))
struct RemoteServerTests {
  private static let url = "http://127.0.0.1:1"
  private static let variable = ["DLSTORE_SERVER": url]

  private func server(
    _ arguments: [String],
    _ environment: [String: String] = [:]
  ) throws -> RemoteServer? {
    try RemoteServer(RemoteOptions(arguments), environment: environment)
  }

  /// Returns the message and the status of a refused command line.
  private func refusal(
    _ arguments: [String],
    _ environment: [String: String] = [:]
  ) -> CommandResult {
    do {
      _ = try server(arguments, environment)
      return CommandResult(status: .done, output: "", messages: "")
    } catch let failure as CommandFailure {
      return CommandResult(status: failure.status, output: "", messages: failure.message ?? "")
    } catch {
      let words = (try? RemoteOptions(arguments))?.words ?? []
      let text = DLStoreCommand.text(ofParserError: error, words)
      return CommandResult(status: .usage, output: "", messages: text)
    }
  }

  @Test func `the server and its token come before the command or from the environment`() throws {
    #expect(try server(["list"])?.url == nil)
    let given = ["--server", "https://h:1/", "--token-file=t", "list", "--json"]
    let server = try #require(try server(given))
    #expect(server.url == "https://h:1" && server.command.arguments == ["list", "--json"])
    #expect(try self.server(["pause", "--all"], Self.variable)?.command.isChange == true)
    #expect(refusal(["--server", "h", "list"]).status == .usage)
    #expect(refusal(["--server"]).status == .usage)
    #expect(refusal(["run"], Self.variable).status == .usage)
  }

  @Test(arguments: [
    ["config"], ["help"], ["help", "list"], ["--version"], ["--help"], ["list", "--help"],
    ["add", "-h"], ["get", "--help"], ["explain", "--all"], ["explain", "--rules"],
    ["resume-data", "f"],
  ])
  func `help and commands without a store are run here`(arguments: [String]) throws {
    #expect(try server(arguments, Self.variable)?.url == nil)
    #expect(try server(["--server", Self.url] + arguments)?.url == nil)
    #expect(try RemoteOptions(["--server", Self.url] + arguments).words == arguments)
  }

  @Test func `the store of a command line is chosen by options before variables`() throws {
    let both = ["DLSTORE_SERVER": Self.url, "DLSTORE_STORE": "/s"]
    for local in [["list", "--store", "x"], ["--store", "x", "list"], ["--store=x", "run"], []] {
      #expect(try server(local, Self.variable)?.url == nil, "\(local)")
      #expect(try server(local, both)?.url == nil, "\(local)")
    }
    #expect(try server(["serve"], both)?.url == nil)
    #expect(try server(["--server", "http://h", "list"], both)?.url == "http://h")
    for command in [["list"], ["remove", "--all", "--yes"], ["get", "http://h/x"]] {
      let refusal = refusal(command, both)
      #expect(refusal.status == .usage, "\(command)")
      #expect(
        refusal.messages.contains("DLSTORE_SERVER and DLSTORE_STORE are both set"),
        "\(refusal.messages)"
      )
    }
    let empty = ["DLSTORE_SERVER": Self.url, "DLSTORE_STORE": ""]
    #expect(try server(["list"], empty)?.url == Self.url)
    for words in [
      ["--store", "st", "--server", Self.url], ["--server", Self.url, "--store", "st"],
    ] {
      let refusal = refusal(words + ["list"])
      #expect(refusal.status == .usage)
      #expect(refusal.messages.contains("--server and --store cannot be combined"))
    }
  }

  @Test func `options combine with the variable, and messages name what was given`() throws {
    let certificate = ["--ca-certificate", "c", "--token-file", "t", "list"]
    #expect(try server(certificate, Self.variable)?.url == Self.url)
    #expect(
      refusal(["--ca-certificate", "c", "list"]).messages.hasPrefix("--ca-certificate before")
    )
    #expect(refusal(["--token-file", "t", "list"]).messages.hasPrefix("--token-file before"))
    #expect(refusal(["list"], ["DLSTORE_SERVER": "h:1"]).messages.hasPrefix("DLSTORE_SERVER: "))
    let message = refusal(["get", "http://h/x"], Self.variable).messages
    #expect(message.contains("DLSTORE_SERVER") && !message.contains("--server"), "\(message)")
  }

  @Test(arguments: [
    (["list", "--stat", "failed"], "Did you mean '--state'?"), (["lst"], "Did you mean 'list'?"),
    (["list", "--limit", "-1"], "'-1' must not be negative"),
    (["foo"], "There is no command 'foo'"), (["add"], "give a URL"),
  ])
  func `a mistake has the message that it has without a server`(
    arguments: [String],
    message: String
  ) {
    for words in [arguments, ["--server", Self.url] + arguments] {
      let refusal = refusal(words, Self.variable)
      #expect(refusal.status == .usage && refusal.messages.contains(message), "\(refusal.messages)")
    }
  }

  @Test(arguments: [
    ["add", "--priority", "-5", "http://h/p"], ["add", "-oname.bin", "http://h/q"],
    ["list", "--", "a"], ["cancel", "a", "-qy"],
  ])
  func `what works here works with a server`(arguments: [String]) throws {
    #expect(try server(arguments, Self.variable)?.command.arguments == arguments)
  }

  @Test func `an option after the command is said to belong before it`() {
    let message = refusal(["list", "--server", Self.url], Self.variable).messages
    #expect(message.contains("write it before the command"), "\(message)")
  }

  @Test func `only the token may follow the address of a server`() throws {
    let printed = ["--server", "http://127.0.0.1:1/?token=6133", "list"]
    #expect(try server(printed)?.url == Self.url)
    for address in [
      "http://h/?x=1", "http://h/?token=", "http://me:pw@h", "localhost:1", " http://h",
    ] {
      let refusal = refusal(["--server", address, "list"])
      #expect(refusal.status == .usage && refusal.messages.hasPrefix("--server: "), "\(address)")
      #expect(!refusal.messages.contains("pw"), "\(refusal.messages)")
    }
  }

  @Test func `the client reads a list and sends its text`() throws {
    let folder = try TemporaryFolder()
    let list = try folder.makeFile("list", "https://h/ä\n out=b\n")
    let body = try #require(try server(["add", "-i", list], Self.variable)).body
    let words = ["add", "-i", list].map(JSONValue.string)
    #expect(body["arguments"] == .array(words) && body["input"] == .string("https://h/ä\n out=b\n"))
    let other = try #require(try server(["pause", "--all"], Self.variable)).body
    #expect(other["arguments"] == .array(["pause", "--all"].map(JSONValue.string)))
    #expect(other["input"] == nil)
    // Latin-1 as characters, each of which stands for a byte.
    try Data([0x68, 0xE9, 0x0A]).write(to: URL(filePath: list))
    let latin = try #require(try server(["add", "-i", list], Self.variable)).body
    #expect(latin["inputBytes"] == .string("h\u{E9}\n") && latin["input"] == nil)
  }

  @Test func `a list that is missing, no text or too long is not sent`() throws {
    let folder = try TemporaryFolder()
    let binary = try folder.makeFile("binary", "https://h/a\0")
    let long = try folder.makeFile("long", String(repeating: "# a\n", count: 1 << 20))
    for (path, status, message) in [
      (folder.path("missing"), ExitStatus.notFound, "cannot read"),
      (binary, .damaged, "not a text file"), (long, .usage, "divide it"),
    ] {
      let server = try #require(try server(["add", "-i", path], Self.variable))
      let failure = #expect(throws: CommandFailure.self) { try server.body }
      #expect(failure?.status == status)
      #expect(failure?.message?.contains(message) == true, "\(failure?.message ?? "")")
    }
  }

  @Test(arguments: ["pause", "list"])
  func `an output that cannot be written hides neither the messages nor the change`(
    command: String
  ) async throws {
    let server = try #require(try server([command, "a"], Self.variable))
    let failure = CommandFailure(.inputOutput, "cannot write the output: disk full")
    let result = await CommandResult.of(DLStoreCommand.program(), failingWith: failure) { output in
      do {
        try server.print(output: "a\n", messages: "dlstore: no engine runs\n")
        return .done
      } catch let failure as CommandFailure {
        output.say(failure.message ?? "")
        return failure.status
      } catch {
        return .failed
      }
    }
    #expect(result.status == .inputOutput)
    let change = command == "pause" ? "the change was made, but " : ""
    #expect(
      result.messages
        == "dlstore: no engine runs\ndlstore: \(change)cannot write the output: disk full\n"
    )
  }

  @Test func `thousands of names are refused before a server cuts them off`() async throws {
    let names = (0..<5_000).map { "download-\($0).iso" }
    let server = try server(["--server", Self.url, "list"] + names)
    let failure = await #expect(throws: CommandFailure.self) { _ = try await server?.run() }
    #expect(failure?.status == .usage && failure?.message?.contains("--match") == true)
  }
}

#if AsyncHTTPClient
  /// The exit codes of the client, and what it advises.
  @Suite(.timeLimit(.minutes(10)))
  struct RemoteServerFailureTests {
    private let folder: TemporaryFolder
    private let fault: FaultServer

    init() throws {
      folder = try TemporaryFolder()
      fault = try FaultServer()
    }

    private func run(_ arguments: String...) async -> CommandResult {
      await CommandResult.of(DLStoreCommand.program()) { output in
        do {
          var server = try RemoteServer(RemoteOptions(arguments), environment: [:])
          // The server in a test may rest because the machine is busy.
          server?.timeout = .seconds(600)
          return try await server?.run() == 0 ? .done : .failed
        } catch let failure as CommandFailure {
          output.say(failure.message ?? "")
          return failure.status
        } catch {
          return .usage
        }
      }
    }

    private func process(_ arguments: String...) throws -> DLStoreProcess {
      let environment = ["DLSTORE_SERVER": fault.url("")]
      let store = folder.path("store")
      return try DLStoreProcess(arguments, store: store, in: folder.path, environment: environment)
    }

    @Test func `the program prints help and settings with the variable set`() async throws {
      let help = try process("list", "--help")
      #expect(try await help.status() == 0 && help.output.contains("USAGE: dlstore list"))
      let config = try process("config")
      #expect(try await config.status() == 0 && config.output.contains("max-concurrent"))
      #expect(config.messages.contains("DLSTORE_SERVER, \(fault.url(""))"), "\(config.messages)")
      let typed = try process("--server", fault.url(""), "--version")
      #expect(try await typed.status() == 0)
      #expect(fault.requests.isEmpty)
    }

    @Test func `a command of an event works on the store here`() async throws {
      fault.route("/a", Resource(.text("a")))
      let store = folder.path("store")
      let command = "env | grep ^DLSTORE_S > env"
      let get = try process("--store", store, "get", fault.url("/a"), "--on-complete", command)
      #expect(try await get.status() == 0, "\(get.messages)")
      let lines = try String(contentsOfFile: folder.path("env"), encoding: .utf8)
      #expect(lines == "DLSTORE_STORE=\(store)\n")
    }

    @Test(arguments: [500, 501, 307, 404, 400, 503])
    func `an answer of another server means that there is none of ours`(status: Int) async {
      fault.route("*", Resource(.text("x"), faults: .status(status), then: .repeatLast))
      let result = await run("--server", fault.url(""), "list")
      #expect(result.status == .unreachable)
      #expect(result.messages.contains("is no 'dlstore serve' that runs commands"))
    }

    @Test func `a body without a command's output is none of ours either`() async {
      fault.route("*", Resource(.text("{}")))
      #expect(await run("--server", fault.url(""), "list").status == .unreachable)
    }

    @Test func `the wrong scheme is an unreachable server, with advice`() async {
      let url = fault.url("").replacing("http:", with: "https:")
      let https = await run("--server", url, "list")
      #expect(https.status == .unreachable && https.messages.contains("use http://"))
      fault.route("*", Resource(.text(""), faults: .emptyReply, then: .repeatLast))
      let http = await run("--server", fault.url(""), "list")
      #expect(http.status == .unreachable, "\(http.messages)")
      #expect(http.messages.contains("use https://"), "\(http.messages)")
    }

    @Test func `a missing file has its own exit code, and a reason`() async throws {
      let missing = folder.path("missing")
      let token = await run("--server", fault.url(""), "--token-file", missing, "list")
      #expect(token.status == .notFound && token.messages.contains("--token-file: cannot read"))
      let certificate = await run("--server", fault.url(""), "--ca-certificate", missing, "list")
      #expect(certificate.status == .notFound && certificate.messages.contains("does not exist"))
      let text = try folder.makeFile("text", "no certificate")
      let other = await run("--server", fault.url(""), "--ca-certificate", text, "list")
      #expect(other.status == .usage && other.messages.contains("PEM"), "\(other.messages)")
    }

    @Test func `the token of the printed address is sent, but for that of --token-file`()
      async throws
    {
      fault.route("*", Resource(.text("x"), faults: .status(401), then: .repeatLast))
      let file = try folder.makeFile("token", "of-the-file\n")
      let address = fault.url("/?token=of-the-address")
      #expect(await run("--server", address, "list").messages.contains("refuses the token"))
      _ = await run("--server", address, "--token-file", file, "list")
      let none = await run("--server", fault.url(""), "list")
      #expect(none.status == .permissionDenied && none.messages.contains("none was given"))
      let sent = fault.requests.map { $0["Authorization"] }
      #expect(sent == ["Bearer of-the-address", "Bearer of-the-file", nil])
      #expect(fault.requests.allSatisfy { $0.path == "/api/v1/command" })
      #expect(fault.requests.allSatisfy { !$0.target.contains("token") })
    }
  }
#endif
