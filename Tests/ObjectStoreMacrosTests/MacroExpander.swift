import ObjectStoreMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The macros under the names that source code uses.
let modelMacros: [String: MacroSpec] = {
  let markers = ["PrimaryKey", "Indexed", "Hot", "Transient", "Field", "OnDelete"]
  let specs = markers.map { ($0, MacroSpec(type: MarkerMacro.self)) }
  return Dictionary(uniqueKeysWithValues: specs)
    .merging([
      "Model": MacroSpec(type: ModelMacro.self, conformances: ["Model"]),
      "Embedded": MacroSpec(type: EmbeddedMacro.self, conformances: ["FieldValue"]),
      "Index": MacroSpec(type: IndexMacro.self),
      // Of this name there are two: the one on a property, and the one inside the model.
      "Unique": MacroSpec(type: UniqueMacros.self),
    ]) { $1 }
}()

/// `@Unique` and `#Unique`, which the compiler tells apart and the test's expander does not.
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

/// Source code after the expansion of the model macros.
struct MacroExpander {
  let expansion: String
  let problems: [Problem]
  /// What is offered to do about them.
  let fixes: [Fix]

  /// A change of source code.
  struct Fix: Hashable, CustomStringConvertible {
    let message: String
    let code: String

    var description: String { "\(message): \(code)" }
  }

  /// Something that a macro reported, with the code to which it points.
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
