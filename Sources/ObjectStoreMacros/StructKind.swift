import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// The two kinds of structs that the macros apply to.
enum StructKind {
  case model, embedded

  /// The struct that a macro is attached to; reports a problem and returns `nil` for anything else.
  func check(
    _ declaration: some DeclGroupSyntax,
    context: [Syntax],
    problems: inout Problems
  ) -> StructDeclSyntax? {
    guard let type = declaration.as(StructDeclSyntax.self) else {
      let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.trimmed.text ?? ""
      let introducer = declaration.introducer.text
      problems.add(
        self == .model
          ? .notAStruct(name: name, introducer: introducer)
          : .embeddedNotAStruct(name: name, introducer: introducer),
        at: declaration.introducer
      )
      return nil
    }
    let name = type.name.trimmed.text
    if let generics = type.genericParameterClause {
      problems.add(.generic(name: name), at: generics)
    } else if context.contains(where: { $0.isGeneric }) {
      problems.add(.insideGeneric(name: name), at: type.name)
    }
    let isPrivate = type.modifiers.first { $0.name.tokenKind == .keyword(.private) }
    if !context.isEmpty, let modifier = isPrivate {
      // The extension is generated at the top level of the file and could not see it.
      problems.add(.privateNested(name: name), at: modifier)
    }
    return type
  }

  /// The name in the store: the argument of the macro, or the name of the struct.
  static func storedName(
    of type: StructDeclSyntax,
    attribute: AttributeSyntax,
    problems: inout Problems
  ) -> StringLiteralExprSyntax {
    let declared = StringLiteralExprSyntax(content: type.name.identifier?.name ?? "")
    guard
      let argument = attribute.argument(labeled: "name"),
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

  /// The storage layout: the argument of the macro, or `nil` for the default.
  static func layout(_ attribute: AttributeSyntax, problems: inout Problems) -> String? {
    guard let argument = attribute.argument(labeled: "layout") else { return nil }
    let layout = argument.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    guard let layout, ["sequential", "byKey"].contains(layout) else {
      problems.add(.layoutNotLiteral, at: argument)
      return nil
    }
    return layout
  }

  /// Reports conditionally compiled properties: they would give one type two schemas.
  static func checkConditions(in type: StructDeclSyntax, problems: inout Problems) {
    let conditions = type.memberBlock.members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }
    for variable in conditions.flatMap(\.variables)
    where variable.isStoredInInstance && Markers(of: variable)[.transient] == nil {
      problems.add(.conditional, at: variable)
    }
  }
}

extension AttributeSyntax {
  /// The argument with this label.
  fileprivate func argument(labeled label: String) -> ExprSyntax? {
    arguments?.as(LabeledExprListSyntax.self)?.first { $0.label?.text == label }?.expression
  }
}

extension IfConfigDeclSyntax {
  /// The properties in all branches, also nested ones.
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
  /// The `@available` attributes of a declaration.
  var availability: [AttributeSyntax] {
    let attributes = asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
    return attributes.compactMap { $0.as(AttributeSyntax.self) }
      .filter { $0.lastName == "available" }
      .map(\.trimmed)
  }

  fileprivate var isGeneric: Bool {
    asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}
