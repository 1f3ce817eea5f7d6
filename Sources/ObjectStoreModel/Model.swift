@_exported public import ObjectStore

/// Makes a struct a model of an object store.
///
/// Each stored property becomes a field of the same name. In a record that was written before the
/// property existed, it has its default value, or `nil` if it is optional; without either, reading
/// such a record throws.
///
/// ```swift
/// @Model
/// public struct Note {
///   @PrimaryKey public var id: Int64
///   public var text: String
///   @Indexed public var tags: Set<String> = []
///   @Hot public var views: Int64 = 0
///   public var archived: Date?
/// }
/// ```
///
/// Generated members have the access level of the struct, columns that of their property. They are
/// nonisolated, also in a module that is isolated to the main actor by default. The struct keeps its
/// memberwise initializer.
///
/// If imports are internal by default, a file with a public model must import this module as
/// `public`, and a file with a package model as `package`. Swift 6.3 does not recognize that a package
/// model uses the import, and warns unless another package declaration of the file uses it.
///
/// A nested struct can use the types beside it for its fields. A default value must name such a type
/// in full or with a leading dot.
///
/// - Parameters:
///   - name: The model's name in the store; the struct's name by default. Pass the old name when you
///     rename the struct.
///   - layout: The order in which a new store keeps the objects, written with a leading dot. Choose
///     `.byKey` for objects that are mostly looked up or replaced by primary key; see
///     `StorageLayout`. Such a model has no `@Hot` and no `@Columnar` fields.
@attached(
  extension,
  conformances: Model,
  names: named(Columns),
  named(columns),
  named(schema),
  named(PrimaryKey),
  named(primaryKey),
  named(init(from:)),
  named(encode(to:)),
  named(fieldPosition(of:))
)
@attached(
  member,
  names: named(Columns),
  named(columns),
  named(schema),
  named(PrimaryKey),
  named(primaryKey)
)
public macro Model(name: String? = nil, layout: StorageLayout = .sequential) =
  #externalMacro(module: "ObjectStoreMacros", type: "ModelMacro")
