import SwiftSyntax

/// The access level of a declaration, from the most to the least restrictive.
enum AccessLevel: Int, Comparable {
  case file
  case module
  case package
  case everyone

  static func < (left: AccessLevel, right: AccessLevel) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The modifier and a space; empty for the default level.
  var prefix: String {
    switch self {
    case .file: "fileprivate "
    case .module: ""
    case .package: "package "
    case .everyone: "public "
    }
  }

  /// The level given by the declaration's own modifiers.
  init?(_ modifiers: DeclModifierListSyntax) {
    // `private(set)` does not restrict reading.
    for modifier in modifiers where modifier.detail == nil {
      switch modifier.name.tokenKind {
      case .keyword(.private), .keyword(.fileprivate): self = .file
      case .keyword(.internal): self = .module
      case .keyword(.package): self = .package
      case .keyword(.public), .keyword(.open): self = .everyone
      default: continue
      }
      return
    }
    return nil
  }

  /// The level of a type, which an enclosing extension may set.
  init(of model: StructDeclSyntax, in context: [Syntax]) {
    let inherited = context.first?.as(ExtensionDeclSyntax.self).flatMap { Self($0.modifiers) }
    self = Self(model.modifiers) ?? inherited ?? .module
  }
}
