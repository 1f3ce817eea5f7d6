/// Rows under a heading, in columns as wide as they must be.
struct Table {
  private var rows: [[String]]

  init(_ heading: String...) {
    rows = [heading]
  }

  mutating func add(_ row: String...) {
    rows.append(row)
  }

  /// The lines; none when there are no rows.
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
