import Foundation
import Testing

/// Compares `docs/predecessors.md` with the ids that there are and with the tests.
@Suite struct PredecessorTableTests {
  /// The lines of each predecessor are numbered from one.
  private static let counts = [("ZF", 18), ("ZY", 69), ("FK", 37), ("SC", 15), ("MO", 10)]
  private static let ids = counts.flatMap { name, count in (1...count).map { "\(name)\($0)" } }
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// One line of a table.
  private struct Row {
    var id: String
    var meaning: String
    var test: String
    /// The names of tests, in backquotes.
    var testNames: [String] {
      test.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }

  private static let rows: [Row] = {
    let path = folder.appending(path: "docs/predecessors.md").path
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 6, cells[1].contains(/^[A-Z]{2}[0-9]+$/) else { return nil }
      return Row(id: cells[1], meaning: cells[2], test: cells[4])
    }
  }()

  /// The names of all tests that are written as sentences.
  private static let tests: Set<String> = {
    let files = FileManager.default.enumerator(atPath: folder.appending(path: "Tests").path)
    var names: Set<String> = []
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift"),
        let text = try? String(
          contentsOfFile: folder.appending(path: "Tests/\(file)").path,
          encoding: .utf8
        )
      else { continue }
      names.formUnion(text.matches(of: /func\s+`([^`\n]+)`/).map { String($0.1) })
    }
    return names
  }()

  @Test func `every line has its place in the table, and one only`() {
    #expect(Self.ids.count == 149)
    #expect(Self.rows.map(\.id) == Self.ids)
  }

  @Test(arguments: ids)
  func `a line has a test that carries its id`(id: String) throws {
    let row = try #require(Self.rows.first { $0.id == id })
    #expect(!row.meaning.isEmpty)
    #expect(!row.testNames.isEmpty)
    for name in row.testNames {
      #expect(Self.tests.contains(name), "there is no such test")
      #expect(name.split(separator: " ").contains { $0 == id }, "it does not carry the id")
    }
  }

  @Test func `no test carries an id that there is not`() {
    let known = Set(Self.ids)
    for name in Self.tests {
      let ids = name.split(separator: " ").prefix { $0.contains(/^(ZF|ZY|FK|SC|MO)[0-9]+$/) }
      #expect(ids.allSatisfy { known.contains(String($0)) }, "\(name)")
    }
  }
}
