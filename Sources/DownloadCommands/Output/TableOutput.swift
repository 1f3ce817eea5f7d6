/// A text table, aligned by the width of characters on a terminal.
struct TableOutput {
  /// One column.
  struct Column {
    /// The header.
    var title: String
    /// Whether cells are aligned at their right edge.
    var isAlignedRight = false
  }

  /// The columns, from left to right.
  var columns: [Column]
  /// The cells of each row, one per column.
  var rows: [[String]] = []

  /// The header line and the rows, truncated to `width` columns if given.
  func lines(width: Int? = nil) -> [String] {
    let rows = [columns.map(\.title)] + rows.map { $0.map(TerminalText.safe) }
    let widths = columns.indices.map { column in
      rows.map { TerminalText.width($0[column]) }.max() ?? 0
    }
    return rows.map { row in
      var cells = columns.indices.map { column in
        TerminalText.padded(
          row[column],
          to: widths[column],
          alignedRight: columns[column].isAlignedRight
        )
      }
      // No trailing blanks.
      if let last = columns.indices.last, !columns[last].isAlignedRight { cells[last] = row[last] }
      let line = cells.joined(separator: "  ")
      return width.map { TerminalText.truncated(line, to: $0) } ?? line
    }
  }
}
