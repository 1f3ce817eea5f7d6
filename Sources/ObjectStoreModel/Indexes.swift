/// Declares compound indexes.
///
/// Place it inside the model. Each list is one index. It serves conditions on its first property, its
/// first two, and so on, and sorting by the property after those that the query fixes.
///
/// ```swift
/// @Model
/// struct Job {
///   #Index<Job>([\.state, \.priority], [\.owner, \.created])
///   #Unique<Job>([\.owner, \.name])
///   @PrimaryKey var id: UUID
///   var state: Int
///   var priority: Int
///   var owner: String
///   var created: Date
///   var name: String
/// }
/// ```
///
/// - Parameter fields: Key paths of 1 to 8 stored properties, as literals. At most one of them
///   may be a collection; each of its elements then has an entry.
@freestanding(declaration)
public macro Index<Root>(_ fields: [PartialKeyPath<Root>]...) =
  #externalMacro(module: "ObjectStoreMacros", type: "IndexMacro")

/// Declares unique compound indexes: no two objects may have the same combination of values.
///
/// Objects with a `nil` among the values count as different. Otherwise as `#Index`.
///
/// - Parameter fields: Key paths of 1 to 8 stored properties, as literals. At most one of them
///   may be a collection; each of its elements then has an entry.
@freestanding(declaration)
public macro Unique<Root>(_ fields: [PartialKeyPath<Root>]...) =
  #externalMacro(module: "ObjectStoreMacros", type: "IndexMacro")
