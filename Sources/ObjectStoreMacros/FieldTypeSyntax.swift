import SwiftSyntax

extension TypeSyntax {
  /// The wrapped type of `T?` or `Optional<T>`.
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

  /// The type without any optional around it.
  var flattened: TypeSyntax { wrappedInOptional?.flattened ?? self }

  /// Whether the type is spelled as a dictionary.
  var isDictionary: Bool { self.is(DictionaryTypeSyntax.self) || genericName == "Dictionary" }

  /// Whether the type is spelled as an array or a set.
  var isListOrSet: Bool {
    self.is(ArrayTypeSyntax.self) || genericName == "Array" || genericName == "Set"
  }

  /// Whether it is a standard type that is not a reference.
  var isPlainScalar: Bool {
    let scalars: Set = [
      "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32",
      "UInt64", "Float", "Double", "Decimal", "String", "Data", "Date", "UUID", "URL",
    ]
    return self.as(IdentifierTypeSyntax.self).map { scalars.contains($0.name.text) } ?? false
  }

  /// Whether it is spelled as a collection or as a standard type that is not a number.
  ///
  /// The schema checks other types when the program uses it: an enumeration can be a number.
  var cannotHaveColumn: Bool {
    let others: Set = ["Decimal", "String", "Data", "UUID", "URL"]
    let isOther = self.as(IdentifierTypeSyntax.self).map { others.contains($0.name.text) } ?? false
    return isOther || isDictionary || isListOrSet
  }

  /// The element types of a collection.
  var elements: [TypeSyntax] {
    if let array = self.as(ArrayTypeSyntax.self) { return [array.element] }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return [dictionary.key, dictionary.value]
    }
    guard isListOrSet || isDictionary, let type = self.as(IdentifierTypeSyntax.self) else {
      return []
    }
    return type.genericArgumentClause?.arguments.compactMap { argument in
      guard case .type(let type) = argument.argument else { return nil }
      return type
    } ?? []
  }

  /// Whether a collection, or a collection inside it, has optional elements.
  var holdsOptionals: Bool {
    elements.contains { $0.wrappedInOptional != nil || $0.holdsOptionals }
  }

  private var genericName: String? {
    guard let type = self.as(IdentifierTypeSyntax.self), type.genericArgumentClause != nil else {
      return nil
    }
    return type.name.text
  }

  /// The type for use inside a nested type, where `Self` would mean that nested type.
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
