import SwiftSyntax

/// The attributes that control how a property is stored.
enum Marker: String, CaseIterable {
  case primaryKey = "PrimaryKey"
  case indexed = "Indexed"
  case unique = "Unique"
  case hot = "Hot"
  case columnar = "Columnar"
  case transient = "Transient"
  case field = "Field"
  case onDelete = "OnDelete"
}

/// The markers on one property.
struct Markers {
  let attributes: [(marker: Marker, attribute: AttributeSyntax)]

  init(of variable: VariableDeclSyntax) {
    attributes = variable.attributes.compactMap { element in
      guard case .attribute(let attribute) = element, let name = attribute.lastName,
        let marker = Marker(rawValue: name)
      else { return nil }
      return (marker, attribute)
    }
  }

  subscript(marker: Marker) -> AttributeSyntax? {
    attributes.first { $0.marker == marker }?.attribute
  }
}

extension AttributeSyntax {
  /// The attribute's name without a module qualifier.
  var lastName: String? {
    attributeName.as(IdentifierTypeSyntax.self)?.name.text
      ?? attributeName.as(MemberTypeSyntax.self)?.name.text
  }
}
