import SwiftDiagnostics
import SwiftSyntax

/// What is wrong with a model, and what to do about it.
enum ModelDiagnostic: Hashable {
  case notAStruct(name: String, introducer: String)
  case generic(name: String)
  case insideGeneric(name: String)
  case privateNested(name: String)
  case modelNameNotLiteral
  case noPrimaryKey(model: String)
  case severalPrimaryKeys(field: String, first: String)
  case optionalPrimaryKey(field: String)
  case hotPrimaryKey(field: String)
  case conditional
  case severalBindings
  case untyped(field: String)
  case lazy(field: String)
  case constant(field: String)
  case implicitlyUnwrapped(field: String)
  case optionalOfOptional(field: String)
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
    case .generic(let name):
      "a model cannot be generic: declare '\(name)' without type parameters"
    case .insideGeneric(let name):
      "a model cannot be generic: move '\(name)' out of the generic declaration around it"
    case .privateNested(let name):
      "a model inside another type cannot be private: declare '\(name)' fileprivate"
    case .modelNameNotLiteral:
      "the stored name of a model is a string literal of 1 to 100 bytes, without interpolation"
    case .noPrimaryKey(let model):
      "'\(model)' needs a primary key: mark one stored property with @PrimaryKey"
    case .severalPrimaryKeys(let field, let first):
      "a model has one primary key: '\(first)' is marked already, so '\(field)' cannot be"
    case .optionalPrimaryKey(let field):
      "the primary key '\(field)' cannot be optional"
    case .hotPrimaryKey(let field):
      "the primary key '\(field)' cannot be @Hot: it never changes"
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

/// Collects what is wrong with a declaration.
struct Problems {
  private(set) var diagnostics: [Diagnostic] = []

  mutating func add(_ problem: ModelDiagnostic, at node: (some SyntaxProtocol)?) {
    guard let node else { return }
    diagnostics.append(Diagnostic(node: node, message: problem))
  }
}
