import MacrosUnderTest
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The macros by their names in source code.
let modelMacros: [String: MacroSpec] = {
  let markers = ["PrimaryKey", "Indexed", "Hot", "Columnar", "Transient", "Field", "OnDelete"]
  let specs = markers.map { ($0, MacroSpec(type: MarkerMacro.self)) }
  return Dictionary(uniqueKeysWithValues: specs)
    .merging([
      "Model": MacroSpec(type: ModelMacro.self, conformances: ["Model"]),
      "Embedded": MacroSpec(type: EmbeddedMacro.self, conformances: ["FieldValue"]),
      "Index": MacroSpec(type: IndexMacro.self),
      // Two macros have this name: an attribute of a property, and a declaration in a model.
      "Unique": MacroSpec(type: UniqueMacros.self),
    ]) { $1 }
}()

/// `@Unique` and `#Unique`, which the test expander looks up by the same name.
private enum UniqueMacros: PeerMacro, DeclarationMacro {
  static func expansion(
    of node: AttributeSyntax,
    providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    try MarkerMacro.expansion(of: node, providingPeersOf: declaration, in: context)
  }

  static func expansion(
    of node: some FreestandingMacroExpansionSyntax,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    try IndexMacro.expansion(of: node, in: context)
  }
}

/// The result of expanding the model macros in source code.
struct MacroExpander {
  let expansion: String
  let problems: [Problem]
  /// The fix-its of the problems.
  let fixes: [Fix]

  /// A fix-it: its message and its replacement code.
  struct Fix: Hashable, CustomStringConvertible {
    let message: String
    let code: String

    var description: String { "\(message): \(code)" }
  }

  /// A diagnostic of a macro: its message and the code to which it points.
  struct Problem: Hashable, CustomStringConvertible {
    let message: String
    let node: String

    var description: String { "\(message) [at: \(node)]" }
  }

  init(expanding source: String) {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
      sourceFiles: [file: .init(moduleName: "Module", fullFilePath: "Model.swift")])
    let expanded = file.expand(
      macroSpecs: modelMacros,
      contextGenerator: { node in
        BasicMacroExpansionContext(
          sharingWith: context,
          lexicalContext: node.allMacroLexicalContexts()
        )
      },
      indentationWidth: .spaces(2)
    )
    expansion = expanded.description
    problems = context.diagnostics.map {
      Problem(message: $0.message, node: $0.node.trimmedDescription)
    }
    fixes = context.diagnostics.flatMap(\.fixIts).flatMap { fix in
      fix.changes.compactMap { change in
        guard case .replace(_, let new) = change else { return nil }
        return Fix(message: fix.message.message, code: new.trimmedDescription)
      }
    }
  }
}
