import ArgumentParser
import CommandTestSupport
import DownloadReports
import DownloadSync
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The help of each command: examples, suggestions, and the pages made from the parser.
struct HelpTests {
  private static let commands = CommandInfo(of: DLStoreCommand.self).visibleCommands

  private var commands: [CommandInfo] { Self.commands }

  // MARK: Examples

  @Test(arguments: Self.commands)
  func `each command has one to three examples, which parse`(command: CommandInfo) throws {
    let examples = HelpText(command.discussion ?? "").examples
    let advice: Comment =
      """
      \(command.fullName): end the discussion of its CommandConfiguration with a line "EXAMPLES:" \
      and one to three indented lines that begin with "dlstore" and are at most 76 columns wide
      """
    #expect((1...3).contains(examples.count), advice)
    for example in examples {
      let words = shellWords(example)
      #expect(words.first == "dlstore" && example.count <= 76, advice)
      let arguments = Array(words.dropFirst())
      do {
        let parsed = try DLStoreCommand.parseAsRoot(arguments)
        let name = type(of: parsed).configuration.commandName
        #expect(
          command.visibleCommands.contains { $0.commandName == name },
          "\(example): shows another command"
        )
      } catch {
        Issue.record("\(example): \(DLStoreCommand.message(for: error))")
      }
    }
  }

  @Test func `help shows the examples on lines of their own`() {
    let help = DLStoreCommand.helpMessage(for: ListCommand.self, columns: 80)
    #expect(help.contains("\nEXAMPLES:\n  dlstore list --state waiting,running --watch\n"))
  }

  @Test func `help and docs/cli.md list the commands in the same groups`() throws {
    let groups = DLStoreCommand.configuration.groupedSubcommands
    let grouped = groups.flatMap { $0.subcommands.compactMap { $0.configuration.commandName } }
    #expect(
      Set(grouped) == Set(commands.filter { $0.superCommands == ["dlstore"] }.map(\.commandName))
    )
    let help = DLStoreCommand.helpMessage(columns: 80)
    var rest = help[...]
    for group in groups {
      let start = try #require(rest.range(of: "\n\(group.name.uppercased()) SUBCOMMANDS:\n"))
      rest = rest[start.upperBound...]
      let names = group.subcommands.compactMap { $0.configuration.commandName }
      let words = names.map { "`\($0)`" }.joined(separator: " ")
      let row = "| \(group.name.lowercased()) | \(words) | "
      #expect(Self.page.text.contains(row), "docs/cli.md lacks the row \(row)")
      for name in names {
        // Other names of the command follow a comma.
        let command = try #require(
          rest.range(of: "\n  \(name) ") ?? rest.range(of: "\n  \(name), ")
            ?? rest.range(of: "  \(name) ") ?? rest.range(of: "  \(name), ")
        )
        rest = rest[command.upperBound...]
      }
    }
  }

  @Test func `the words of an example are split as a shell splits them`() {
    #expect(shellWords("a  'b c' d") == ["a", "b c", "d"])
  }

  @Test func `help --all lists every command in a line, by use`() async throws {
    let text = CommandOverview.text(of: CommandInfo(of: DLStoreCommand.self))
    let lines = text.split(separator: "\n").map(String.init)
    for title in FirstScreen.groups.map(\.title) { #expect(lines.contains(title)) }
    for command in commands.dropFirst() where (command.subcommands ?? []).isEmpty {
      let name = command.fullName.dropFirst("dlstore ".count)
      let found = lines.filter { $0.hasPrefix("  \(name) ") }
      #expect(found.count == 1 && found.first?.hasSuffix(command.abstract ?? "") == true, "\(name)")
    }
    let folder = try TemporaryFolder()
    let help = try await DLStoreProcess.run("help", "--all", store: folder.path("store"))
    #expect(help.status == 0 && help.output == text + "\n")
  }

  // MARK: Suggestions

  @Test(arguments: [
    (["lsit"], "There is no command 'lsit'. Did you mean 'list'?"),
    (["--store", "x", "resum", "1"], "There is no command 'resum'. Did you mean 'resume'?"),
    (["--stor", "x", "list"], "Did you mean '--store'?"),
    (["abandon"], "There is no command 'abandon'."),
    (["list", "--stat", "x"], "Did you mean '--state'?"),
    (["list", "--state", "wiating"], "Did you mean 'waiting'?"),
    (["list", "--state", "comp"], "Did you mean 'completed'?"),
    (["list", "--sort", "urls"], "Did you mean 'url'?"),
    (["list", "--sort", "url:up"], "Did you mean 'url:desc'?"),
    (["list", "--format", "jsno"], "Did you mean 'json'?"),
    (["run", "--transport=urlsesion"], "Did you mean 'urlsession'?"),
    (["add", "http://a/1", "--if-exists", "kep"], "Did you mean 'keep'?"),
    (["explain", "--stored", "runing"], "Did you mean 'running'?"),
  ])
  func `a mistyped word is answered with the nearest one`(
    arguments: [String],
    message: String
  ) async {
    let result = await dlstore(arguments)
    #expect(result.status == .usage)
    #expect(result.messages.contains(message), "\(result.messages)")
  }

  @Test(arguments: [
    ("list", "list", 0), ("lsit", "list", 1), ("lis", "list", 1), ("listt", "list", 1),
    ("lost", "list", 1), ("", "list", 4), ("ca", "abc", 3), ("kitten", "sitting", 3),
  ])
  func `the distance counts changes and swapped neighbours`(
    left: String,
    right: String,
    distance: Int
  ) {
    #expect(Suggestion.distance(left, right) == distance)
    #expect(Suggestion.distance(right, left) == distance)
  }

  @Test func `the dashes of options do not make them similar`() {
    let options = ["--netrc-file", "--retry-wait", "--on-complete", "--all"]
    #expect(Suggestion.nearest(to: "--retry-failed", among: options) == nil)
    #expect(Suggestion.nearest(to: "--completed", among: options) == nil)
    #expect(Suggestion.nearest(to: "--netrc-fiel", among: options) == "--netrc-file")
    #expect(Suggestion.nearest(to: "--al", among: options) == "--all")
  }

  @Test func `a word without a similar candidate has no suggestion`() {
    #expect(Suggestion.nearest(to: "xyz", among: ["list", "add"]) == nil)
    #expect(Suggestion.nearest(to: "", among: ["a"]) == nil)
    #expect(Suggestion.nearest(to: "re", among: ["resume", "remove"]) == nil)
    #expect(Suggestion.nearest(to: String(repeating: "a", count: 65), among: ["a"]) == nil)
  }

  @Test func `an error says what to do next`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let missing = await dlstore("--store", store, "list")
    #expect(missing.messages.contains("'dlstore add URL --store \(store)' creates a store"))
    _ = await dlstore("--store", store, "add", "http://a/1")
    let unknown = await dlstore("--store", store, "inspect", "0000000000000000")
    #expect(unknown.messages.hasSuffix("; 'dlstore list --store \(store)' shows all downloads\n"))
    #expect(
      Advice.message(of: EngineError(.alreadyRunning, "another engine runs"))
        == "another engine runs; stop it first"
    )
    #expect(Advice.message(of: EngineError(.stopped, "x")) == "x")
    let other = folder.path("damaged")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try Data(repeating: 7, count: 8_192).write(to: URL(filePath: "\(other)/data.mdb"))
    let damaged = await dlstore("--store", other, "list")
    #expect(damaged.status == .damaged)
    #expect(damaged.messages.contains("'dlstore verify --store \(other)' lists the damage"))
  }

  // MARK: Documentation

  /// The page of the tool, and the pages of its commands.
  private static let page = DocumentedPage("cli.md", withPagesIn: "cli")

  @Test(arguments: Self.commands)
  func `docs/cli.md describes each command and its options`(command: CommandInfo) {
    for word in Self.page.missing(of: command) {
      Issue.record("add `\(word)` of `\(command.fullName)` to docs/cli.md")
    }
  }

  @Test func `docs/cli.md names no option that does not exist`() {
    // '--server' stands before the command, which the other machine parses.
    let others: Set = [
      "--generate-completion-script", "--save-session", "--server", "--traits", "--user",
    ]
    #expect(Self.page.codeWords.count { $0.hasPrefix("--") } > 30)
    for option in Self.page.unknownOptions(of: commands, except: others) {
      Issue.record("docs/cli.md names \(option), which no command has: remove or correct it")
    }
  }

  @Test func `docs/cli.md names no command that does not exist`() throws {
    let names = Set(commands.map(\.commandName))
    let lines = Self.page.text.split(separator: "\n").filter { $0.hasPrefix("dlstore ") }
    #expect(lines.count > 10)
    for line in lines {
      let words = line.split(separator: " ").dropFirst().filter { !$0.hasPrefix("[") }
      guard let name = words.first, !name.hasPrefix("PATH"), !name.hasPrefix("COMMAND"),
        !name.hasPrefix("--"), name != "help"
      else {
        continue
      }
      #expect(names.contains(String(name)), "docs/cli.md has an example of no command: \(line)")
    }
  }

  @Test(arguments: Setting.all)
  func `docs/cli.md lists each setting`(setting: Setting) {
    #expect(
      Self.page.codeWords.contains(setting.name) && Self.page.codeWords.contains(setting.variable),
      "add `\(setting.name)` and `\(setting.variable)` to the settings in docs/cli.md"
    )
  }
}

extension CommandInfo: CustomTestStringConvertible {
  package var testDescription: String { fullName }
}

extension Setting: CustomTestStringConvertible {
  var testDescription: String { name }
}
