import Foundation

/// The figures of a run.
struct Report: Encodable {
  struct Row: Encodable {
    let name: String
    let contender: String
    let value: Double
    let unit: String
  }

  /// The number of objects.
  let count: Int
  private(set) var rows: [Row] = []

  init(count: Int) { self.count = count }

  mutating func add(_ name: String, _ contender: String, _ time: Duration) {
    add(name, contender, time / .milliseconds(1), "ms")
  }

  mutating func add(_ name: String, _ contender: String, _ value: Double, _ unit: String) {
    rows.append(Row(name: name, contender: contender, value: value, unit: unit))
    let text = value.formatted(.number.precision(.significantDigits(3)).grouping(.never))
    print("\(name), \(contender): \(text) \(unit)")
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: file)
  }
}
