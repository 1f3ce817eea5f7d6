internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// The text and JSON of stored objects, with the secrets of downloads redacted.
struct StoredObjectOutput {
  /// The fields to show, with names that are unique in the model.
  let columns: [(id: UInt32, name: String)]
  private let model: StoredModel
  private let revealsSecrets: Bool

  /// - Parameters:
  ///   - model: The model of the objects.
  ///   - fields: The names of the fields to show, in this order; empty for all.
  ///   - revealsSecrets: Whether to show the secrets of downloads.
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field.
  init(_ model: StoredModel, fields: [String] = [], revealsSecrets: Bool) throws {
    self.model = model
    let isDownload = Self.downloadModels.contains(model.name)
    self.revealsSecrets = revealsSecrets || !isDownload
    let shown = fields.isEmpty ? model.fields : try fields.map { try model.field(named: $0) }
    var names: Set<String> = []
    columns = shown.map { field in
      // A removed field may have the name of a later one.
      (field.id, names.insert(field.name).inserted ? field.name : "\(field.name)#\(field.id)")
    }
  }

  /// The models that contain secrets: URLs with signatures, header fields and resume data.
  private static let downloadModels: Set = [
    DownloadRecord.schema.name, RequestHeaders.schema.name,
  ]

  // MARK: JSON

  /// The object, with one member for each column.
  ///
  /// The primary key is exact, because it identifies the object.
  func json(of object: StoredObject) -> JSONValue {
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
  func cells(of object: StoredObject) -> [String] {
    columns.map { Self.text(redacted(value(of: $0.id, in: object)), showsData: true) }
  }

  /// One cell for each column, for people; data is shown by its size.
  func tableCells(of object: StoredObject) -> [String] {
    columns.map { column in
      let value = value(of: column.id, in: object)
      return value.isNull ? "—" : Self.text(redacted(value), showsData: false)
    }
  }

  /// One line for each column: its name and its value.
  func lines(of object: StoredObject) -> [String] {
    let width = columns.map { TerminalText.width($0.name) }.max() ?? 0
    return zip(columns, tableCells(of: object)).map { column, text in
      TerminalText.padded(column.name, to: width + 2) + TerminalText.safe(text)
    }
  }

  private func value(of id: UInt32, in object: StoredObject) -> StoredValue {
    object.fields.first { $0.id == id }?.value ?? .null
  }

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

  // MARK: Secrets

  /// Returns the value with the secrets of URLs redacted, and without data, which may contain
  /// header fields.
  private func redacted(_ value: StoredValue) -> StoredValue {
    guard !revealsSecrets else { return value }
    switch value {
    case .string(let text): return .string(text.contains("://") ? Redaction.url(text) : text)
    case .data, .embedded: return .string(Redaction.mark)
    case .array(let elements): return .array(elements.map(redacted))
    case .set(let elements): return .set(elements.map(redacted))
    default: return value
    }
  }
}
