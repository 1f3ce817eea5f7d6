import ArgumentParser
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

/// The help of each command, its page in the documentation, and the manual pages.
struct HelpTests {
  private static let commands = CommandInfo(of: ObjectStoreCommand.self).visibleCommands
  private static let page = DocumentedPage("objectstore.md")

  @Test(arguments: Self.commands)
  func `each command has one to four examples, which parse`(command: CommandInfo) throws {
    let examples = HelpText(command.discussion ?? "").examples
    #expect((1...4).contains(examples.count), "\(command.fullName)")
    for example in examples {
      let words = shellWords(example)
      #expect(words.first == "objectstore" && example.count <= 76, "\(example)")
      let arguments = FolderFirst.arranged(
        Array(words.dropFirst()),
        commands: ObjectStoreCommand.commandNames
      ) { _ in false }
      do {
        let parsed = try ObjectStoreCommand.parseAsRoot(arguments)
        let name = type(of: parsed).configuration.commandName
        #expect(
          command.visibleCommands.contains { $0.commandName == name },
          "\(example): shows another command"
        )
      } catch {
        Issue.record("\(example): \(ObjectStoreCommand.message(for: error))")
      }
    }
  }

  @Test(arguments: Self.commands)
  func `docs/objectstore.md describes each command and its options`(command: CommandInfo) {
    for word in Self.page.missing(of: command) {
      Issue.record("add `\(word)` of `\(command.fullName)` to docs/objectstore.md")
    }
  }

  @Test func `docs/objectstore.md names no option that does not exist`() {
    #expect(Self.page.codeWords.count { $0.hasPrefix("--") } > 15)
    for option in Self.page.unknownOptions(of: Self.commands, except: []) {
      Issue.record("docs/objectstore.md names \(option), which no command has")
    }
  }

  @Test func `the examples of docs/objectstore.md parse`() {
    let lines = Self.page.text.split(separator: "\n").filter { $0.hasPrefix("objectstore ") }
    #expect(lines.count >= 6)
    for line in lines {
      let words = shellWords(String(line.prefix { $0 != "#" }))
      let arguments = FolderFirst.arranged(
        Array(words.dropFirst()),
        commands: ObjectStoreCommand.commandNames
      ) { _ in false }
      #expect(throws: Never.self, "\(line)") { try ObjectStoreCommand.parseAsRoot(arguments) }
    }
  }

  @Test func `each visible command has a manual page, which mandoc accepts`() async throws {
    let folder = try TemporaryFolder()
    let made = await objectstore("generate-manual", folder.path)
    #expect(made.status == .done, "\(made.messages)")
    let names = Self.commands.map { $0.fullName.replacing(" ", with: "-") }
    #expect(names.contains("objectstore-query"))
    let files = names.map { folder.path("\($0).1") }
    #if os(Linux)
      let lint = try await BuiltProcess.run(
        shell: "mandoc -T lint -W warning \(files.map { "'\($0)'" }.joined(separator: " "))"
      )
      #expect(lint.output == "" && lint.status == 0, "\(lint)")
    #else
      #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    #endif
  }

  @Test func `without arguments the tool shows its help`() async {
    let result = await objectstore()
    let help = await objectstore("--help")
    #expect(result.status == .done && result.output == help.output)
    #expect(help.output.contains("objectstore notes query"))
  }

  @Test(arguments: [
    ("query", "x", "'x' is not a whole number of at least 0."),
    ("query", "-1", "'-1' must not be negative."),
    ("watch", "0", "'0' is not a whole number of at least 1."),
  ])
  func `a number that is none is refused with the range`(
    command: String,
    text: String,
    reason: String
  ) async {
    let words = command == "query" ? [command, "notes", "Note"] : [command, "notes"]
    let result = await objectstore(words + ["--limit", text])
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix("Error: --limit: \(reason)"), "\(result.messages)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `completion scripts are generated`(shell: String) async {
    let script = await objectstore("--generate-completion-script", shell)
    #expect(script.status == .done && script.output.contains("query"))
  }
}
