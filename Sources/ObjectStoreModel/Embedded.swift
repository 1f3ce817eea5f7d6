internal import ObjectStore

/// Makes a struct a value that a field of a model can have.
///
/// Its stored properties lie one after another in the order of their declaration, without names:
/// reading one costs little, and renaming a property changes nothing. New properties go after all
/// others and need a default value or an optional type, which values have that were stored before;
/// properties are never moved or removed. A program that does not know the last properties drops
/// them when it writes the value anew.
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
/// - Parameter name: The name that the type has in the store; by default that of the struct. Give
///   the old name when you rename the struct.
@attached(
  extension,
  conformances: FieldValue,
  names: named(fieldType),
  named(init(from:)),
  named(encode(to:))
)
public macro Embedded(name: String? = nil) =
  #externalMacro(module: "ObjectStoreMacros", type: "EmbeddedMacro")
