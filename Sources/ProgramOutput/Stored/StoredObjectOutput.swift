internal import Foundation
package import ObjectStore

/// The text and JSON of stored objects.
package struct StoredObjectOutput {
  /// The fields to show, with names that are unique in the model.
  package let columns: [(id: UInt32, name: String)]
  private let model: StoredModel
  private let redacted: (StoredValue) -> StoredValue

  /// - Parameters:
  ///   - model: The model of the objects.
  ///   - fields: The names of the fields to show, in this order; empty for all.
  ///   - redacted: Returns a value without its secrets; applied to all values but keys in JSON.
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field.
  package init(
    _ model: StoredModel,
    fields: [String] = [],
    redacted: @escaping (StoredValue) -> StoredValue = { $0 }
  ) throws {
    self.model = model
    self.redacted = redacted
    let shown = fields.isEmpty ? model.fields : try fields.map { try model.field(named: $0) }
    var names: Set<String> = []
    columns = shown.map { field in
      // A removed field may have the name of a later one.
      (field.id, names.insert(field.name).inserted ? field.name : "\(field.name)#\(field.id)")
    }
  }

  // MARK: JSON

  /// The object, with one member for each column.
  ///
  /// The primary key is exact, because it identifies the object.
  package func json(of object: StoredObject) -> JSONValue {
    .object(
      columns.map { column in
        let isKey = model.fields.contains { $0.id == column.id && $0.isPrimaryKey }
        let value = value(of: column.id, in: object)
        return JSONValue.Member(name: column.name, value: isKey ? value.json : redacted(value).json)
      }
    )
  }

  // MARK: Text

  /// One cell for each column, exact; data is Base64, and a missing value is empty.
  package func cells(of object: StoredObject) -> [String] {
    columns.map { Self.text(redacted(value(of: $0.id, in: object)), showsData: true) }
  }

  /// One cell for each column, for people; data is shown by its size.
  package func tableCells(of object: StoredObject) -> [String] {
    columns.map { column in
      let value = value(of: column.id, in: object)
      return value.isNull ? "—" : Self.text(redacted(value), showsData: false)
    }
  }

  /// One line for each column: its name and its value.
  package func lines(of object: StoredObject) -> [String] {
    let width = columns.map { TerminalText.width($0.name) }.max() ?? 0
    return zip(columns, tableCells(of: object)).map { column, text in
      TerminalText.padded(column.name, to: width + 2) + TerminalText.safe(text)
    }
  }

  private func value(of id: UInt32, in object: StoredObject) -> StoredValue {
    object.fields.first { $0.id == id }?.value ?? .null
  }

  /// The text of a value, exact; data is Base64.
  package static func text(_ value: StoredValue) -> String { text(value, showsData: true) }

  private static func text(_ value: StoredValue, showsData: Bool) -> String {
    switch value {
    case .null: return ""
    case .date(let date): return Timestamp.text(date)
    case .uuid(let uuid): return uuid.uuidString.lowercased()
    case .data(let data), .embedded(let data):
      return showsData ? data.base64EncodedString() : "\(data.count) bytes"
    case .array(let elements), .set(let elements):
      return elements.map { text($0, showsData: showsData) }.joined(separator: " ")
    case .dictionary(let entries):
      return entries.map { entry in
        "\(text(entry.key, showsData: showsData))=\(text(entry.value, showsData: showsData))"
      }
      .joined(separator: " ")
    default: return "\(value)"
    }
  }
}
