import SwiftSyntax

extension TypeSyntax {
  /// What an optional type wraps, whether it is written `T?` or `Optional<T>`.
  var wrappedInOptional: TypeSyntax? {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
    let arguments: GenericArgumentClauseSyntax?
    if let type = self.as(IdentifierTypeSyntax.self), type.name.text == "Optional" {
      arguments = type.genericArgumentClause
    } else if let type = self.as(MemberTypeSyntax.self), type.name.text == "Optional",
      type.baseType.as(IdentifierTypeSyntax.self)?.name.text == "Swift"
    {
      arguments = type.genericArgumentClause
    } else {
      return nil
    }
    guard case .type(let wrapped)? = arguments?.arguments.first?.argument else { return nil }
    return wrapped.trimmed
  }

  /// The type as a nested type must write it, where `Self` would be that nested type.
  func replacingSelf(with model: TokenSyntax) -> TypeSyntax {
    SelfReplacer(model).rewrite(self).cast(TypeSyntax.self)
  }
}

private final class SelfReplacer: SyntaxRewriter {
  private let model: TokenSyntax

  init(_ model: TokenSyntax) {
    self.model = model
    super.init()
  }

  override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
    guard node.name.tokenKind == .keyword(.Self) else { return super.visit(node) }
    let name = model.with(\.leadingTrivia, node.name.leadingTrivia)
      .with(\.trailingTrivia, node.name.trailingTrivia)
    return TypeSyntax(node.with(\.name, name))
  }
}
