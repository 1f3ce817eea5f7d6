import Foundation
import SwiftParser
import SwiftSyntax
import Testing

/// A `.model` template of a record type, and its checked-in expansion.
///
/// The expansion is checked in, so that users of the package do not build the macro.
struct RecordTemplate: Sendable, CustomTestStringConvertible {
  let name: String

  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Sources/DownloadStore/Records", directoryHint: .isDirectory)

  /// The templates of the download store.
  static let all: [RecordTemplate] = {
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: nil
    )
    return (files ?? [])
      .filter { $0.pathExtension == "model" }
      .map { RecordTemplate(name: $0.deletingPathExtension().lastPathComponent) }
      .sorted { $0.name < $1.name }
  }()

  /// Whether the tests write the expansions instead of comparing them.
  static var isUpdating: Bool {
    ProcessInfo.processInfo.environment["DLSTORE_RECORD_MODELS"] == "1"
  }

  var testDescription: String { "\(name).model" }

  private var expansionURL: URL { Self.folder.appending(path: "\(name).swift") }

  /// Returns the expansion of the template, with a header comment that names its source.
  func expanded() throws -> String {
    let url = Self.folder.appending(path: "\(name).model")
    return try Self.expand(try String(contentsOf: url, encoding: .utf8), name: name)
  }

  /// Reads the checked-in expansion.
  func checkedIn() throws -> String {
    try String(contentsOf: expansionURL, encoding: .utf8)
  }

  /// Replaces the checked-in expansion.
  func write(_ expansion: String) throws {
    try Data(expansion.utf8).write(to: expansionURL, options: .atomic)
  }

  static func expand(_ template: String, name: String) throws -> String {
    let result = MacroExpander(expanding: template)
    guard result.problems.isEmpty else { throw ExpansionFailure(problems: result.problems) }
    let header = """
      // Expanded from \(name).model by the @Model macro. Do not edit: change the template and run \
      `make models`.
      """
    return header + "\n" + result.expansion.trimmingCharacters(in: .newlines) + "\n"
  }

  /// Returns the tokens and comments of a file, which do not depend on its formatting.
  static func contents(of source: String) -> [String] {
    Parser.parse(source: source).tokens(viewMode: .sourceAccurate)
      .flatMap { token in
        token.leadingTrivia.comments + [token.text] + token.trailingTrivia.comments
      }
      .filter { !$0.isEmpty }
  }
}

/// The diagnostics of a template that the macro refuses.
struct ExpansionFailure: Error, CustomStringConvertible {
  let problems: [MacroExpander.Problem]

  var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension Trivia {
  fileprivate var comments: [String] {
    pieces.filter(\.isComment).map { piece in
      Trivia(pieces: [piece]).description.trimmingCharacters(in: .whitespaces)
    }
  }
}
