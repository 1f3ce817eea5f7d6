import SwiftSyntax

/// How far a declaration can be seen, from the nearest to the farthest.
enum AccessLevel: Int, Comparable {
  case file
  case module
  case package
  case everyone

  static func < (left: AccessLevel, right: AccessLevel) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The modifier and a space, or nothing for the level that is the default.
  var prefix: String {
    switch self {
    case .file: "fileprivate "
    case .module: ""
    case .package: "package "
    case .everyone: "public "
    }
  }

  /// The level that a declaration gives itself.
  init?(_ modifiers: DeclModifierListSyntax) {
    // `private(set)` says nothing of reading.
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

  /// The level of a type, which an extension around it may give.
  init(of model: StructDeclSyntax, in context: [Syntax]) {
    let inherited = context.first?.as(ExtensionDeclSyntax.self).flatMap { Self($0.modifiers) }
    self = Self(model.modifiers) ?? inherited ?? .module
  }
}
