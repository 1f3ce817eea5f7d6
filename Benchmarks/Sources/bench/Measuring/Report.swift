import Foundation

/// The result of one run.
struct Report: Encodable {
  private let date: String
  private let machine: String
  private let versions: [String: String]
  private let records: Int
  private let rows: [RowReport]

  init(records: Int, versions: [String: String], rows: [TableRow]) {
    date = Date.now.formatted(.iso8601.year().month().day())
    machine = "\(ProcessInfo.processInfo.activeProcessorCount) cores, \(Self.processor)"
    self.versions = versions
    self.records = records
    self.rows = rows.map { RowReport($0) }
  }

  private static var processor: String {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(self).write(to: file)
  }

  /// A table in Markdown: the medians (less is better), then the ratio of our cost to each rival's.
  var table: String {
    let head =
      ["\(records) records"] + Contenders.names
      + ["/ chosen C", "/ best C", "/ statements", "/ Codable", "targets"]
    let lines = [head, head.map { _ in "---" }] + rows.map(\.cells)
    return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
  }
}

/// A row of the report.
private struct RowReport: Encodable {
  private let row: String
  private let unit: String
  private let medians: [String: Double]
  private let samples: [String: [Double]]
  /// Wall-clock time if the samples are processor time, and vice versa.
  private let otherClock: [String: [Double]]
  /// The ratio of our cost to the rival's.
  private let ratios: [String: Double]
  private let targets: [Target.Outcome]

  init(_ row: TableRow) {
    self.row = row.name
    unit = row.unit
    medians = row.medians
    samples = row.samples
    otherClock = row.otherClock
    let rivals: [(String, Target.Rival)] = [
      ("chosen C", .chosen), ("best C", .best), ("statements", .statements), ("Codable", .codable),
    ]
    ratios = Dictionary(
      uniqueKeysWithValues: rivals.compactMap { name, rival in
        row.ratio(to: rival).map { (name, $0) }
      }
    )
    targets = row.outcomes
  }

  var cells: [String] {
    ["\(row), \(unit)"]
      + Contenders.names.map { medians[$0]?.figure ?? "–" }
      + ["chosen C", "best C", "statements", "Codable"].map { ratios[$0]?.figure ?? "–" }
      + [
        targets.map { "\($0.target): \($0.reached) \($0.isMet ? "✓" : "✗")" }
          .joined(separator: "; ")
      ]
  }
}
