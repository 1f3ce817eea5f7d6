package import ObjectStore

/// An object that a row of a file describes.
package struct ImportedRow: Sendable, Hashable {
  package var object: StoredObject
  /// The first line of the row, from 1.
  package var line: Int
  /// The number of the JSON object, from 1; `nil` for CSV.
  package var number: Int?
}

/// Reads the objects of a model from a file.
package protocol ImportedRows {
  /// The unit of the numbers in errors of the store.
  static var unit: JSONLinesError.Unit { get }

  /// Returns the next row; `nil` at the end of the file.
  ///
  /// - Throws: ``RowError``; ``CommandFailure``; the error of reading the file.
  mutating func next() throws -> ImportedRow?
}

/// Reads objects from the rows of CSV, whose first row names the columns.
package struct CSVRows: ImportedRows {
  package static let unit = JSONLinesError.Unit.line

  private let mapping: RowMapping
  private var reader: CSVReader
  private let columns: [String]
  /// For each column, the positions of the fields that it supplies.
  private let positions: [[Int]]

  /// Reads the names of the columns.
  ///
  /// - Throws: ``RowError``; ``CommandFailure`` for an option that does not fit the columns; the
  ///   error of reading the file.
  package init(
    _ source: InputBytes,
    named file: String,
    _ mapping: RowMapping,
    _ delimiter: CSVDelimiter
  ) throws {
    self.mapping = mapping
    reader = CSVReader(source, delimiter: delimiter)
    guard let header = try reader.next() else {
      throw RowError(line: 1, "the file is empty: its first line must name the columns")
    }
    columns = header.cells.map(\.text)
    var names: Set<String> = []
    for name in columns where !names.insert(name).inserted {
      throw RowError(line: header.line, column: name, "two columns have this name")
    }
    try mapping.requireSources(in: names, file: file)
    positions = try columns.map { try mapping.fields(of: $0, line: header.line) }
    try mapping.requireFields(Set(positions.joined()), line: header.line)
  }

  package mutating func next() throws -> ImportedRow? {
    guard let row = try reader.next() else { return nil }
    guard row.cells.count == columns.count else {
      throw RowError(
        line: row.line,
        "the row has \(row.cells.count) cells, but line 1 names \(columns.count) columns"
      )
    }
    var values = [StoredValue?](repeating: nil, count: mapping.model.fields.count)
    for (column, cell) in row.cells.enumerated() {
      for position in positions[column] {
        let field = mapping.model.fields[position]
        guard let value = value(cell, field) else {
          throw RowError(
            line: row.line,
            column: columns[column],
            mapping.reason(cell.text, field)
          )
        }
        values[position] = value
      }
    }
    return ImportedRow(object: mapping.object(values), line: row.line)
  }

  /// Converts a cell; an empty one without quotes is the `nil` of an optional field.
  private func value(_ cell: CSVReader.Cell, _ field: StoredModel.Field) -> StoredValue? {
    if cell.text.isEmpty, field.isOptional, !cell.isQuoted || !field.type.hasEmptyText {
      return .null
    }
    return mapping.values.value(cell.text, field.type)
  }
}

/// Reads objects from JSON objects, whose members are the columns.
package struct JSONRows: ImportedRows {
  package static let unit = JSONLinesError.Unit.object

  private let mapping: RowMapping
  private let file: String
  private var reader: JSONObjectReader
  /// The names of all members so far.
  private var columns: Set<String> = []

  package init(_ source: InputBytes, named file: String, _ mapping: RowMapping) {
    self.mapping = mapping
    self.file = file
    reader = JSONObjectReader(source)
  }

  package mutating func next() throws -> ImportedRow? {
    guard let row = try reader.next() else {
      if !columns.isEmpty { try mapping.requireSources(in: columns, file: file) }
      return nil
    }
    var values = [StoredValue?](repeating: nil, count: mapping.model.fields.count)
    for member in row.members {
      let (column, json) = (member.name, member.value)
      columns.insert(column)
      for position in try mapping.fields(of: column, line: row.line, object: row.number) {
        let field = mapping.model.fields[position]
        guard let value = value(json, field) else {
          throw RowError(
            line: row.line,
            object: row.number,
            column: column,
            mapping.reason(json.importedText, field)
          )
        }
        values[position] = value
      }
    }
    let supplied = Set(values.indices.filter { values[$0] != nil })
    try mapping.requireFields(supplied, line: row.line, object: row.number)
    return ImportedRow(object: mapping.object(values), line: row.line, number: row.number)
  }

  private func value(_ json: JSONValue, _ field: StoredModel.Field) -> StoredValue? {
    if field.isOptional {
      if json == .null { return .null }
      if json == .string(""), !field.type.hasEmptyText { return .null }
    }
    return mapping.values.value(json, field.type)
  }
}

extension FieldType {
  /// Whether an empty text is a value of the type.
  fileprivate var hasEmptyText: Bool {
    switch self {
    case .string, .data, .embedded: true
    default: false
    }
  }
}

extension JSONValue {
  /// The text of a string, or the JSON text of another value.
  fileprivate var importedText: String {
    if case .string(let text) = self { return text }
    var output: [UInt8] = []
    write(to: &output)
    return String(decoding: output, as: UTF8.self)
  }
}
