import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// What an editor offers to do about a problem.
struct Fix {
  let message: Message
  let change: FixIt.Change

  struct Message: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "ObjectStoreModel", id: message) }
  }

  private init(message: Message, change: FixIt.Change) {
    self.message = message
    self.change = change
  }

  /// Replaces a node and keeps what stands before and after it.
  init(
    _ message: String,
    replacing old: some SyntaxProtocol,
    with new: some SyntaxProtocol
  ) {
    self.message = Message(message: message)
    change = .replace(
      oldNode: Syntax(old),
      newNode: Syntax(
        new.with(\.leadingTrivia, old.leadingTrivia).with(\.trailingTrivia, old.trailingTrivia)
      )
    )
  }

  /// Takes an attribute off a property; `nil` when it is not on it.
  static func remove(_ attribute: AttributeSyntax?, from variable: VariableDeclSyntax) -> Fix? {
    guard let attribute, let name = attribute.lastName else { return nil }
    let rest = variable.attributes.filter { $0.id != attribute.id }
    guard rest.count < variable.attributes.count else { return nil }
    return Fix(
      "remove @\(name)",
      replacing: variable,
      with: variable.with(\.attributes, rest)
    )
  }

  /// Takes away an attribute whose property is not at hand.
  static func remove(_ attribute: AttributeSyntax) -> Fix {
    Fix(
      message: Message(message: "remove @\(attribute.lastName ?? "")"),
      change: .replace(oldNode: Syntax(attribute), newNode: Syntax(AttributeListSyntax([])))
    )
  }

  /// Puts an attribute before all others of a property.
  static func add(_ attribute: String, to variable: VariableDeclSyntax) -> Fix {
    var marked = variable.with(\.leadingTrivia, [])
    marked.attributes.insert(.attribute("@\(raw: attribute) "), at: marked.attributes.startIndex)
    return Fix("mark it with @\(attribute)", replacing: variable, with: marked)
  }

  /// Gives a property another type.
  static func type(_ old: TypeSyntax, to new: String) -> Fix {
    Fix("make it '\(new)'", replacing: old, with: TypeSyntax(stringLiteral: new))
  }

  /// Makes a constant a variable.
  static func variable(_ property: VariableDeclSyntax) -> Fix {
    Fix(
      "use 'var'",
      replacing: property.bindingSpecifier,
      with: TokenSyntax.keyword(.var)
    )
  }

  /// Takes a modifier off a property.
  static func remove(_ modifier: DeclModifierSyntax, from variable: VariableDeclSyntax) -> Fix {
    let rest = variable.modifiers.filter { $0.id != modifier.id }
    return Fix(
      "remove '\(modifier.name.text)'",
      replacing: variable,
      with: variable.with(\.modifiers, rest)
    )
  }
}
