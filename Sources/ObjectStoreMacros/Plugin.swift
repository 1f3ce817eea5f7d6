import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct ObjectStoreMacrosPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self, EmbeddedMacro.self, MarkerMacro.self, IndexMacro.self,
  ]
}
