import Foundation
import Testing

@testable import DownloadStore

/// The pages that are written from the table of the state machine.
///
/// With `DLSTORE_RULE_TABLE=1`, writes them instead of comparing them.
@Suite struct StateMachinePageTests {
  private typealias Kind = DownloadRecord.Event.Kind

  private static let docs = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "docs")

  @Test func `the page of the state machine contains the current table`() throws {
    try update("state-machine.md", with: Self.table)
  }

  @Test func `the diagram of the architecture shows the current table`() throws {
    try update("architecture.md", with: Self.diagram)
  }

  /// The first column of the table on the page on reliability: events, and functions as `name()`.
  @Test func `the page on reliability names events and functions that exist`() throws {
    let page = Self.docs.appending(path: "reliability.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "| event or function | value |"))
    let rows = text[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(rows.count > 10)
    let folder = Self.docs.appending(path: "../Sources/DownloadStore/Records/StateMachine")
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
    for row in rows {
      let name = row.dropFirst(2)
      if name.hasPrefix("`") {
        let function = name.dropFirst().prefix { $0 != "(" }
        #expect(sources.contains("func \(function)("), "\(row)")
      } else {
        #expect(Kind.allCases.contains { name.hasPrefix($0.rawValue) }, "\(row)")
      }
    }
  }

  private func update(_ name: String, with written: String) throws {
    let page = Self.docs.appending(path: name)
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "<!-- Written by `make rules`. -->\n"))
    let end = try #require(text.range(of: "\n<!-- End of what `make rules` writes. -->"))
    guard ProcessInfo.processInfo.environment["DLSTORE_RULE_TABLE"] == "1" else {
      #expect(
        text[start.upperBound..<end.lowerBound] == "\n" + written,
        "docs/\(name) is not up to date: run `make rules`."
      )
      return
    }
    let whole = text[..<start.upperBound] + "\n" + written + text[end.lowerBound...]
    try whole.write(to: page, atomically: true, encoding: .utf8)
  }

  // MARK: Table

  private static let table: String = {
    var lines = ["| event | in a state | with an intent | leads to |", "| --- | --- | --- | --- |"]
    for kind in Kind.allCases {
      var name = kind.rawValue
      for rule in TransitionTable.rules(of: kind) {
        let states = words(rule.states.map(\.rawValue), of: DownloadState.allCases.count)
        let intents = words(rule.intents.map(\.rawValue), of: DownloadIntent.allCases.count)
        lines.append("| \(name) | \(states) | \(intents) | \(target(of: rule)) |")
        name = ""
      }
    }
    return (lines + [""] + failures).map { $0 + "\n" }.joined()
  }()

  /// The failure codes and their properties.
  private static let failures: [String] = {
    let traits = DownloadFailure.Code.Traits.names
    let titles = ["failure"] + traits.map(\.name)
    let rows = DownloadFailure.Code.allCases.map { code in
      [code.rawValue] + traits.map { code.traits.contains($0.trait) ? "yes" : "" }
    }
    return ([titles, titles.map { _ in "---" }] + rows)
      .map { "| " + $0.joined(separator: " | ") + " |" }
  }()

  private static func words(_ words: [String], of count: Int) -> String {
    words.count == count ? "any" : words.joined(separator: ", ")
  }

  private static func target(of rule: TransitionTable.Rule) -> String {
    let intent = rule.intent.map { ", intent `\($0.rawValue)`" } ?? ""
    return switch rule.target {
    case .same: "the same state" + intent
    case .state(let state): "`\(state.rawValue)`" + intent
    case .queue: "`waiting`; `paused` with the intent `pause`"
    case .nothing: "no effect"
    }
  }

  // MARK: Diagram

  /// The commands that lead from nearly every state to the same one.
  private static let everywhere: Set<Kind> = [.restart, .remove, .addedAgain, .imported]

  private static let diagram: String = {
    var lines = ["```mermaid", "stateDiagram-v2"]
    lines += DownloadStatus.initial.map { "  [*] --> \($0.state.rawValue): added" }
    for from in DownloadState.allCases {
      for to in DownloadState.allCases where to != from {
        let events = Kind.allCases.filter { kind in
          !everywhere.contains(kind) && leads(kind, from, to)
        }
        guard !events.isEmpty else { continue }
        let names = events.map(\.rawValue).joined(separator: ", ")
        lines.append("  \(from.rawValue) --> \(to.rawValue): \(names)")
      }
    }
    lines += ["  removed --> [*]", "```"]
    return lines.map { $0 + "\n" }.joined()
  }()

  /// Whether an event leads from a state to another, in a position that events lead to.
  private static func leads(_ kind: Kind, _ from: DownloadState, _ to: DownloadState) -> Bool {
    TransitionTable.reachable.contains { status in
      guard status.state == from,
        case .becomes(let new) = TransitionTable.entry(for: kind, in: status)
      else { return false }
      return new.state == to
    }
  }
}
