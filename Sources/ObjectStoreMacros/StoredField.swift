import SwiftSyntax

/// A stored property that becomes a field.
struct StoredField {
  /// The name in code, with backticks if it is a keyword.
  let name: TokenSyntax
  /// The name in the schema.
  let key: String
  /// The type without its optional.
  let type: TypeSyntax
  let isOptional: Bool
  let defaultValue: ExprSyntax?
  let access: AccessLevel
  let markers: Markers
  let id: FieldID
  let declaration: VariableDeclSyntax

  /// Parses a property; `nil` if it is not stored, or, with a problem reported, if it cannot be.
  init?(_ variable: VariableDeclSyntax, model: TokenSyntax, problems: inout Problems) {
    let markers = Markers(of: variable)
    guard variable.isStoredInInstance else {
      if let first = markers.attributes.first {
        problems.add(
          .markerOnUnstored(marker: first.marker),
          at: first.attribute,
          fix: .remove(first.attribute, from: variable)
        )
      }
      return nil
    }
    guard markers[.transient] == nil else {
      Self.checkTransient(variable, markers: markers, problems: &problems)
      return nil
    }
    guard
      let binding = variable.bindings.first, variable.bindings.count == 1,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.trimmed
    else {
      problems.add(.severalBindings, at: variable.bindings)
      return nil
    }
    let key = name.identifier?.name ?? name.text
    if let modifier = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      problems.add(.lazy(field: key), at: modifier, fix: .remove(modifier, from: variable))
      return nil
    }
    if variable.bindingSpecifier.tokenKind == .keyword(.let), let value = binding.initializer {
      problems.add(.constant(field: key), at: value, fix: .variable(variable))
      return nil
    }
    guard let declared = binding.typeAnnotation?.type.trimmed else {
      problems.add(.untyped(field: key), at: binding.pattern)
      return nil
    }
    if let type = declared.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      problems.add(
        .implicitlyUnwrapped(field: key),
        at: binding.typeAnnotation?.type,
        fix: binding.typeAnnotation.map { .type($0.type, to: "\(type.wrappedType.trimmed)?") }
      )
      return nil
    }
    let wrapped = declared.wrappedInOptional
    guard wrapped?.wrappedInOptional == nil else {
      problems.add(
        .optionalOfOptional(field: key),
        at: binding.typeAnnotation?.type,
        fix: binding.typeAnnotation.map { .type($0.type, to: "\(declared.flattened)?") }
      )
      return nil
    }
    guard !(wrapped ?? declared).holdsOptionals else {
      problems.add(.optionalElement(field: key), at: binding.typeAnnotation?.type)
      return nil
    }
    self.name = name
    self.key = key
    self.type = (wrapped ?? declared).replacingSelf(with: model)
    self.isOptional = wrapped != nil
    self.defaultValue = binding.initializer?.value.trimmed
    self.access = AccessLevel(variable.modifiers) ?? .module
    self.markers = markers
    self.declaration = variable
    self.id = FieldID(of: key, markers: markers, problems: &problems)
  }

  /// The value for records older than the field, unless it is the type's own default.
  var fallback: String? {
    defaultValue.flatMap { value in
      isOptional && value.is(NilLiteralExprSyntax.self) ? nil : value.trimmedDescription
    }
  }

  /// The property's spelling in a method whose parameter would shadow a property of that name.
  func reference(beside parameter: String) -> String {
    key == parameter ? "self.\(parameter)" : name.text
  }

  /// Reports markers that do not apply to the type or cannot be combined.
  func checkMarkers(on variable: VariableDeclSyntax, problems: inout Problems) {
    if let marker = markers[.primaryKey] {
      if isOptional {
        let annotation = variable.bindings.first?.typeAnnotation?.type
        problems.add(
          .optionalPrimaryKey(field: key),
          at: marker,
          fix: annotation.map { .type($0, to: type.trimmedDescription) }
        )
      }
      let others: [(Marker, ModelDiagnostic)] = [
        (.hot, .hotPrimaryKey(field: key)), (.unique, .uniquePrimaryKey(field: key)),
      ]
      for (other, problem) in others {
        guard let attribute = markers[other] else { continue }
        problems.add(problem, at: attribute, fix: .remove(attribute, from: variable))
      }
    }
    if type.isDictionary, let marker = markers[.indexed] ?? markers[.unique] {
      problems.add(
        .notIndexable(field: key),
        at: marker,
        fix: .remove(marker, from: variable)
      )
    }
    if let marker = markers[.columnar], type.cannotHaveColumn {
      problems.add(
        .notColumnar(field: key),
        at: marker,
        fix: .remove(marker, from: variable)
      )
    }
    guard let marker = markers[.onDelete] else { return }
    if type.isPlainScalar || type.isDictionary {
      problems.add(
        .onDeleteOfNoReference(field: key),
        at: marker,
        fix: .remove(marker, from: variable)
      )
    } else if deleteRule?.hasSuffix(".nullify") == true, !isOptional, !type.isListOrSet {
      let annotation = variable.bindings.first?.typeAnnotation?.type
      problems.add(
        .nullifyRequired(field: key),
        at: marker,
        fix: annotation.map { .type($0, to: "\(type.trimmedDescription)?") }
      )
    }
  }

  /// The argument of `@OnDelete`.
  var deleteRule: String? {
    markers[.onDelete]?.arguments?.as(LabeledExprListSyntax.self)?.first?
      .expression.trimmedDescription
  }

  /// Reports a transient property without an initial value.
  private static func checkTransient(
    _ variable: VariableDeclSyntax,
    markers: Markers,
    problems: inout Problems
  ) {
    if let other = markers.attributes.first(where: { $0.marker != .transient }) {
      problems.add(
        .transientWithMarker(other.marker),
        at: other.attribute,
        fix: .remove(other.attribute, from: variable)
      )
    }
    for binding in variable.bindings where binding.initializer == nil {
      let isVariable = variable.bindingSpecifier.tokenKind == .keyword(.var)
      let type = binding.typeAnnotation?.type
      let isOptional =
        type?.wrappedInOptional != nil
        || type?.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) == true
      if !(isVariable && isOptional) {
        problems.add(
          .transientWithoutValue(property: binding.pattern.trimmedDescription),
          at: binding.pattern
        )
      }
    }
  }
}

extension VariableDeclSyntax {
  /// Whether the property is a stored instance property.
  var isStoredInInstance: Bool {
    let isStatic = modifiers.contains { $0.name.tokenKind == .keyword(.static) }
    return !isStatic && !bindings.contains { $0.isComputed }
  }
}

extension PatternBindingSyntax {
  fileprivate var isComputed: Bool {
    switch accessorBlock?.accessors {
    case .getter: true
    case .accessors(let accessors):
      // A stored property can only have observers.
      accessors.contains {
        ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      }
    case nil: false
    }
  }
}
