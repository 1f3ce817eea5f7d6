import ArgumentParser
import CommandTestSupport
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What `dlstore` prints without a command.
struct FirstScreenTests {
  @Test func `the first screen names each command once, and the store`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let none = await dlstore("--store", store)
    #expect(none.status == .done && none.messages.isEmpty)
    #expect(none.output.hasPrefix("dlstore \(Version.number): durable, resumable downloads\n\n"))
    #expect(none.output.hasSuffix("\nStore: \(store) (not created yet)\n"))
    #expect(none.output.count { $0 == "\n" } <= 18)
    _ = await dlstore("--store", store, "add", "http://h/x")
    let one = await dlstore("--store", store)
    #expect(one.output.contains("(1 download, 0 failed; no engine is running)\n"))
    let configuration = DLStoreCommand.configuration
    let commands = configuration.groupedSubcommands.flatMap(\.subcommands)
      .map { $0.configuration.commandName ?? "" }
    #expect(FirstScreen.groups.flatMap(\.commands).sorted() == commands.sorted())
  }

  @Test func `a store that cannot be read does not hide the commands`() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.makeFile("data.mdb", "no store")
    let result = await dlstore("--store", folder.path)
    #expect(result.status == .done && result.output.contains("it cannot be read"))
  }
}

/// What is said about options and commands of other programs.
struct ForeignWordsTests {
  /// The message of the parser, without the program's name and the usage.
  private func first(_ arguments: String...) async -> String {
    let result = await dlstore(arguments)
    #expect(result.status == .usage)
    let message = result.messages.trimmingPrefix("dlstore: ")
    return String(message[..<(message.firstRange(of: "Usage:")?.lowerBound ?? message.endIndex)])
  }

  @Test func `an option of another program gets a hint in place of a similar option`() async {
    for option in ["--retry", "-x16", "-fsSL"] {
      let line = await first("get", "http://h/x", option, "1")
      let name = option == "-x16" ? "-x" : option
      #expect(line.hasPrefix("Error: Unknown option '\(name)': "), "\(line)")
      #expect(line.contains("use --") && line.contains("This works: 'dlstore get "), "\(line)")
    }
    // The word after the option decides.
    #expect(await first("get", "http://h/x", "-x", "8").contains("use --connections N."))
  }

  @Test func `an option of another command is named with its command`() async {
    for (words, hint) in [
      (["add", "http://h/x", "--output-folder", "f"], "use --folder FOLDER below"),
      (
        ["add", "http://h/x", "--max-concurrent", "3"],
        "it is an option of 'dlstore get', 'dlstore run'"
      ),
      (["get", "http://h/x", "--sort", "size"], "it is an option of 'dlstore list' and"),
      // The meaning that curl gives it is likelier than that of another command.
      (["get", "http://h/x", "--insecure"], "name the certificate to trust with --ca-certificate"),
      (["list", "--all"], "without a selection, all are shown."),
      (["purge", "--all"], "--match '*' selects all downloads"),
      (["list", "--columsn", "id"], "Did you mean '--columns'?"),
    ] {
      let result = await dlstore(words)
      #expect(result.status == .usage && result.messages.contains(hint), "\(result.messages)")
    }
  }

  @Test func `help for a word that is no command is an error`() async {
    for words in [["help", "lst"], ["help", "root", "lst"]] {
      let result = await dlstore(words)
      #expect(result.status == .usage && result.output.isEmpty)
      let name = words.dropFirst().joined(separator: " ")
      let start = "dlstore: Error: There is no command '\(name)'. Did you mean 'list'?"
      #expect(result.messages.hasPrefix(start), "\(result.messages)")
    }
  }

  @Test func `an unknown command below another one shows the usage of that one`() async {
    let result = await dlstore("root", "foo")
    #expect(result.status == .usage)
    #expect(
      result.messages
        == "dlstore: Error: There is no command 'root foo'.\u{FFFD}Usage: dlstore root <subcommand>"
        + "\u{FFFD}  See 'dlstore root --help' for more information.\n"
    )
  }

  @Test func `only similar options are suggested`() async {
    let near = await first("get", "http://h/x", "--conections", "8")
    #expect(near.hasPrefix("Error: Unknown option '--conections'. Did you mean '--connections'?"))
    let line = await first("get", "http://h/x", "--quux")
    #expect(line.hasPrefix("Error: Unknown option '--quux'") && !line.contains("Did"))
  }

  @Test(
    arguments: [
      ("start", "Did you mean 'run' (the engine) or 'resume' (a download)?"),
      ("ps", "Did you mean 'list'?"), ("info", "Did you mean 'inspect'?"),
      ("h.example/x", "Did you mean 'dlstore get h.example/x'?"),
      ("completion", "'dlstore --generate-completion-script bash' prints a script for bash"),
      ("http://h/x", "Did you mean 'dlstore get http://h/x'?"), ("lst", "Did you mean 'list'?"),
    ]
  )
  func `a command of another program gets a hint`(_ word: String, _ hint: String) async {
    let line = await first(word)
    #expect(line.hasPrefix("Error: There is no command '\(word)'. \(hint)"), "\(line)")
  }

  @Test func `a shell without completions gets the names of the others`() async {
    let line = await first("--generate-completion-script", "fish2")
    #expect(!line.contains("Unknown option") && line.contains("fish2"), "\(line)")
  }

  @Test(arguments: ["restar", "cancl", "remov", "purg", "restrt", "rn", "rmm"])
  func `no destructive command is suggested for a mistyped word`(_ word: String) async {
    let line = await first(word)
    for command in ForeignWords.destructiveCommands { #expect(!line.contains("'\(command)'")) }
  }
}
