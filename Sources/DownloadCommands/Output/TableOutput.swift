/// Columns of text, aligned by what a terminal shows.
struct TableOutput {
  /// One column.
  struct Column {
    /// What stands above it.
    var title: String
    /// Whether its texts end below each other.
    var isAlignedRight = false
  }

  /// The columns, from left to right.
  var columns: [Column]
  /// The texts of each row, one a column.
  var rows: [[String]] = []

  /// The lines: a title and the rows.
  ///
  /// With `width`, what is longer is cut at its end.
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
      // No blanks at the ends of lines.
      if let last = columns.indices.last, !columns[last].isAlignedRight { cells[last] = row[last] }
      let line = cells.joined(separator: "  ")
      return width.map { TerminalText.truncated(line, to: $0) } ?? line
    }
  }
}
