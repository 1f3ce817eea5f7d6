/// A text table, aligned by the width of characters on a terminal.
///
/// On a terminal the table is fitted to its width: the least important columns are dropped, and long
/// cells are truncated. No line is wider than the terminal.
package struct TableOutput {
  /// One column.
  package struct Column {
    /// The header.
    package var title: String
    /// Whether cells are aligned at their right edge.
    ///
    /// These cells are numbers, which are never truncated as long as another column can be dropped.
    package var isAlignedRight = false
    /// The width down to which cells may be truncated before a column is dropped.
    package var minimumWidth = 12
    /// Whether truncated cells end in an ellipsis.
    ///
    /// The prefix of an id is an id, so it is cut without one.
    package var hasEllipsis = true
    /// Columns with a lower number are dropped first, and of equal ones the rightmost.
    package var importance = 0
    /// Whether a cell with a text also takes the place of the blank cells to its left.
    package var takesBlankCells = false
    /// The color of a cell with a text; `nil` for the default one.
    package var color: (String) -> TerminalColor? = { _ in nil }

    /// Creates a column.
    package init(
      title: String,
      isAlignedRight: Bool = false,
      minimumWidth: Int = 12,
      hasEllipsis: Bool = true,
      importance: Int = 0,
      takesBlankCells: Bool = false,
      color: @escaping (String) -> TerminalColor? = { _ in nil }
    ) {
      self.title = title
      self.isAlignedRight = isAlignedRight
      self.minimumWidth = minimumWidth
      self.hasEllipsis = hasEllipsis
      self.importance = importance
      self.takesBlankCells = takesBlankCells
      self.color = color
    }
  }

  /// The columns, from left to right.
  package var columns: [Column]
  /// The cells of each row, one per column.
  package var rows: [[String]] = []
  /// Whether the titles are the first line.
  package var hasHeader = true

  /// Creates a table.
  package init(columns: [Column], rows: [[String]] = [], hasHeader: Bool = true) {
    self.columns = columns
    self.rows = rows
    self.hasHeader = hasHeader
  }

  /// The width of the gap between columns.
  package static let gap = 2

  /// The header line and the rows, fitted to `width` columns if given.
  package func lines(width: Int? = nil) -> [String] {
    lines(TerminalStyle(width: width))
  }

  /// The header line and the rows in the style of their destination.
  package func lines(_ style: TerminalStyle) -> [String] {
    var widths = ContentWidths(of: self, style)
    for row in rows { widths.add(row) }
    let places = TableLayout.places(of: columns, contentWidths: widths.widths, width: style.width)
    let lines = rows.map { line($0, places, style) }
    return hasHeader ? [header(places, style)] + lines : lines
  }

  /// The width of the widest cell of each column, measured one row at a time.
  package struct ContentWidths {
    package private(set) var widths: [Int]
    private let style: TerminalStyle

    package init(of table: TableOutput, _ style: TerminalStyle) {
      widths = table.columns.map { table.hasHeader ? TerminalText.width($0.title) : 0 }
      self.style = style
    }

    package mutating func add(_ row: [String]) {
      for (column, cell) in row.enumerated() {
        widths[column] = max(widths[column], TableOutput.width(of: TerminalText.safe(cell), style))
      }
    }
  }

  /// Returns the header line.
  package func header(_ places: [TableLayout.Place], _ style: TerminalStyle) -> String {
    line(columns.map(\.title), places, style) { _ in .bold }
  }

  /// Returns the line of a row.
  package func line(
    _ row: [String],
    _ places: [TableLayout.Place],
    _ style: TerminalStyle
  ) -> String {
    let row = row.map(TerminalText.safe)
    return line(row, places, style) { columns[$0].color(row[$0]) }
  }

  /// Returns the places of a row, in which cells take the place of the blank ones to their left.
  private func merged(_ places: [TableLayout.Place], _ cells: [String]) -> [TableLayout.Place] {
    var merged: [TableLayout.Place] = []
    for place in places {
      var place = place
      if columns[place.column].takesBlankCells, !cells[place.column].isEmpty {
        while let last = merged.last, cells[last.column].isEmpty {
          place.width += last.width + Self.gap
          merged.removeLast()
        }
      }
      merged.append(place)
    }
    return merged
  }

  /// The width to reserve for a cell.
  ///
  /// Where the cursor can be moved to the next cell, that is the greatest possible width.
  private static func width(of cell: String, _ style: TerminalStyle) -> Int {
    style.isInteractive ? TerminalText.widestWidth(cell) : TerminalText.width(cell)
  }

  private func line(
    _ cells: [String],
    _ places: [TableLayout.Place],
    _ style: TerminalStyle,
    color: (Int) -> TerminalColor?
  ) -> String {
    var line = ""
    var position = 0
    let places = style.width == nil ? places : merged(places, cells)
    for (index, place) in places.enumerated() {
      let column = columns[place.column]
      // A file or a pipe gets every cell in full.
      let cell =
        style.width == nil
        ? cells[place.column]
        : TerminalText.truncated(
          cells[place.column],
          to: place.width,
          ellipsis: column.hasEllipsis ? "…" : "",
          onAnyTerminal: style.isInteractive
        )
      let blanks = String(repeating: " ", count: max(0, place.width - Self.width(of: cell, style)))
      var shown = style.width == nil ? cell : TerminalText.isolated(cell)
      if style.isColored, let color = color(place.column) { shown = color.applied(to: shown) }
      line += column.isAlignedRight ? blanks + shown : shown
      position += place.width
      guard index < places.count - 1 else { break }
      line += (column.isAlignedRight ? "" : blanks) + String(repeating: " ", count: Self.gap)
      position += Self.gap
      if style.isInteractive, TerminalText.hasUncertainWidth(cell) {
        line += Terminal.column(position + 1)
      }
    }
    return line
  }
}

