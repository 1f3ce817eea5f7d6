/// How a query finds its objects, as returned by `explain`.
///
/// ```swift
/// let plan: QueryPlan = try store.read { tx in try tx.explain(Note.where { $0.rank > 3 }) }
/// if case .index(let use) = plan.access { print("uses the index on \(use.fields)") }
/// for join in plan.semiJoins { print("\(join.keyCount) keys for \(join.field): \(join.plan)") }
/// assert(!plan.isLargeScan, "the query needs an index: \(plan)")
/// ```
public struct QueryPlan: Sendable, Hashable {
  /// The use of one index.
  public struct IndexUse: Sendable, Hashable {
    /// The names of the indexed fields, in index order.
    public let fields: [String]
    /// Whether the index is unique.
    public let isUnique: Bool
    /// The number of leading fields for which the query gives values.
    public let equalFieldCount: Int
    /// Whether the query gives a range for the field after those.
    public let hasRange: Bool
    /// The number of index ranges that are read.
    public let rangeCount: Int
  }

  /// A condition across a reference, resolved before the query itself runs.
  public struct SemiJoin: Sendable, Hashable {
    /// The field whose values are compared with the keys found.
    ///
    /// This is the referring field, or the primary key for a condition on an inverse.
    public let field: String
    /// The number of distinct keys found.
    public let keyCount: Int
    /// The plan of the query that found them.
    public let plan: QueryPlan
  }

  /// How the candidates are found.
  public enum Access: Sendable, Hashable {
    /// No object can match; nothing is read.
    case nothing
    /// Up to this number of objects are looked up by primary key.
    case primaryKeys(Int)
    /// Every object is read.
    case scan
    /// The columns of these fields are read, for every object; records only of those whose columns
    /// meet the condition.
    case columns([String])
    /// The entries of an index are read in the order of the query, until enough objects match.
    case orderedIndex(IndexUse)
    /// The entries of an index are read.
    case index(IndexUse)
    /// Several indexes are read in lock step; the one with the fewest entries gives the candidates.
    case shortestIndex([IndexUse])
    /// The entries of all of the indexes are read, one index for each operand of an "or".
    case unionOfIndexes([IndexUse])
  }

  /// The name of the model.
  public let model: String
  /// The number of objects of the model.
  public let objectCount: Int
  /// How the candidates are found.
  public let access: Access
  /// Whether the candidates come in the order of the query, so that nothing is sorted.
  public let isOrderServed: Bool
  /// Whether every candidate matches, so that `count` reads no record.
  public let isExact: Bool
  /// Whether the condition or the order reads cold fields, those that seldom change.
  public let readsColdFields: Bool
  /// Whether the condition or the order reads hot fields, those that change often.
  public let readsHotFields: Bool
  /// The conditions across references, in source order.
  public let semiJoins: [SemiJoin]

  /// Whether the query, or one of its semi-joins, reads every object of a model with more than 1000
  /// objects, to test or to sort them.
  ///
  /// If the query runs often, such a scan suggests a missing index.
  public var isLargeScan: Bool {
    if semiJoins.contains(where: \.plan.isLargeScan) { return true }
    guard case .scan = access, !isExact || !isOrderServed else { return false }
    return objectCount > 1_000
  }
}

extension QueryPlan: CustomStringConvertible {
  /// A description on one line.
  ///
  /// An example is `index (state, updatedAt), 1 equal, ordered; tests each (cold)`.
  public var description: String {
    ([ownDescription] + semiJoins.map { "\($0)" }).joined(separator: "; ")
  }

  /// The description without the semi-joins.
  private var ownDescription: String {
    let found =
      switch access {
      case .nothing: "nothing"
      case .primaryKeys(let count): "primary key, \(count) equal"
      case .scan: "scan of \(objectCount)"
      case .columns(let fields): "columns (\(fields.joined(separator: ", "))) of \(objectCount)"
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
  /// A description on one line, such as `author among 3 from Author (index (born), range)`.
  public var description: String {
    "\(field) among \(keyCount) from \(plan.model) (\(plan))"
  }
}

extension QueryPlan.IndexUse: CustomStringConvertible {
  /// A description on one line, such as `index (state, updatedAt), 1 equal, range`.
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
      case .columns(let positions):
        .columns(positions.map { tables.fieldName(at: $0) ?? "field \($0)" })
      case .primaryKeys(let keys): .primaryKeys(keys.count)
      case .ordered(let path, _): .orderedIndex(use(path))
      case .shortest(let paths):
        paths.count == 1 ? .index(use(paths[0])) : .shortestIndex(paths.map(use))
      case .union(let paths): .unionOfIndexes(paths.map(use))
      }
  }
}

extension ModelTables {
  /// Returns the name of the field at `position` in the program's schema.
  func fieldName(at position: Int) -> String? {
    current?.fields[position].name
  }
}
