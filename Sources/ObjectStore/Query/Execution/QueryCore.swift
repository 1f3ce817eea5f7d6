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
  ///
  /// Runs the queries of other models on which the condition depends.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  init<M: Model>(
    _ query: Query<M>,
    in source: ReaderSource,
    isOrdered: Bool = true
  ) throws {
    self.init(query, try query.predicate.resolved(in: source).predicate, isOrdered: isOrdered)
  }

  /// Takes a query with its condition resolved.
  init<M: Model>(_ query: Query<M>, _ resolved: Predicate<M>, isOrdered: Bool = true) {
    node = resolved.node
    matches = resolved.matches
    let order = query.sortOrder
    self.order = isOrdered ? order ?? .stored : .stored
    let isCut = order != nil
    skipCount = isCut ? query.skipCount : 0
    takeCount = isCut ? query.takeCount : .max
  }

  /// All that meet a condition, in an order.
  ///
  /// Runs the queries of other models on which the condition depends.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  init<M: Model>(
    _ predicate: Predicate<M>,
    in source: ReaderSource,
    order: SortOrder = .stored,
    takeCount: Int = .max
  ) throws {
    let resolved = try predicate.resolved(in: source).predicate
    node = resolved.node
    matches = resolved.matches
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
    QueryPlanner(
      indexes: tables.indexes.map { IndexShape($0) },
      primaryKeyPosition: tables.primaryKeyPosition
    )
    .plan(node, order: order, isLimited: takeCount != .max)
  }

  /// The parts of records that the condition and the order read.
  func parts(_ tables: ModelTables) -> RecordParts {
    tables.parts(ofFieldsAt: node.positions.union(order.columns.map(\.position)))
  }
}
