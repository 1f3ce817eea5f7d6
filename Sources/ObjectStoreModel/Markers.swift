public import ObjectStore

/// Marks the primary key.
///
/// The property must be neither optional nor ``Hot()``. If several properties are marked, they form
/// a compound key: the model gets a type `PrimaryKey` with a property for each, in the order of
/// their declaration, and `tx.find(Seat.self, key: .init(row: 4, number: 7))` finds the object. The
/// values of a compound key are stored twice, once in the key. A different choice or order of
/// properties is a different key, and a store that was written with another key does not open.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Indexes the property, so that queries on it need not read every object.
///
/// For an array or a set, each element is indexed.
@attached(peer)
public macro Indexed() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Makes the property unique and indexes it as ``Indexed()`` does.
///
/// Any number of objects may have `nil`. Each element of an array or a set may occur in one object.
@attached(peer)
public macro Unique() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Stores the property apart from those that rarely change, so that changing it writes little.
@attached(peer)
public macro Hot() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Also stores the values of all objects next to each other, in a column.
///
/// A count, a search, a sum or a sort that no index serves then reads the columns of its properties
/// instead of the objects. The property is an integer, a floating-point number, a `Date`, a `Bool`,
/// an enumeration with such a raw value, or an optional one of these. Each write that changes it also
/// changes its column.
@attached(peer)
public macro Columnar() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Sets what happens to the object when an object that the property refers to is deleted.
///
/// Applies to a `Reference`, an optional one, or an array or set of them. By default an optional
/// reference becomes `nil` and an element is removed from its collection; a reference that is
/// neither optional nor in a collection prevents the deletion.
///
/// - Parameter rule: The rule, written out: `.nullify`, `.cascade`, `.deny` or `.keep`.
@attached(peer)
public macro OnDelete(_ rule: DeleteRule) =
  #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Excludes the property from the store.
///
/// Objects read from the store have the property's default value, or `nil`.
@attached(peer)
public macro Transient() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Sets the field's id on disk instead of deriving it from the property's name.
///
/// - Parameter id: The id, a literal. No other field of the model may ever have had it.
@attached(peer)
public macro Field(id: UInt32) = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Declares that the property was renamed, so that stored objects stay readable.
///
/// - Parameter oldName: The property's name when the field was first stored, a literal.
@attached(peer)
public macro Field(renamedFrom oldName: String) =
  #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")
