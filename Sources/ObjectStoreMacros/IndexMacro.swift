package import SwiftSyntax
package import SwiftSyntaxMacros

/// The implementation of `#Index` and `#Unique`, which `@Model` reads.
///
/// They generate nothing; they report where they have no effect.
package enum IndexMacro: DeclarationMacro {
  package static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var problems = Problems()
    if !(context.lexicalContext.first?.isModel ?? false) {
      problems.add(.indexOutsideModel(macro: node.macroName.text), at: node)
    }
    for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
    return []
  }
}
