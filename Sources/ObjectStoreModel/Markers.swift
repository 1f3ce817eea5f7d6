public import ObjectStore

/// Makes the property tell one object from another.
///
/// Such a property is neither optional nor ``Hot()``. Where several are marked, they do so
/// together: the model gets a type `PrimaryKey` with a property for each, in the order of their
/// declaration, and `tx.get(Seat.self, .init(row: 4, number: 7))` finds the object. Their values are
/// stored twice, once in the key. Another choice or another order of them is another key: a store
/// that was written under the old one refuses to open.
@attached(peer)
public macro PrimaryKey() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Keeps an index, so that queries on the property need not read every object.
///
/// Of an array or a set each element is found.
@attached(peer)
public macro Indexed() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Lets no two objects have the same value, and keeps an index as ``Indexed()`` does.
///
/// Any number may have `nil`. Of an array or a set each element is in one object at most.
@attached(peer)
public macro Unique() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Keeps the property apart from those that seldom change, so that changing it writes little.
@attached(peer)
public macro Hot() = #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

/// Says what happens to an object when one is deleted to which the property refers.
///
/// Goes on a `Reference`, an optional one, or an array or a set of them. By default the reference
/// goes where it can; one that is neither optional nor in a collection keeps the object to which it
/// refers from being deleted.
///
/// - Parameter rule: The rule, written out: `.nullify`, `.cascade`, `.deny` or `.keep`.
@attached(peer)
public macro OnDelete(_ rule: DeleteRule) =
  #externalMacro(module: "ObjectStoreMacros", type: "MarkerMacro")

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
