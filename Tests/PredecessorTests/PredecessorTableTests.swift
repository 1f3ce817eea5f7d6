import Foundation
import Testing

/// Compares `docs/predecessors.md` with the requirement ids and with the tests that carry them.
///
/// A test carries an id in its trait `.requirements(…)`, which is read from the sources.
@Suite struct PredecessorTableTests {
  /// The requirements of each predecessor are numbered from one.
  private static let counts = [("ZF", 18), ("ZY", 69), ("FK", 37), ("SC", 15), ("MO", 10)]
  private static let ids = counts.flatMap { name, count in (1...count).map { "\(name)\($0)" } }
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A row of the page's tables.
  private struct Row {
    var id: String
    var behavior: String
    var tests: String
    /// The test names, which the page writes as code.
    var testNames: [String] {
      tests.split(separator: "`", omittingEmptySubsequences: false).enumerated()
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
      return Row(id: cells[1], behavior: cells[2], tests: cells[4])
    }
  }()

  /// A test function whose name is a sentence.
  private struct TestFunction {
    var name: String
    var ids: [String]
  }

  /// The declaration of the trait and this file, which mention the trait and carry no id.
  private static let unread: Set = [
    "Support/TestTraits/Requirements.swift", "PredecessorTests/PredecessorTableTests.swift",
  ]

  /// The test functions below `Tests`, and the number of requirement traits in these files.
  ///
  /// The two are read by separate patterns, so a trait that belongs to no test function is noticed.
  private static let sources: (tests: [TestFunction], traitCount: Int) = {
    let files = FileManager.default.enumerator(atPath: folder.appending(path: "Tests").path)
    var tests: [TestFunction] = []
    var traitCount = 0
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift"), !Self.unread.contains(file),
        let text = try? String(
          contentsOfFile: folder.appending(path: "Tests/\(file)").path,
          encoding: .utf8
        )
      else { continue }
      traitCount += text.matches(of: /\.requirements\(/).count
      // The attributes of a test function lie between the previous `@Test` and its name.
      for declaration in text.split(separator: "@Test").dropFirst() {
        guard let function = declaration.firstMatch(of: /func\s+`([^`\n]+)`/) else { continue }
        let attributes = declaration[..<function.range.lowerBound]
        let ids = attributes.matches(of: /\.requirements\(([^)]*)\)/).flatMap { trait in
          trait.1.matches(of: /"([^"]*)"/).map { String($0.1) }
        }
        tests.append(TestFunction(name: String(function.1), ids: ids))
      }
    }
    return (tests, traitCount)
  }()

  @Test func `the page lists every requirement once and in order`() {
    #expect(Self.ids.count == 149)
    #expect(Self.rows.map(\.id) == Self.ids)
  }

  @Test(arguments: ids)
  func `each requirement names tests that carry its id`(id: String) throws {
    let row = try #require(Self.rows.first { $0.id == id })
    #expect(!row.behavior.isEmpty)
    #expect(!row.testNames.isEmpty)
    for name in row.testNames {
      let tests = Self.sources.tests.filter { $0.name == name }
      #expect(tests.count == 1, "\(tests.count) tests are named '\(name)'; name exactly one")
      #expect(tests.allSatisfy { $0.ids.contains(id) }, "'\(name)' lacks the id")
    }
  }

  @Test func `tests carry only known ids, each on a test function`() {
    let known = Set(Self.ids)
    for test in Self.sources.tests {
      #expect(known.isSuperset(of: test.ids), "'\(test.name)' carries an unknown id")
      #expect(Set(test.ids).count == test.ids.count, "'\(test.name)' carries an id twice")
    }
    let traits = Self.sources.tests.count { !$0.ids.isEmpty }
    #expect(traits == Self.sources.traitCount, "a trait has no ids or belongs to no test function")
  }

  @Test func `the page names every test that carries an id`() {
    let rows = Dictionary(Self.rows.map { ($0.id, $0.testNames) }) { first, _ in first }
    for test in Self.sources.tests {
      for id in test.ids {
        #expect(rows[id]?.contains(test.name) == true, "\(id) does not name '\(test.name)'")
      }
    }
  }

  @Test func `test names contain no ids`() {
    for test in Self.sources.tests {
      #expect(!test.name.contains(/\b(ZF|ZY|FK|SC|MO)[0-9]+\b/), "\(test.name)")
    }
  }
}
