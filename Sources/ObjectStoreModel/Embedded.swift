internal import ObjectStore

/// Makes a struct usable as the type of a model's field.
///
/// The stored properties are encoded in the order of their declaration, without names, so reading
/// costs little and renaming a property is free. Add new properties after all others, with a default
/// value or an optional type; values that were stored earlier have that default or `nil`. Never move
/// or remove a property. An older program that does not know the last properties drops them when it
/// rewrites the value.
///
/// ```swift
/// @Embedded
/// public struct Address: Hashable {
///   public var street: String
///   public var city: String
///   public var country: String? = "DE"
/// }
/// ```
///
/// - Parameter name: The type's name in the store; the struct's name by default. Pass the old name
///   when you rename the struct.
@attached(
  extension,
  conformances: FieldValue,
  names: named(fieldType),
  named(init(from:)),
  named(encode(to:))
)
public macro Embedded(name: String? = nil) =
  #externalMacro(module: "ObjectStoreMacros", type: "EmbeddedMacro")
