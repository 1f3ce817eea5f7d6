import Foundation

/// The result of one run.
struct Report: Encodable {
  let date: String
  let machine: String
  let records: Int
  let contenders: [String]
  let rows: [Row]

  init(records: Int, contenders: [String], rows: [Row]) {
    date = Date.now.formatted(.iso8601.year().month().day())
    machine = "\(ProcessInfo.processInfo.activeProcessorCount) cores, \(Self.processor)"
    self.records = records
    self.contenders = contenders
    self.rows = rows
  }

  private static var processor: String {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown"
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: file)
  }

  /// A table in Markdown: medians, less is better, and in brackets how many times the reference.
  var table: String {
    let head = ["\(records) records"] + contenders
    let lines = [head, head.map { _ in "---" }] + rows.map(cells)
    return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
  }

  private func cells(_ row: Row) -> [String] {
    let reference = row.medians[Entry.reference]
    return ["\(row.workload), \(row.unit)"]
      + contenders.map { contender in
        guard let median = row.medians[contender] else { return "–" }
        guard let reference, contender != Entry.reference else { return format(median) }
        return "\(format(median)) (\(format(median / reference)))"
      }
  }

  /// Three digits, as many as are worth printing.
  private func format(_ value: Double) -> String {
    let decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2
    return String(format: "%.\(decimals)f", value)
  }
}