/// Decides which columns of a table are shown, and their widths.
///
/// Pure.
package enum TableLayout {
  /// A shown column.
  package struct Place: Equatable {
    /// The index of the column.
    package var column: Int
    /// The width of its cells in terminal columns.
    package var width: Int
  }

  /// Decides about the columns, from left to right.
  ///
  /// First, columns are dropped until the rest fits with truncated cells. The remaining width then
  /// goes to the truncated columns, the most important first.
  ///
  /// - Parameters:
  ///   - columns: The columns of the table.
  ///   - contentWidths: The width of the widest cell of each column.
  ///   - width: The width of the terminal; `nil` to show all columns in full.
  /// - Returns: The places, whose widths and gaps fit the terminal.
  package static func places(
    of columns: [TableOutput.Column],
    contentWidths: [Int],
    width: Int?
  ) -> [Place] {
    guard let width else {
      return columns.indices.map { Place(column: $0, width: contentWidths[$0]) }
    }
    var places = columns.indices.map { index in
      let column = columns[index]
      let minimum = column.isAlignedRight ? contentWidths[index] : column.minimumWidth
      return Place(column: index, width: min(contentWidths[index], minimum))
    }
    func used() -> Int {
      places.reduce(0) { $0 + $1.width } + TableOutput.gap * max(0, places.count - 1)
    }
    while used() > width, places.count > 1 {
      let least = places.indices.min { one, other in
        let left = columns[places[one].column].importance
        let right = columns[places[other].column].importance
        return left == right ? one > other : left < right
      }
      if let least { places.remove(at: least) }
    }
    var rest = width - used()
    if rest < 0 {
      // A single column is left.
      return places.map { Place(column: $0.column, width: max(0, width)) }
    }
    let order = places.indices.sorted { one, other in
      let left = columns[places[one].column].importance
      let right = columns[places[other].column].importance
      return left == right ? one < other : left > right
    }
    for index in order {
      let more = min(rest, contentWidths[places[index].column] - places[index].width)
      places[index].width += more
      rest -= more
    }
    return places
  }
}
