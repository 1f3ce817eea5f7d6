import ArgumentParser
import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

/// Commands whose output cannot be written: whether they have changed something.
struct UnwrittenOutputTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("store")
    try Store(at: path, models: [SampleNote.self]).write { tx in
      try tx.insert(SampleNote(id: 1, text: "note", rank: 1))
    }
    let steps =
      #"{"steps": [{"version": 2, "summary": "x", "operations": [{"removeModel": "Note"}]}]}"#
    try Data(steps.utf8).write(to: URL(filePath: folder.path("steps")))
    let rows = #"{"id": 2, "text": "a", "rank": 2}"#
    try Data(rows.utf8).write(to: URL(filePath: folder.path("rows")))
  }

  /// The command lines, in which `S` is the store and `/` begins the path of a file.
  private static let results = [
    "models S", "models S Note", "query S Note", "query S Note --count", "get S Note 1", "stats S",
    "export S", "export S -o -", "verify S", "verify S --json", "migrate S",
    "migrate S --steps /steps --dry-run", "migrate S --steps /steps --check",
    "import S --format json --model Note --dry-run /rows",
  ]

  /// Each command line, and whether it changes something.
  private static let others = [
    ("watch S", false), ("export S -o /out", true), ("import S /rows", true),
    ("import S --format json --model Note /rows", true), ("backup S /copy", true),
    ("repair S", true), ("compact S", true), ("migrate S --steps /steps", true),
    ("migrate S --rollback", true), ("generate-manual /out", true),
  ]

  private func words(_ line: String) -> [String] {
    shellWords(line).map { word in
      word == "S" ? path : word.hasPrefix("/") ? folder.path(String(word.dropFirst())) : word
    }
  }

  @Test func `each command states whether its output is its result`() throws {
    var missing = Set(ObjectStoreCommand.configuration.subcommands.map { "\($0)" })
    for (line, isChange) in Self.results.map({ ($0, false) }) + Self.others {
      let command = try ObjectStoreCommand.parseAsRoot(words(line))
      missing.remove("\(type(of: command))")
      #expect(command.outputIsResult == !isChange, "\(line)")
    }
    #expect(missing.isEmpty, "add lines with these commands")
  }

  @Test(arguments: Self.results)
  func `a command that changes nothing does not say that it did`(line: String) async throws {
    let file = URL(filePath: path + "/data.mdb")
    let before = try Data(contentsOf: file)
    let failure = CommandFailure(.inputOutput, "cannot write the output: it is full")
    let result = await objectstore(words(line), failingWith: failure)
    #expect(result.status == .inputOutput, "\(result)")
    #expect(result.messages == "objectstore: cannot write the output: it is full\n")
    #expect(try Data(contentsOf: file) == before)
  }

  @Test(arguments: ["compact S", "backup S /copy", "import S --format json --model Note /rows"])
  func `a change whose report cannot be written is reported as made`(line: String) async {
    let failure = CommandFailure(.inputOutput, "cannot write the output: it is full")
    let result = await objectstore(words(line), failingWith: failure)
    #expect(result.status == .inputOutput, "\(result)")
    let message = "objectstore: the change was made, but cannot write the output: it is full\n"
    #expect(result.messages == message)
  }

  @Test(arguments: [
    "", "query S Note", "export S", "verify S", "stats S", "--help", "--version", "query --help",
  ])
  func `a command whose result is its output refuses a closed one, once`(
    line: String
  ) async throws {
    let command = (["objectstore"] + (line.isEmpty ? [path] : words(line))).joined(separator: " ")
    let closed = try await BuiltProcess.run(shell: command + " >&-")
    #expect(closed.status == 74)
    #expect(closed.messages == "objectstore: standard output is closed\n")
    #expect(try await BuiltProcess.run(shell: command + " <&- 2>&- > /dev/null").status == 0)
  }

  @Test(arguments: ["compact S", "export S -o /out"])
  func `a command that only reports goes on without standard output`(line: String) async throws {
    let command = (["objectstore"] + words(line)).joined(separator: " ")
    let closed = try await BuiltProcess.run(shell: command + " >&-")
    #expect(closed.status == 0 && closed.messages == "", "\(closed)")
  }
}
