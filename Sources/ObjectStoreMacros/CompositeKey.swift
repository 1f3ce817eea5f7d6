import SwiftSyntax

/// The compound primary key of a model.
///
/// A store has a single field as the primary key. This field repeats the values of the marked
/// properties, so the format needs no special case.
struct CompositeKey {
  static let fieldName = "primaryKey"
  static let typeName = "PrimaryKey"

  private let parts: [StoredField]
  private let access: AccessLevel

  init(_ parts: [StoredField], access: AccessLevel) {
    self.parts = parts
    self.access = access
  }

  /// The field's id is derived from its parts, so a store notices another choice or order when opened.
  private var id: UInt32 {
    FieldID.number(forName: parts.map { "\($0.id.number)" }.joined(separator: " "))
  }

  var schema: String {
    "ObjectStoreNames.FieldSchema(\"\(Self.fieldName)\", \(Self.typeName).self, id: \(id), isPrimaryKey: true)"
  }

  private var names: String {
    let names = parts.map { "`\($0.key)`" }
    return names.dropLast().joined(separator: ", ") + " and \(names.last ?? "")"
  }

  /// The property that returns the key.
  func property(isolation: String) -> String {
    let arguments = parts.map { "\($0.name.text): \($0.name.text)" }.joined(separator: ", ")
    return """
      /// The values of \(names), which tell one object from another.
      \(access.prefix)\(isolation)var \(Self.fieldName): \(Self.typeName) {
        \(Self.typeName)(\(arguments))
      }
      """
  }

  /// The type of the key.
  var type: String {
    let farthest = parts.map(\.access).reduce(access, min).prefix
    let properties = parts.map { part in
      """
      /// The field `\(part.key)`.
      \(min(access, part.access).prefix)let \(part.name.text): \(part.type.trimmedDescription)
      """
    }
    let parameters = parts.map { "\($0.name.text): \($0.type.trimmedDescription)" }
    let assignments = parts.map { "self.\($0.name.text) = \($0.name.text)" }
    let reads = parts.map { "self.\($0.name.text) = try reader.readField()" }
    let writes = parts.map { "writer.writeField(self.\($0.name.text))" }
    return """
      /// The values of \(names), which together tell one object from another.
      \(access.prefix)nonisolated struct \(Self.typeName): ObjectStoreNames.FieldValue, Swift.Hashable {
      \(properties.joined(separator: "\n").indented)

        /// Makes the key of the object with those values.
        \(farthest)init(\(parameters.joined(separator: ", "))) {
      \(assignments.joined(separator: "\n").indented.indented)
        }

        /// How the key lies on disk: its parts one after another.
        \(access.prefix)static var fieldType: ObjectStoreNames.FieldType { .data }

        /// Reads every part.
        \(access.prefix)init(from reader: inout ObjectStoreNames.ByteReader) \
      throws(ObjectStoreNames.RecordError) {
      \(reads.joined(separator: "\n").indented.indented)
        }

        /// Writes every part.
        \(access.prefix)func encode(to writer: inout ObjectStoreNames.ByteWriter) {
      \(writes.joined(separator: "\n").indented.indented)
        }
      }
      """
  }
}
