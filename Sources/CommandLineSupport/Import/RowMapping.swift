package import ObjectStore

/// The option `--map FIELD=COLUMN`.
package struct FieldSource: Sendable, Hashable {
  package var field: String
  package var column: String

  /// Parses the text; `nil` without a field, an equals sign or a column.
  package init?(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, !text.hasPrefix("=") else { return nil }
    (field, column) = (parts[0], parts[1])
  }
}

/// Makes objects of a model from the rows of a file.
package struct RowMapping {
  package let model: StoredModel
  package let values: ImportedValue
  private let sources: [FieldSource]
  private let ignoresColumns: Bool
  /// The positions in ``StoredModel/fields`` of the fields that a column supplies.
  private let positions: [String: [Int]]

  /// - Parameters:
  ///   - model: The model of the objects.
  ///   - sources: The columns of fields that are not supplied by the column of their name.
  ///   - ignoresColumns: Whether columns that supply no field are skipped.
  ///   - values: The conversion of values.
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field, or one with two columns.
  package init(
    _ model: StoredModel,
    sources: [FieldSource],
    ignoresColumns: Bool,
    values: ImportedValue
  ) throws {
    self.model = model
    self.sources = sources
    self.ignoresColumns = ignoresColumns
    self.values = values
    var columns: [UInt32: String] = [:]
    for source in sources {
      let field = try model.field(named: source.field)
      guard columns.updateValue(source.column, forKey: field.id) == nil else {
        throw CommandFailure(.usage, "--map names the field '\(field.name)' twice")
      }
    }
    let taken = Set(sources.map(\.column))
    var positions: [String: [Int]] = [:]
    var names: Set<String> = []
    for (position, field) in model.fields.enumerated() {
      // A removed field may have the name of a later one.
      let isNamed = names.insert(field.name).inserted && !taken.contains(field.name)
      guard let column = columns[field.id] ?? (isNamed ? field.name : nil) else { continue }
      positions[column, default: []].append(position)
    }
    self.positions = positions
  }

  /// Returns the positions of the fields that a column supplies; empty if it is ignored.
  ///
  /// - Throws: ``RowError`` if the column supplies no field.
  package func fields(of column: String, line: Int, object: Int? = nil) throws -> [Int] {
    if let found = positions[column] { return found }
    guard !ignoresColumns else { return [] }
    let suggestion = Suggestion.text(for: column, among: model.fields.map(\.name))
    throw RowError(
      line: line,
      object: object,
      column: column,
      "\(model.name) has no such field.\(suggestion) Pass --map FIELD=COLUMN, or --ignore-columns "
        + "to skip it. The fields are: \(model.fields.map(\.name).joined(separator: " "))"
    )
  }

  /// Throws if `--map` names a column that the file does not have.
  ///
  /// - Throws: ``CommandFailure`` with `usage`.
  package func requireSources(in columns: Set<String>, file: String) throws {
    guard let missing = sources.first(where: { !columns.contains($0.column) }) else { return }
    let names = columns.sorted()
    throw CommandFailure(
      .usage,
      "\(file) has no column '\(missing.column)', which --map names."
        + Suggestion.text(for: missing.column, among: names)
        + " The columns are: \(names.joined(separator: " "))"
    )
  }

  /// Throws if a field that every object must have is not supplied.
  ///
  /// - Throws: ``RowError``.
  package func requireFields(_ supplied: Set<Int>, line: Int, object: Int? = nil) throws {
    for (position, field) in model.fields.enumerated()
    where !supplied.contains(position) && model.requiredFields.contains(field.id) {
      throw RowError(
        line: line,
        object: object,
        "no column supplies the field '\(field.name)', which every \(model.name) must have: "
          + "pass --map \(field.name)=COLUMN"
      )
    }
  }

  /// Makes an object from the values of its fields, by their positions.
  package func object(_ values: [StoredValue?]) -> StoredObject {
    var fields: [StoredObject.Field] = []
    fields.reserveCapacity(values.count)
    for (field, value) in zip(model.fields, values) {
      guard let value else { continue }
      fields.append(
        StoredObject.Field(id: field.id, name: field.name, type: field.type, value: value)
      )
    }
    return StoredObject(model: model.name, fields: fields)
  }

  /// Returns the reason for a value that its field cannot have, with the beginning of the value.
  package func reason(_ text: String, _ field: StoredModel.Field) -> String {
    let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
    let name = "\(model.name).\(field.name)"
    return "'\(shown)' is not a value of \(name), which is of type \(field.type): expected "
      + values.expected(field)
  }
}
