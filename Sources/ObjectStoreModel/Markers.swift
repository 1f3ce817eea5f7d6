/// Makes the property tell one object from another.
///
/// Each model has exactly one such property, neither optional nor ``Hot()``.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Keeps an index, so that queries on the property need not read every object.
///
/// Of an array or a set each element is found.
@attached(peer)
public macro Indexed() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Keeps the property apart from those that seldom change, so that changing it writes little.
@attached(peer)
public macro Hot() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Leaves the property out of the store.
///
/// An object that is read from the store has the property's default value, or `nil`.
@attached(peer)
public macro Transient() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Gives the field an identity on disk that does not follow from the property's name.
///
/// - Parameter id: The identity, a literal. No other field of the model may ever have had it.
@attached(peer)
public macro Field(id: UInt32) = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Makes the property the field that had another name, so that what is stored stays readable.
///
/// - Parameter oldName: The name that the property had when the field was first stored, a literal.
@attached(peer)
public macro Field(renamedFrom oldName: String) =
  #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")
