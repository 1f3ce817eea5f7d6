/// A table whose columns are as wide as their longest text.
struct Table {
  private var rows: [[String]]

  init(_ heading: String...) {
    rows = [heading]
  }

  mutating func add(_ row: String...) {
    rows.append(row)
  }

  /// The heading and the rows; empty if there are no rows.
  var lines: [String] {
    guard rows.count > 1 else { return [] }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() {
        line += text
        line += String(repeating: " ", count: widths[column] - text.count + 2)
      }
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }
}
