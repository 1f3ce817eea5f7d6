/// A query without its model's type, and what follows from the store's tables.
struct QueryCore: Sendable {
  let node: PredicateNode
  let matches: @Sendable (borrowing RecordView) throws(RecordError) -> Bool
  let order: SortOrder
  /// So many matches are left out first.
  var skipCount: Int
  /// So many matches are wanted after them.
  var takeCount: Int
  /// Only matches that come after this place in the order.
  var start: PagePosition?

  /// Takes a query as it is; an order by computed values is left to the caller, with the offset and
  /// the limit, and `isOrdered` is then false.
  init<M: Model>(_ query: Query<M>, isOrdered: Bool = true) {
    node = query.predicate.node
    matches = query.predicate.matches
    let order = query.sortOrder
    self.order = isOrdered ? order ?? .stored : .stored
    let isCut = order != nil
    skipCount = isCut ? query.skipCount : 0
    takeCount = isCut ? query.takeCount : .max
  }

  /// All that meet a condition, in an order.
  init(
    _ node: PredicateNode,
    _ matches: @escaping @Sendable (borrowing RecordView) throws(RecordError) -> Bool,
    order: SortOrder = .stored,
    takeCount: Int = .max
  ) {
    self.node = node
    self.matches = matches
    self.order = order
    skipCount = 0
    self.takeCount = takeCount
  }

  /// So many matches are looked for in all.
  var neededCount: Int {
    let (sum, isTooMuch) = skipCount.addingReportingOverflow(takeCount)
    return isTooMuch ? .max : sum
  }

  func plan(_ tables: ModelTables) -> AccessPlan {
    QueryPlanner(indexes: tables.indexes.map { IndexShape($0) })
      .plan(node, order: order, isLimited: takeCount != .max)
  }

  /// The parts of records that the condition and the order read.
  func parts(_ tables: ModelTables) -> RecordParts {
    tables.parts(ofFieldsAt: node.positions.union(order.columns.map(\.position)))
  }
}
