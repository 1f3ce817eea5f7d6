import SwiftSyntax
import SwiftSyntaxBuilder

/// A compound index, declared with `#Index` or `#Unique`.
struct DeclaredIndex {
  /// The names of the fields.
  let fields: [String]
  let isUnique: Bool

  static let macroNames: Set = ["Index", "Unique"]
  static let longest = 8

  /// The indexes that one `#Index` or `#Unique` declares.
  static func read(
    _ declaration: MacroExpansionDeclSyntax,
    of model: [StoredField],
    problems: inout Problems
  ) -> [DeclaredIndex] {
    let isUnique = declaration.macroName.text == "Unique"
    return declaration.arguments.compactMap { argument in
      guard let list = argument.expression.as(ArrayExprSyntax.self), !list.elements.isEmpty else {
        problems.add(.indexNotLiteral, at: argument.expression)
        return nil
      }
      var names: [String] = []
      for element in list.elements {
        guard let name = fieldName(in: element.expression) else {
          problems.add(.indexNotLiteral, at: element.expression)
          return nil
        }
        guard let field = model.first(where: { $0.key == name }) else {
          problems.add(.indexOnUnstored(name: name), at: element.expression)
          return nil
        }
        if field.type.isDictionary {
          problems.add(.notIndexable(field: name), at: element.expression)
          return nil
        }
        if names.contains(name) {
          problems.add(.repeatedInIndex(field: name), at: element.expression)
          return nil
        }
        names.append(name)
      }
      guard names.count <= longest else {
        problems.add(.indexTooLong, at: argument.expression)
        return nil
      }
      let collections = model.filter { names.contains($0.key) && $0.type.isListOrSet }
      guard collections.count <= 1 else {
        problems.add(
          .severalCollections(first: collections[0].key, second: collections[1].key),
          at: argument.expression
        )
        return nil
      }
      return DeclaredIndex(fields: names, isUnique: isUnique)
    }
  }

  /// The property that a key path `\.a` or `\Note.a` names.
  private static func fieldName(in expression: ExprSyntax) -> String? {
    guard
      let path = expression.as(KeyPathExprSyntax.self), path.components.count == 1,
      case .property(let property)? = path.components.first?.component
    else { return nil }
    return property.declName.baseName.identifier?.name
  }

  /// Reports duplicate indexes, including those declared by a marker on a property.
  static func checkDistinct(
    _ indexes: [(index: DeclaredIndex, node: MacroExpansionDeclSyntax)],
    fields: [StoredField],
    problems: inout Problems
  ) {
    var seen = Set(
      fields.filter { $0.markers[.indexed] != nil || $0.markers[.unique] != nil }.map { [$0.key] }
    )
    for (index, node) in indexes where !seen.insert(index.fields).inserted {
      problems.add(.sameIndex(fields: index.fields.joined(separator: ", ")), at: node)
    }
  }

  /// The index's description in the schema.
  var schema: String {
    let names = fields.map { StringLiteralExprSyntax(content: $0).description }
    let arguments = names.joined(separator: ", ") + (isUnique ? ", isUnique: true" : "")
    return "ObjectStoreNames.IndexSchema(on: \(arguments))"
  }
}
