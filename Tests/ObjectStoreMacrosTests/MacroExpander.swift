import ObjectStoreMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// The macros under the names that source code uses.
let modelMacros: [String: MacroSpec] = {
  let markers = ["PrimaryKey", "Indexed", "Hot", "Transient", "Field"]
  let specs = markers.map { ($0, MacroSpec(type: MarkerMacro.self)) }
  return Dictionary(uniqueKeysWithValues: specs)
    .merging(["Model": MacroSpec(type: ModelMacro.self, conformances: ["Model"])]) { $1 }
}()

/// Source code after the expansion of the model macros.
struct MacroExpander {
  let expansion: String
  let problems: [Problem]

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
  }
}
