import CommandTestSupport
import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands
@testable import DownloadSync

/// With `DLSTORE_RULE_TABLE=1`, writes the table instead of comparing it.
struct RuleTableTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/reconciliation.md")

  @Test func `the documentation contains the current rules`() async throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let start = try #require(text.range(of: "<!-- Written by `make rules`. -->\n"))
    let end = try #require(text.range(of: "\n<!-- End of what `make rules` writes. -->"))
    let table = await dlstore("explain", "--rules").output
    guard ProcessInfo.processInfo.environment["DLSTORE_RULE_TABLE"] == "1" else {
      #expect(
        text[start.upperBound..<end.lowerBound] == "\n" + table,
        "docs/reconciliation.md is not up to date: run `make rules`."
      )
      return
    }
    let written = text[..<start.upperBound] + "\n" + table + text[end.lowerBound...]
    try written.write(to: Self.page, atomically: true, encoding: .utf8)
  }

  @Test func `every rule is a line of the table`() {
    let lines = RuleTableText.markdown.split(separator: "\n").filter { $0.hasPrefix("|") }
    let names = lines.map { String($0.split(separator: " ")[1]) }
    let ids =
      ReconcileRule.ID.allCases.map(\.rawValue) + TransferPlan.Rule.ID.allCases.map(\.rawValue)
    #expect(names.filter { $0 != "rule" && $0 != "---" }.sorted() == ids.sorted())
  }
}
