import SwiftSyntax
import SwiftSyntaxBuilder

/// The source text of the expansion of `@Model`.
///
/// Names of the store's module are qualified by `ObjectStoreNames`, and those of the standard library by
/// `Swift`: a file may import, and a model may contain, other types of these names.
struct ModelExpansion {
  private let model: ModelDeclaration
  private let typeName: String
  /// The compound primary key; `nil` if a single property is the key.
  private let compositeKey: CompositeKey?

  init(of model: ModelDeclaration, named typeName: String) {
    self.model = model
    self.typeName = typeName
    compositeKey =
      model.primaryKey.count > 1
      ? CompositeKey(model.primaryKey, access: model.access) : nil
  }

  /// The extension with the conformance to `Model`.
  ///
  /// `declaringIt` is false if the struct declares the conformance itself.
  func conformance(declaringIt: Bool) throws -> ExtensionDeclSyntax {
    let availability = model.availability.map { $0.description + "\n" }.joined()
    // Without `nonisolated`, a module's default isolation would isolate the conformance.
    let conformance = declaringIt ? ": ObjectStoreNames.Model" : ""
    let header = "\(availability)nonisolated extension \(typeName)\(conformance) {"
    let described = model.isNested ? [] : descriptions(isolation: "")
    let body = (described + [decoding, encoding, positions]).joined(separator: "\n\n")
    return try ExtensionDeclSyntax("\(raw: header)\n\(raw: body.indented)\n}")
  }

  /// The members that a nested struct must contain itself: an extension does not see the types beside
  /// the struct, which its fields may use.
  var members: [DeclSyntax] {
    descriptions(isolation: "nonisolated ").map { DeclSyntax(stringLiteral: $0) }
  }

  private func descriptions(isolation: String) -> [String] {
    var all = [
      columns,
      """
      /// The stored fields, for use in queries.
      \(access)\(isolation)static let columns = Columns()
      """,
      schema(isolation: isolation),
    ]
    if let compositeKey {
      all += [compositeKey.type, compositeKey.property(isolation: isolation)]
    } else if let key = model.primaryKey.first, key.key != CompositeKey.fieldName {
      all.append(
        """
        /// The value of `\(key.key)`, which tells one object from another.
        \(access)\(isolation)var primaryKey: \(key.type.trimmedDescription) { \(key.name.text) }
        """
      )
    }
    return all
  }

  private var access: String { model.access.prefix }

  private var columns: String {
    var columns = model.fields.enumerated().map { position, field in
      // A column cannot be more visible than the type of its field.
      let access = min(model.access, field.access).prefix
      let type = field.type.trimmedDescription + (field.isOptional ? "?" : "")
      return """
        /// The field `\(field.key)`.
        \(access)let \(field.name.text) = ObjectStoreNames.Column<\(typeName), \(type)>(position: \(position))
        """
    }
    if compositeKey != nil {
      columns.append(
        """
        /// The primary key.
        \(access)let \(CompositeKey.fieldName) = \
        ObjectStoreNames.Column<\(typeName), \(CompositeKey.typeName)>(position: \(columns.count))
        """
      )
    }
    return """
      /// The stored fields, each under its name.
      \(access)nonisolated struct Columns: Swift.Sendable {
      \(columns.joined(separator: "\n").indented)
      }
      """
  }

  private var positions: String {
    var properties = model.fields.map { "\\.\($0.name.text)" }
    if compositeKey != nil { properties.append("\\.\(CompositeKey.fieldName)") }
    return """
      /// Where the field of a property stands, for predicates of Foundation.
      \(access)static func fieldPosition(of property: Swift.PartialKeyPath<\(typeName)>) -> Swift.Int? {
        let properties: [Swift.PartialKeyPath<\(typeName)>] = [
      \(Self.list(properties).indented.indented)
        ]
        return properties.firstIndex(of: property)
      }
      """
  }

  private func schema(isolation: String) -> String {
    var fields = model.fields.map { field in
      var arguments = [
        StringLiteralExprSyntax(content: field.key).description,
        "\(field.type.trimmedDescription).self",
      ]
      if let id = field.id.argument { arguments.append("id: \(id)") }
      if let fallback = field.fallback {
        arguments.append("\(field.isOptional ? "optionalDefault" : "default"): \(fallback)")
      } else if field.isOptional {
        arguments.append("isOptional: true")
      }
      if compositeKey == nil, field.markers[.primaryKey] != nil {
        arguments.append("isPrimaryKey: true")
      }
      if field.markers[.indexed] != nil { arguments.append("isIndexed: true") }
      if field.markers[.unique] != nil { arguments.append("isUnique: true") }
      if field.markers[.hot] != nil { arguments.append("isHot: true") }
      if field.markers[.columnar] != nil { arguments.append("isColumnar: true") }
      if let rule = field.deleteRule { arguments.append("onDelete: \(rule)") }
      return "ObjectStoreNames.FieldSchema(\(arguments.joined(separator: ", ")))"
    }
    if let compositeKey { fields.append(compositeKey.schema) }
    let indexes =
      model.indexes.isEmpty
      ? ""
      : """
      ,
        indexes: [
      \(Self.list(model.indexes.map(\.schema)).indented.indented)
        ]
      """
    let layout = model.layout.map { ",\n  layout: .\($0)" } ?? ""
    return """
      /// The name and the fields under which objects are stored.
      \(access)\(isolation)static let schema = ObjectStoreNames.ModelSchema(
        name: \(model.storedName.description),
        fields: [
      \(Self.list(fields).indented.indented)
        ]\(indexes)\(layout)
      )
      """
  }

  /// The formatter removes a comma after a single element.
  private static func list(_ elements: [String]) -> String {
    elements.count == 1 ? elements[0] : elements.map { $0 + "," }.joined(separator: "\n")
  }

  private var decoding: String {
    let lines = model.fields.enumerated().map { position, field in
      let reader = field.isOptional ? "optional" : "value"
      let property = field.reference(beside: "record")
      return "\(property) = try record.\(reader)(at: \(position))"
    }
    return """
      /// Reads every stored field.
      \(access)init(from record: borrowing ObjectStoreNames.RecordView) \
      throws(ObjectStoreNames.RecordError) {
      \(lines.joined(separator: "\n").indented)
      }
      """
  }

  private var encoding: String {
    var lines = model.fields.map { "record.encode(\($0.reference(beside: "record")))" }
    if compositeKey != nil { lines.append("record.encode(\(CompositeKey.fieldName))") }
    return """
      /// Writes every stored field.
      \(access)func encode(to record: inout ObjectStoreNames.RecordEncoder) {
      \(lines.joined(separator: "\n").indented)
      }
      """
  }
}

extension String {
  var indented: String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  " + $0 }
      .joined(separator: "\n")
  }
}
