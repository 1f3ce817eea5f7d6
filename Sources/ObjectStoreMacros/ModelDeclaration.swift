import SwiftSyntax
import SwiftSyntaxBuilder

/// The parsed declaration of a struct with `@Model`.
struct ModelDeclaration {
  let name: TokenSyntax
  /// The name in the store, as a literal.
  let storedName: StringLiteralExprSyntax
  /// The name of the storage layout; `nil` for the default.
  let layout: String?
  let access: AccessLevel
  /// The `@available` attributes of the struct and its enclosing declarations.
  let availability: [AttributeSyntax]
  /// Whether the struct is nested in another type.
  let isNested: Bool
  let fields: [StoredField]
  /// The fields of the primary key.
  let primaryKey: [StoredField]
  let indexes: [DeclaredIndex]

  /// Parses a declaration; reports at least one problem and returns `nil` if it cannot be a model.
  init?(
    _ declaration: some DeclGroupSyntax,
    attribute: AttributeSyntax,
    context: [Syntax],
    problems: inout Problems
  ) {
    guard
      let model = StructKind.model.check(declaration, context: context, problems: &problems)
    else { return nil }
    name = model.name.trimmed
    isNested = !context.isEmpty
    access = AccessLevel(of: model, in: context)
    availability = ([Syntax(model)] + context).flatMap(\.availability)
    storedName = StructKind.storedName(of: model, attribute: attribute, problems: &problems)
    layout = StructKind.layout(attribute, problems: &problems)
    StructKind.checkConditions(in: model, problems: &problems)
    let fields = model.memberBlock.members.compactMap { member -> StoredField? in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return nil }
      let field = StoredField(variable, model: model.name.trimmed, problems: &problems)
      field?.checkMarkers(on: variable, problems: &problems)
      return field
    }
    self.fields = fields
    if layout == "byKey" { Self.checkMarkersByKey(fields, problems: &problems) }
    Self.checkIDs(of: fields, problems: &problems)
    let declared = model.memberBlock.members.compactMap { member in
      member.decl.as(MacroExpansionDeclSyntax.self)
    }
    .filter { DeclaredIndex.macroNames.contains($0.macroName.text) }
    .flatMap { node in
      DeclaredIndex.read(node, of: fields, problems: &problems).map { (index: $0, node: node) }
    }
    DeclaredIndex.checkDistinct(declared, fields: fields, problems: &problems)
    indexes = declared.map(\.index)
    primaryKey = Self.primaryKey(among: fields, of: model, problems: &problems)
    guard problems.diagnostics.isEmpty else { return nil }
  }

  /// Reports the markers that a model that is stored by key cannot have.
  private static func checkMarkersByKey(_ fields: [StoredField], problems: inout Problems) {
    for field in fields {
      if let marker = field.markers[.hot] { problems.add(.hotByKey(field: field.key), at: marker) }
      if let marker = field.markers[.columnar] {
        problems.add(.columnarByKey(field: field.key), at: marker)
      }
    }
  }

  private static func checkIDs(of fields: [StoredField], problems: inout Problems) {
    var owners: [UInt32: StoredField] = [:]
    for field in fields {
      if let owner = owners[field.id.number] {
        problems.add(
          .sameID(field: field.key, other: owner.key, id: field.id.number),
          at: field.markers[.field].map { Syntax($0) } ?? Syntax(field.name)
        )
      } else {
        owners[field.id.number] = field
      }
    }
  }

  private static func primaryKey(
    among fields: [StoredField],
    of model: StructDeclSyntax,
    problems: inout Problems
  ) -> [StoredField] {
    let keys = fields.filter { $0.markers[.primaryKey] != nil }
    // Another problem may have hidden the intended field.
    if keys.isEmpty, problems.diagnostics.isEmpty {
      let guess = fields.first { $0.key == "id" && !$0.isOptional }
      problems.add(
        .noPrimaryKey(model: model.name.trimmed.text),
        at: model.name,
        fix: guess.map { .add("PrimaryKey", to: $0.declaration) }
      )
    }
    let taken = fields.first { $0.key == CompositeKey.fieldName }
    if keys.count > 1, let taken { problems.add(.compositeKeyNameTaken, at: taken.name) }
    return keys
  }
}
