import Foundation
import Testing

/// The pages of decisions: each has a status with a date, is listed, and has no dead link.
@Suite struct DecisionPageTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs/decisions", directoryHint: .isDirectory)

  /// The paths of the pages in the folder, such as `replaced/0017-….md`.
  private static let pages: [String] = {
    let files = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]
    return (files ?? []).filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted()
  }()

  private static func text(_ page: String) throws -> String {
    try String(contentsOf: folder.appending(path: page), encoding: .utf8)
  }

  @Test func `each page has its number, its status and a date below its title`() throws {
    #expect(Self.pages.count > 60)
    for page in Self.pages {
      let paragraphs = try Self.text(page).components(separatedBy: "\n\n")
      let number = page.components(separatedBy: "/").last?.prefix(4) ?? ""
      #expect(paragraphs[0].hasPrefix("# \(number): "), "\(page)")
      let status = paragraphs[1].replacing("\n", with: " ")
      #expect(status.hasPrefix("*Accepted on 2026-") && status.hasSuffix(".*"), "\(page)")
      let isReplaced = page.hasPrefix("replaced/")
      let saysSo = status.contains("; replaced by [") || status.contains("; withdrawn on ")
      #expect(saysSo == isReplaced, "\(page)")
    }
  }

  @Test func `the table lists each page once or more`() throws {
    let table = try Self.text("README.md")
    for page in Self.pages { #expect(table.contains("](\(page))"), "\(page) is not listed") }
  }

  @Test func `no link of a page is dead`() throws {
    for page in Self.pages + ["README.md"] {
      let base = Self.folder.appending(path: page).deletingLastPathComponent()
      for link in try Self.text(page).matches(of: /\]\(([^)#\s]+)/) {
        let target = String(link.output.1)
        guard !target.contains("://") else { continue }
        let path = base.appending(path: target).standardized.path
        #expect(FileManager.default.fileExists(atPath: path), "\(page): \(target)")
      }
    }
  }
}
