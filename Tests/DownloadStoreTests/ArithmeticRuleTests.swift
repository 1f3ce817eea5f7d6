import Foundation
import Testing

/// The operators that trap, in the files that compute with numbers of records and documents.
///
/// Each line with one is listed in `Arithmetic.txt` with the reason why its result fits. A new or
/// changed line fails the test until its bounds have been checked and it is listed. Where a bound
/// comes from a check at the border (`RecordLimits`), `NumberLimitTests` walks the values.
@Suite struct ArithmeticRuleTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
  private static let sources = folder.appending(path: "../../Sources").standardized

  /// The listed lines of each file, without blanks at their ends.
  private static func listed() throws -> [String: [String]] {
    let text = try String(contentsOf: folder.appending(path: "Arithmetic.txt"), encoding: .utf8)
    var lines: [String: [String]] = [:]
    var file = ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("## ") {
        file = String(line.dropFirst(3))
        lines[file] = []
      } else if !line.hasPrefix("#") {
        lines[file, default: []].append(String(line))
      }
    }
    return lines
  }

  /// The lines of a file that have an operator which traps.
  private static func operators(in file: String) throws -> [String] {
    let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
    let pattern = /[\w)\]] (?:\+|-|\*|<<|\+=|-=|\*=) [\w(\[.]/
    return text.split(separator: "\n").compactMap { line in
      let code = line.replacing(/"(?:[^"\\]|\\.)*"/, with: "\"\"")
      let statement = code.firstRange(of: "//").map { code[..<$0.lowerBound] } ?? code[...]
      guard statement.firstMatch(of: pattern) != nil else { return nil }
      return line.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test func `each operator that traps has a reason why it does not`() throws {
    let listed = try Self.listed()
    #expect(listed.count > 10)
    for (file, lines) in listed {
      let found = try Self.operators(in: file)
      for line in found where !lines.contains(line) {
        Issue.record("\(file): check the bounds of '\(line)', and list it in Arithmetic.txt")
      }
      for line in lines where !found.contains(line) {
        Issue.record("\(file): '\(line)' is listed in Arithmetic.txt, but not in the file")
      }
    }
  }

  @Test func `the files of transitions and pieces are listed`() throws {
    let listed = try Self.listed()
    for folder in [
      "DownloadStore/Records/StateMachine", "DownloadStore/Pieces", "DownloadMetalink",
    ] {
      let path = Self.sources.appending(path: folder).path
      for name in try FileManager.default.contentsOfDirectory(atPath: path)
      where name.hasSuffix(".swift") {
        let file = "\(folder)/\(name)"
        guard try !Self.operators(in: file).isEmpty else { continue }
        #expect(
          listed[file] != nil,
          "\(file) has operators that trap, and is not in Arithmetic.txt"
        )
      }
    }
  }
}
