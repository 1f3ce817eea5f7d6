import SwiftDiagnostics
import SwiftSyntax

/// Collects the problems of a declaration.
struct Problems {
  private(set) var diagnostics: [Diagnostic] = []

  mutating func add(
    _ problem: ModelDiagnostic,
    at node: (some SyntaxProtocol)?,
    fix: Fix? = nil
  ) {
    guard let node else { return }
    let fixIts = fix.map { [FixIt(message: $0.message, changes: [$0.change])] } ?? []
    diagnostics.append(Diagnostic(node: node, message: problem, fixIts: fixIts))
  }
}
