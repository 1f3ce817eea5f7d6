package import SwiftSyntax
package import SwiftSyntaxMacros

/// The implementation of the attributes that `@Model` reads.
///
/// They generate nothing; they report where they have no effect.
package enum MarkerMacro: PeerMacro {
  package static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let marker = node.lastName.flatMap(Marker.init) else { return [] }
    var problems = Problems()
    if declaration.is(VariableDeclSyntax.self) {
      let place = context.lexicalContext.first
      let isRead = place?.isModel == true || place?.isEmbedded == true
      if !isRead {
        problems.add(
          .markerOutsideModel(marker: marker),
          at: node,
          fix: .remove(node)
        )
      }
    } else {
      problems.add(.markerOnUnstored(marker: marker), at: node)
    }
    for diagnostic in problems.diagnostics { context.diagnose(diagnostic) }
    return []
  }
}

extension Syntax {
  /// Whether the type has `@Model`.
  var isModel: Bool { hasAttribute("Model") }

  /// Whether the type has `@Embedded`.
  var isEmbedded: Bool { hasAttribute("Embedded") }

  private func hasAttribute(_ name: String) -> Bool {
    asProtocol((any WithAttributesSyntax).self)?.attributes.contains { element in
      guard case .attribute(let attribute) = element else { return false }
      return attribute.lastName == name
    } ?? false
  }
}
