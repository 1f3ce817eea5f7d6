import SwiftSyntax
import SwiftSyntaxBuilder

/// The parsed declaration of a struct with `@Embedded`.
struct EmbeddedDeclaration {
  /// The name in the store, as a literal.
  let storedName: StringLiteralExprSyntax
  let access: AccessLevel
  let availability: [AttributeSyntax]
  let fields: [StoredField]

  /// Parses a declaration; reports at least one problem and returns `nil` if it cannot be embedded.
  init?(
    _ declaration: some DeclGroupSyntax,
    attribute: AttributeSyntax,
    context: [Syntax],
    problems: inout Problems
  ) {
    guard
      let value = StructKind.embedded.check(declaration, context: context, problems: &problems)
    else { return nil }
    access = AccessLevel(of: value, in: context)
    availability = ([Syntax(value)] + context).flatMap(\.availability)
    storedName = StructKind.storedName(of: value, attribute: attribute, problems: &problems)
    StructKind.checkConditions(in: value, problems: &problems)
    fields = value.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return nil }
      let field = StoredField(variable, model: value.name.trimmed, problems: &problems)
      if let first = field?.markers.attributes.first {
        problems.add(
          .markerOnEmbedded(marker: first.marker),
          at: first.attribute,
          fix: .remove(first.attribute, from: variable)
        )
      }
      return field
    }
    if fields.isEmpty, problems.diagnostics.isEmpty {
      problems.add(.emptyEmbedded(name: value.name.trimmed.text), at: value.name)
    }
    guard problems.diagnostics.isEmpty else { return nil }
  }

  /// The extension with the conformance to `FieldValue`.
  func conformance(of typeName: String, declaringIt: Bool) throws -> ExtensionDeclSyntax {
    let availability = availability.map { $0.description + "\n" }.joined()
    let conformance = declaringIt ? ": ObjectStoreNames.FieldValue" : ""
    let header = "\(availability)nonisolated extension \(typeName)\(conformance) {"
    let body = [description, decoding, encoding].joined(separator: "\n\n")
    return try ExtensionDeclSyntax("\(raw: header)\n\(raw: body.indented)\n}")
  }

  private var description: String {
    """
    /// How the value lies on disk: its fields one after another.
    \(access.prefix)static var fieldType: ObjectStoreNames.FieldType { .embedded(\(storedName.description)) }
    """
  }

  private var decoding: String {
    let lines = fields.map { field in
      let method = field.isOptional ? "readOptionalField" : "readField"
      let fallback = field.fallback.map { "default: \($0)" } ?? ""
      return "\(field.reference(beside: "reader")) = try reader.\(method)(\(fallback))"
    }
    return """
      /// Reads every field, in the order of their declaration.
      \(access.prefix)init(from reader: inout ObjectStoreNames.ByteReader) \
      throws(ObjectStoreNames.RecordError) {
      \(lines.joined(separator: "\n").indented)
      }
      """
  }

  private var encoding: String {
    let lines = fields.map { "writer.writeField(\($0.reference(beside: "writer")))" }
    return """
      /// Writes every field, in the order of their declaration.
      \(access.prefix)func encode(to writer: inout ObjectStoreNames.ByteWriter) {
      \(lines.joined(separator: "\n").indented)
      }
      """
  }
}
