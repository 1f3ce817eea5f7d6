package import SwiftSyntax
package import SwiftSyntaxMacros

/// Generates a struct's conformance to `FieldValue`.
package enum EmbeddedMacro: ExtensionMacro {
  package static func expansion(
    of node: AttributeSyntax,
    attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol,
    conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var problems = Problems()
    let value = EmbeddedDeclaration(
      declaration,
      attribute: node,
      context: context.lexicalContext,
      problems: &problems
    )
    for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
    guard let value else { return [] }
    return [
      try value.conformance(of: type.trimmedDescription, declaringIt: !protocols.isEmpty)
    ]
  }

  // The expansion is already formatted.
  package static var formatMode: FormatMode { .disabled }
}
