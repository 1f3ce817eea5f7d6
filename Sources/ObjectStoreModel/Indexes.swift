/// Keeps an index over several properties together.
///
/// Goes inside the model. Each list is one index; it serves conditions on its first property, on its
/// first two, and so on, and the order of the property after those that a query fixes.
///
/// ```swift
/// @Model
/// struct Job {
///   #Index<Job>([\.state, \.priority], [\.owner, \.created])
///   #Unique<Job>([\.owner, \.name])
///   @PrimaryKey var id: UUID
///   …
/// }
/// ```
///
/// - Parameter fields: Key paths of 1 to 8 stored properties, written out; at most one of them a
///   collection, of which each element has an entry.
@freestanding(declaration)
public macro Index<Root>(_ fields: [PartialKeyPath<Root>]...) =
  #externalMacro(module: "ObjectStoreMacros", type: "IndexMacro")

/// Lets no two objects have the same values in several properties together, and keeps an index over
/// them as `#Index` does.
///
/// Where one of the values is `nil`, the objects count as different.
///
/// - Parameter fields: Key paths of 1 to 8 stored properties, written out; at most one of them a
///   collection, of which each element has an entry.
@freestanding(declaration)
public macro Unique<Root>(_ fields: [PartialKeyPath<Root>]...) =
  #externalMacro(module: "ObjectStoreMacros", type: "IndexMacro")
