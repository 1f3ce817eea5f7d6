import ArgumentParser
import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Commands whose output cannot be written: whether they have changed something.
struct UnwrittenOutputTests {
  /// A command line.
  struct Line: Sendable, CustomStringConvertible {
    let text: String
    /// Whether the command changes nothing, so that its output is its result.
    let isResult: Bool
    /// Whether a test can run it: without a server, and with output that is not a descriptor.
    var runs = true

    var words: [String] { shellWords(text) }
    var description: String { text }

    static func result(_ text: String) -> Line { Line(text: text, isResult: true) }
    static func resultElsewhere(_ text: String) -> Line {
      Line(text: text, isResult: true, runs: false)
    }
    static func change(_ text: String) -> Line { Line(text: text, isResult: false) }
  }

  private static let lines: [Line] = [
    .result("list"), .resultElsewhere("list --watch"), .result("list --format json"),
    .result("inspect http://h/1"), .result("stats"), .result("limit"), .change("limit 2M"),
    .resultElsewhere("cat http://h/1"), .resultElsewhere("verify-file --all"),
    .change("verify-file --all --repair"), .result("root list"), .change("root set /"),
    .result("verify"), .result("verify --json"), .change("verify --repair"),
    .change("verify --accept"), .change("backup copy"), .change("compact"), .result("export"),
    .result("export -o -"), .change("export out"), .change("export -o out"),
    .change("import file"), .change("migrate"), .result("migrate --status"),
    .result("migrate --check"), .result("migrate --dry-run"), .change("migrate --rollback"),
    .result("config"), .result("reconcile"), .change("reconcile --apply"),
    .result("explain http://h/1"), .result("explain --rules"), .result("store models"),
    .result("store query DownloadRecord"), .result("store get DownloadRecord http://h/1"),
    .resultElsewhere("resume-data file"), .resultElsewhere("resume-data file --repair ios10 -o -"),
    .change("resume-data file --repair ios10 -o out"), .change("get http://h/1"),
    .resultElsewhere("get http://h/1 -o -"), .resultElsewhere("get --dry-run http://h/1"),
    .change("add http://h/1"), .resultElsewhere("add --dry-run http://h/1"), .change("run"),
    .change("refresh --all"), .resultElsewhere("refresh --all --dry-run"), .change("serve"),
    .change("pause http://h/1"), .change("resume http://h/1"), .change("retry http://h/1"),
    .change("cancel http://h/1"), .result("cancel --dry-run http://h/1"),
    .change("restart http://h/1"), .result("restart --dry-run http://h/1"),
    .change("remove http://h/1"), .result("remove --dry-run http://h/1"),
    .change("set http://h/1 --priority 1"), .change("purge --orphans"),
    .result("purge --orphans --dry-run"), .change("aria2c http://h/1"),
    .change("generate-manual out"),
  ]

  /// The commands that have no commands below them.
  private static func commands(of type: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
    let subcommands = type.configuration.subcommands
    return subcommands.isEmpty ? [type] : subcommands.flatMap { commands(of: $0) }
  }

  @Test func `each command states whether its output is its result`() throws {
    var missing = Set(Self.commands(of: DLStoreCommand.self).map { "\($0)" })
    for line in Self.lines {
      let command = try DLStoreCommand.command(of: line.words)
      missing.remove("\(type(of: command))")
      #expect(command.outputIsResult == line.isResult, "\(line)")
    }
    #expect(missing.isEmpty, "add lines with these commands")
  }

  @Test(arguments: Self.lines.filter { $0.isResult && $0.runs })
  func `a command that changes nothing does not say that it did`(line: Line) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("store")
    _ = await dlstore("--store", path, "add", "http://h/1")
    let before = try RecordStore(at: path, access: .readOnly).objects.commitNumber()
    let failure = CommandFailure(.inputOutput, "cannot write the output: it is full")
    let result = await dlstore(["--store", path] + line.words, failingWith: failure)
    #expect(result.status == .inputOutput, "\(result)")
    #expect(result.messages == "dlstore: cannot write the output: it is full\n")
    #expect(try RecordStore(at: path, access: .readOnly).objects.commitNumber() == before)
  }

  @Test(arguments: ["--help", "--version", "help add", "add --help"])
  func `help that cannot be printed is an error with a message`(text: String) async throws {
    let failure = CommandFailure(.inputOutput, "cannot write the output: it is full")
    let result = await CommandResult.of(DLStoreCommand.program(), failingWith: failure) { output in
      do {
        let command = try DLStoreCommand.command(of: shellWords(text))
        return await output.program.status(of: command)
      } catch {
        return output.program.status(ofPrinting: DLStoreCommand.fullMessage(for: error))
      }
    }
    #expect(result.status == .inputOutput, "\(result)")
    #expect(result.messages == "dlstore: cannot write the output: it is full\n")
  }
}
