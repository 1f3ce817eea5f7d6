package import SwiftSyntax
package import SwiftSyntaxMacros

/// Stands behind the attributes that `@Model` reads.
///
/// They add nothing themselves, but say where they are useless.
package enum MarkerMacro: PeerMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let marker = node.lastName.flatMap(Marker.init) else { return [] }
    var problems = Problems()
    if !declaration.is(VariableDeclSyntax.self) {
      problems.add(.markerOnUnstored(marker: marker), at: node)
    } else if !(context.lexicalContext.first?.isModel ?? false) {
      problems.add(.markerOutsideModel(marker: marker), at: node)
    }
    for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
    return []
  }
}

extension Syntax {
  fileprivate var isModel: Bool {
    asProtocol((any WithAttributesSyntax).self)?.attributes.contains { element in
      guard case .attribute(let attribute) = element else { return false }
      return attribute.lastName == "Model"
    } ?? false
  }
}
