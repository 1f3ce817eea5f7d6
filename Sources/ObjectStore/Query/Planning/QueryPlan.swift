/// How a query finds its objects: what `explain` answers.
public struct QueryPlan: Sendable, Hashable {
  /// One way through one index.
  public struct IndexUse: Sendable, Hashable {
    /// The fields of the index, in its order.
    public let fields: [String]
    /// Whether no two objects have the same values in them.
    public let isUnique: Bool
    /// Of so many fields, from the first on, the query gives the values.
    public let equalFieldCount: Int
    /// Whether the query gives a range of the field after those.
    public let hasRange: Bool
    /// How many ranges of the index are read.
    public let rangeCount: Int
  }

  /// One condition across a reference: how the objects at its other end are found, before those of
  /// the query.
  public struct SemiJoin: Sendable, Hashable {
    /// The field that the keys found are compared with: the one that refers, or the primary key
    /// where the objects at the other end refer to those of the query.
    public let field: String
    /// How many different keys were found.
    public let keyCount: Int
    /// How they were found.
    public let plan: QueryPlan
  }

  /// Where the candidates come from.
  public enum Access: Sendable, Hashable {
    /// No object can meet the condition; nothing is read.
    case nothing
    /// The objects of so many primary keys, each looked up.
    case primaryKeys(Int)
    /// Every object is looked at.
    case scan
    /// The entries of an index, in the order of the query, no more of them than are wanted.
    case orderedIndex(IndexUse)
    /// The entries of an index.
    case index(IndexUse)
    /// The entries of that one of the indexes that turns out to have the fewest.
    case shortestIndex([IndexUse])
    /// The entries of all of the indexes, one for each side of an "or".
    case unionOfIndexes([IndexUse])
  }

  /// The name of the model.
  public let model: String
  /// How many objects of the model there are.
  public let objectCount: Int
  /// Where the candidates come from.
  public let access: Access
  /// Whether the candidates come in the order of the query, so that nothing is sorted.
  public let isOrderServed: Bool
  /// Whether the index alone says which objects match, so that counting reads no record.
  public let isExact: Bool
  /// Whether the condition or the order reads the fields that seldom change.
  public let readsColdFields: Bool
  /// Whether the condition or the order reads the fields that change often.
  public let readsHotFields: Bool
  /// The conditions across references, in the order in which they were written.
  public let semiJoins: [SemiJoin]

  /// Whether every object is looked at although there are more than a thousand, here or at the other
  /// end of a reference: a sign that an index is missing, where the query is run often.
  public var isLargeScan: Bool {
    if semiJoins.contains(where: \.plan.isLargeScan) { return true }
    guard case .scan = access, !isExact || !isOrderServed else { return false }
    return objectCount > 1_000
  }
}

extension QueryPlan: CustomStringConvertible {
  /// One line, such as `index (state, updatedAt), 1 equal, ordered; tests each (cold)`.
  public var description: String {
    ([own] + semiJoins.map { "\($0)" }).joined(separator: "; ")
  }

  /// The line without the other ends of references.
  private var own: String {
    let found =
      switch access {
      case .nothing: "nothing"
      case .primaryKeys(let count): "primary key, \(count) equal"
      case .scan: "scan of \(objectCount)"
      case .orderedIndex(let use): "\(use), ordered"
      case .index(let use): "\(use)"
      case .shortestIndex(let uses):
        "shortest of " + uses.map { "\($0)" }.joined(separator: " and ")
      case .unionOfIndexes(let uses):
        "union of " + uses.map { "\($0)" }.joined(separator: " and ")
      }
    var rest: [String] = []
    if !isExact { rest.append("tests each") }
    if !isOrderServed { rest.append("sorts") }
    guard !rest.isEmpty, access != .nothing else { return found }
    var parts: [String] = []
    if readsColdFields { parts.append("cold") }
    if readsHotFields { parts.append("hot") }
    return "\(found); \(rest.joined(separator: ", ")) (\(parts.joined(separator: ", ")))"
  }
}

extension QueryPlan.SemiJoin: CustomStringConvertible {
  /// The field and where its keys come from, such as `author among 3 from Author (index (born), range)`.
  public var description: String {
    "\(field) among \(keyCount) from \(plan.model) (\(plan))"
  }
}

extension QueryPlan.IndexUse: CustomStringConvertible {
  /// The index and how much of it is used, such as `index (state, updatedAt), 1 equal, range`.
  public var description: String {
    var text = "\(isUnique ? "unique index" : "index") (\(fields.joined(separator: ", ")))"
    if equalFieldCount > 0 { text += ", \(equalFieldCount) equal" }
    if hasRange { text += ", range" }
    if rangeCount > 1 { text += " in \(rangeCount) ranges" }
    return text
  }
}

extension QueryPlan {
  init(
    _ plan: AccessPlan,
    of tables: ModelTables,
    objectCount: Int,
    parts: RecordParts,
    _ semiJoins: [SemiJoin]
  ) {
    func use(_ path: AccessPath) -> IndexUse {
      let index = tables.indexes[path.index]
      return IndexUse(
        fields: index.parts.map { part in
          part.position.flatMap { tables.fieldName(at: $0) } ?? "field \(part.fieldID)"
        },
        isUnique: index.description.isUnique,
        equalFieldCount: path.equalParts,
        hasRange: path.hasRange,
        rangeCount: path.ranges.count
      )
    }
    model = tables.name
    self.objectCount = objectCount
    isExact = plan.isExact
    isOrderServed = plan.isOrdered
    readsColdFields = parts.contains(.cold)
    readsHotFields = parts.contains(.hot)
    self.semiJoins = semiJoins
    access =
      switch plan.access {
      case .nothing: .nothing
      case .scan: .scan
      case .keys(let keys): .primaryKeys(keys.count)
      case .walk(let path, _): .orderedIndex(use(path))
      case .shortest(let paths):
        paths.count == 1 ? .index(use(paths[0])) : .shortestIndex(paths.map(use))
      case .union(let paths): .unionOfIndexes(paths.map(use))
      }
  }
}

extension ModelTables {
  /// The name of the field at `position` of the program's schema.
  func fieldName(at position: Int) -> String? {
    current?.fields[position].name
  }
}
