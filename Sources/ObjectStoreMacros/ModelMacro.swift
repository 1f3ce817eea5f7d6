package import SwiftSyntax
package import SwiftSyntaxMacros

/// Generates a struct's conformance to `Model`.
package enum ModelMacro: ExtensionMacro {
  package static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var problems = Problems()
    let model = ModelDeclaration(
      declaration,
      attribute: node,
      context: context.lexicalContext,
      problems: &problems
    )
    for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
    guard let model else { return [] }
    let expansion = ModelExpansion(of: model, named: type.trimmedDescription)
    return [try expansion.conformance(declaringIt: !protocols.isEmpty)]
  }
}

extension ModelMacro: MemberMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    // The other role reports the problems.
    var problems = Problems()
    let model = ModelDeclaration(
      declaration,
      attribute: node,
      context: context.lexicalContext,
      problems: &problems
    )
    guard let model, model.isNested else { return [] }
    return ModelExpansion(of: model, named: model.name.text).members
  }
}

extension ModelMacro {
  // The expansion is already formatted: people read it, and ours are checked in.
  package static var formatMode: FormatMode { .disabled }
}
