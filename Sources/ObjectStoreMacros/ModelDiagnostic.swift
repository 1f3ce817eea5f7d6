import SwiftDiagnostics
import SwiftSyntax

/// A problem of a model declaration, with its fix-its.
enum ModelDiagnostic: Hashable {
  case notAStruct(name: String, introducer: String)
  case embeddedNotAStruct(name: String, introducer: String)
  case generic(name: String)
  case insideGeneric(name: String)
  case privateNested(name: String)
  case modelNameNotLiteral
  case layoutNotLiteral
  case noPrimaryKey(model: String)
  case compositeKeyNameTaken
  case optionalPrimaryKey(field: String)
  case hotPrimaryKey(field: String)
  case hotByKey(field: String)
  case columnarByKey(field: String)
  case uniquePrimaryKey(field: String)
  case conditional
  case severalBindings
  case untyped(field: String)
  case lazy(field: String)
  case constant(field: String)
  case implicitlyUnwrapped(field: String)
  case optionalOfOptional(field: String)
  case optionalElement(field: String)
  case notIndexable(field: String)
  case notColumnar(field: String)
  case nullifyRequired(field: String)
  case onDeleteOfNoReference(field: String)
  case markerOnEmbedded(marker: Marker)
  case emptyEmbedded(name: String)
  case indexNotLiteral
  case indexOnUnstored(name: String)
  case repeatedInIndex(field: String)
  case severalCollections(first: String, second: String)
  case indexTooLong
  case sameIndex(fields: String)
  case indexOutsideModel(macro: String)
  case transientWithoutValue(property: String)
  case transientWithMarker(Marker)
  case markerOnUnstored(marker: Marker)
  case markerOutsideModel(marker: Marker)
  case severalIDs(field: String)
  case idNotLiteral
  case oldNameNotLiteral
  case sameID(field: String, other: String, id: UInt32)
}

extension ModelDiagnostic: DiagnosticMessage {
  var severity: DiagnosticSeverity { .error }

  var diagnosticID: MessageID {
    MessageID(
      domain: "ObjectStoreModel",
      id: String(String(describing: self).prefix { $0 != "(" })
    )
  }

  var message: String {
    switch self {
    case .notAStruct(let name, let introducer):
      "a model is a struct, and '\(name)' is declared as \(introducer)"
    case .embeddedNotAStruct(let name, let introducer):
      """
      an embedded value is a struct, and '\(name)' is declared as \(introducer): an enumeration with \
      raw values declares FieldValue instead
      """
    case .generic(let name):
      "a stored type cannot be generic: declare '\(name)' without type parameters"
    case .insideGeneric(let name):
      "a stored type cannot be generic: move '\(name)' out of the generic declaration around it"
    case .privateNested(let name):
      "a stored type inside another type cannot be private: declare '\(name)' fileprivate"
    case .modelNameNotLiteral:
      "the name of a type in the store is a string literal of 1 to 100 bytes, without interpolation"
    case .layoutNotLiteral:
      "the layout of a model is written as '.sequential' or '.byKey'"
    case .noPrimaryKey(let model):
      "'\(model)' needs a primary key: mark one stored property with @PrimaryKey"
    case .compositeKeyNameTaken:
      "several properties are marked with @PrimaryKey, so none can be named 'primaryKey'"
    case .optionalPrimaryKey(let field):
      "the primary key '\(field)' cannot be optional"
    case .hotPrimaryKey(let field):
      "the primary key '\(field)' cannot be @Hot: it never changes"
    case .hotByKey(let field):
      "'\(field)' cannot be @Hot: a model that is stored by key keeps all fields together"
    case .columnarByKey(let field):
      "'\(field)' cannot be @Columnar: a model that is stored by key has no columns"
    case .uniquePrimaryKey(let field):
      "the primary key '\(field)' is unique without @Unique"
    case .conditional:
      "a stored property of a model cannot depend on '#if': mark it @Transient or move it out"
    case .severalBindings:
      "declare each stored property of a model by itself"
    case .untyped(let field):
      "give '\(field)' a type: a model's schema is made from the types that are written out"
    case .lazy(let field):
      "'\(field)' cannot be lazy: mark it @Transient, or store it as an ordinary property"
    case .constant(let field):
      "'\(field)' is a constant with a value, so none can be read: use 'var' or mark it @Transient"
    case .implicitlyUnwrapped(let field):
      "'\(field)' cannot be implicitly unwrapped: make it optional, or give it a value"
    case .optionalOfOptional(let field):
      "'\(field)' cannot be an optional of an optional: the store knows one kind of nil"
    case .optionalElement(let field):
      "'\(field)' cannot be a collection of optionals: leave out the elements that are nil"
    case .notIndexable(let field):
      "'\(field)' cannot be indexed: a dictionary has no order and no elements"
    case .notColumnar(let field):
      "'\(field)' cannot have a column: it is not a number, a date or a Boolean"
    case .nullifyRequired(let field):
      "'\(field)' cannot lose its reference: make it optional, or choose another rule"
    case .onDeleteOfNoReference(let field):
      "'\(field)' is no reference, so that nothing to which it refers can be deleted"
    case .markerOnEmbedded(let marker):
      "@\(marker.rawValue) goes on a stored property of a model, not of an embedded value"
    case .emptyEmbedded(let name):
      "'\(name)' has no stored property, so that there is nothing to embed"
    case .indexNotLiteral:
      "an index is a list of key paths of the model's properties, such as [\\.state, \\.priority]"
    case .indexOnUnstored(let name):
      "'\(name)' is no stored property of the model, so that it cannot be indexed"
    case .repeatedInIndex(let field):
      "'\(field)' is in the index already"
    case .severalCollections(let first, let second):
      "an index has one collection at most, and '\(first)' and '\(second)' are two"
    case .indexTooLong:
      "an index has at most 8 fields"
    case .sameIndex(let fields):
      "there is an index on \(fields) already"
    case .indexOutsideModel(let macro):
      "#\(macro) has no effect here: it goes inside a @Model"
    case .transientWithoutValue(let property):
      "'\(property)' is @Transient, so it needs a default value or must be an optional 'var'"
    case .transientWithMarker(let marker):
      "@\(marker.rawValue) says how a property is stored, and this one is @Transient"
    case .markerOnUnstored(let marker):
      "@\(marker.rawValue) goes on a stored property of a model"
    case .markerOutsideModel(let marker):
      "@\(marker.rawValue) has no effect here: the type around it is not a @Model"
    case .severalIDs(let field):
      "'\(field)' has more than one @Field"
    case .idNotLiteral:
      "the id of a field is a number from 0 to 4294967295, written as a literal"
    case .oldNameNotLiteral:
      "the old name of a field is a string literal, without interpolation"
    case .sameID(let field, let other, let id):
      "'\(field)' and '\(other)' have one id, \(id): give one of them another with @Field(id:)"
    }
  }
}
