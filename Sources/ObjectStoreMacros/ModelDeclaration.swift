import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// A struct under `@Model`, with what the expansion needs of it.
struct ModelDeclaration {
  let name: TokenSyntax
  /// The name in the store, as a literal.
  let storedName: StringLiteralExprSyntax
  let access: AccessLevel
  /// The `@available` attributes of the struct and of what is around it.
  let availability: [AttributeSyntax]
  /// Whether the struct lies in another type.
  let isNested: Bool
  let fields: [StoredField]
  let primaryKey: StoredField

  /// Reads a declaration; `nil`, with at least one problem reported, when it cannot be a model.
  init?(
    _ declaration: some DeclGroupSyntax,
    attribute: AttributeSyntax,
    context: [Syntax],
    problems: inout Problems
  ) {
    guard let model = declaration.as(StructDeclSyntax.self) else {
      let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.trimmed.text ?? ""
      problems.add(
        .notAStruct(name: name, introducer: declaration.introducer.text),
        at: declaration.introducer
      )
      return nil
    }
    name = model.name.trimmed
    isNested = !context.isEmpty
    access = AccessLevel(of: model, in: context)
    availability = ([Syntax(model)] + context).flatMap(\.availability)
    if let generics = model.genericParameterClause {
      problems.add(.generic(name: name.text), at: generics)
    } else if context.contains(where: { $0.isGeneric }) {
      problems.add(.insideGeneric(name: name.text), at: model.name)
    }
    if isNested,
      let modifier = model.modifiers.first(where: { $0.name.tokenKind == .keyword(.private) })
    {
      // The extension stands at the top of the file and could not see it.
      problems.add(.privateNested(name: name.text), at: modifier)
    }
    storedName = Self.storedName(of: model, attribute: attribute, problems: &problems)
    Self.checkConditions(in: model, problems: &problems)
    fields = model.memberBlock.members.compactMap { member in
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return nil }
      return StoredField(variable, model: model.name.trimmed, problems: &problems)
    }
    Self.checkIDs(of: fields, problems: &problems)
    let key = Self.primaryKey(among: fields, of: model, problems: &problems)
    guard let key, problems.diagnostics.isEmpty else { return nil }
    primaryKey = key
  }

  private static func storedName(
    of model: StructDeclSyntax,
    attribute: AttributeSyntax,
    problems: inout Problems
  ) -> StringLiteralExprSyntax {
    let declared = StringLiteralExprSyntax(content: model.name.identifier?.name ?? "")
    guard
      let argument = attribute.arguments?.as(LabeledExprListSyntax.self)?.first?.expression,
      !argument.is(NilLiteralExprSyntax.self)
    else { return declared }
    guard
      let literal = argument.as(StringLiteralExprSyntax.self),
      let name = literal.representedLiteralValue, (1...100).contains(name.utf8.count)
    else {
      problems.add(.modelNameNotLiteral, at: argument)
      return declared
    }
    return literal.trimmed
  }

  /// A field that is there in some builds only would give one model two schemas.
  private static func checkConditions(in model: StructDeclSyntax, problems: inout Problems) {
    let conditions = model.memberBlock.members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }
    for variable in conditions.flatMap(\.variables)
    where variable.isStoredInInstance && Markers(of: variable)[.transient] == nil {
      problems.add(.conditional, at: variable)
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
  ) -> StoredField? {
    let keys = fields.filter { $0.markers[.primaryKey] != nil }
    guard let key = keys.first else {
      // Another problem may have hidden the field that was meant.
      if problems.diagnostics.isEmpty {
        problems.add(.noPrimaryKey(model: model.name.trimmed.text), at: model.name)
      }
      return nil
    }
    for other in keys.dropFirst() {
      problems.add(
        .severalPrimaryKeys(field: other.key, first: key.key),
        at: other.markers[.primaryKey]
      )
    }
    if key.isOptional {
      problems.add(.optionalPrimaryKey(field: key.key), at: key.markers[.primaryKey])
    }
    if key.markers[.hot] != nil {
      problems.add(.hotPrimaryKey(field: key.key), at: key.markers[.hot])
    }
    return key
  }
}

extension IfConfigDeclSyntax {
  /// The properties in all of the branches, also of conditions inside.
  fileprivate var variables: [VariableDeclSyntax] {
    clauses.flatMap { clause -> [VariableDeclSyntax] in
      guard case .decls(let members) = clause.elements else { return [] }
      return members.flatMap { member in
        member.decl.as(VariableDeclSyntax.self).map { [$0] }
          ?? member.decl.as(IfConfigDeclSyntax.self)?.variables ?? []
      }
    }
  }
}

extension Syntax {
  fileprivate var availability: [AttributeSyntax] {
    let attributes = asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
    return attributes.compactMap { $0.as(AttributeSyntax.self) }
      .filter { $0.lastName == "available" }
      .map(\.trimmed)
  }

  fileprivate var isGeneric: Bool {
    asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}
