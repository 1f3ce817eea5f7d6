@_exported public import ObjectStore

/// Makes a struct a model that an object store can keep.
///
/// Each stored property becomes a field under its own name. A property with a default value takes
/// that value when it is read from a record that was written before the property existed; an
/// optional one is then `nil`; without either, reading such a record throws.
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
/// What the macro writes has the access level of the struct, a column that of its property, and is
/// nonisolated also in a module whose code is isolated to the main actor by default. The struct
/// keeps its memberwise initializer.
///
/// Where imports are internal by default, a file with a public model imports this module as
/// `public`, and one with a package model as `package`. Swift 6.3 does not see that a package model
/// uses the import, and warns unless another package declaration of the file does.
///
/// A struct inside another type can use the types beside it for its fields; a default value names
/// such a type in full, or by a leading dot.
///
/// - Parameter name: The name under which the store keeps the objects; by default that of the
///   struct. Give the old name when you rename the struct.
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
public macro Model(name: String? = nil) =
  #externalMacro(module: "ObjectStoreMacros", type: "ModelMacro")
