import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A fix-it for a problem.
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

  /// Replaces a node and keeps its leading and trailing trivia.
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

  /// Removes an attribute from a property; `nil` if the property does not have it.
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

  /// Removes an attribute without access to its property.
  static func remove(_ attribute: AttributeSyntax) -> Fix {
    Fix(
      message: Message(message: "remove @\(attribute.lastName ?? "")"),
      change: .replace(oldNode: Syntax(attribute), newNode: Syntax(AttributeListSyntax([])))
    )
  }

  /// Adds an attribute before all others of a property.
  static func add(_ attribute: String, to variable: VariableDeclSyntax) -> Fix {
    var marked = variable.with(\.leadingTrivia, [])
    marked.attributes.insert(.attribute("@\(raw: attribute) "), at: marked.attributes.startIndex)
    return Fix("mark it with @\(attribute)", replacing: variable, with: marked)
  }

  /// Changes a property's type.
  static func type(_ old: TypeSyntax, to new: String) -> Fix {
    Fix("make it '\(new)'", replacing: old, with: TypeSyntax(stringLiteral: new))
  }

  /// Changes `let` to `var`.
  static func variable(_ property: VariableDeclSyntax) -> Fix {
    Fix(
      "use 'var'",
      replacing: property.bindingSpecifier,
      with: TokenSyntax.keyword(.var)
    )
  }

  /// Removes a modifier from a property.
  static func remove(_ modifier: DeclModifierSyntax, from variable: VariableDeclSyntax) -> Fix {
    let rest = variable.modifiers.filter { $0.id != modifier.id }
    return Fix(
      "remove '\(modifier.name.text)'",
      replacing: variable,
      with: variable.with(\.modifiers, rest)
    )
  }
}
