/// A type-erased query whose conditions across references have been resolved.
struct ResolvedQuery: Sendable {
  let node: FilterNode
  let matches: RecordTest
  let order: SortOrder
  /// The number of leading matches to skip.
  var skipCount: Int
  /// The maximum number of matches to return after those skipped.
  var takeCount: Int
  /// Restricts the result to matches after this position in the order.
  var start: PagePosition?

  /// Resolves a query in one transaction, which runs the queries on other models that it contains.
  ///
  /// A query with a computed order keeps neither its order nor its offset and limit: the caller
  /// sorts the matches and applies them. `isOrdered` says whether to keep the order by stored
  /// fields.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  init<M: Model>(
    _ query: Query<M>,
    in source: ReaderSource,
    isOrdered: Bool = true
  ) throws {
    self.init(query, try query.filter.resolved(in: source), isOrdered: isOrdered)
  }

  /// Creates a query from one whose condition is already resolved.
  init<M: Model>(_ query: Query<M>, _ resolved: Filter<M>.Resolved, isOrdered: Bool = true) {
    node = resolved.filter.node
    matches = resolved.matches
    let order = query.sortOrder
    self.order = isOrdered ? order ?? .stored : .stored
    let appliesLimit = order != nil
    skipCount = appliesLimit ? query.skipCount : 0
    takeCount = appliesLimit ? query.takeCount : .max
  }

  /// Creates a query for the objects that meet a condition, resolved in one transaction.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  init<M: Model>(
    _ filter: Filter<M>,
    in source: ReaderSource,
    order: SortOrder = .stored,
    takeCount: Int = .max
  ) throws {
    let resolved = try filter.resolved(in: source)
    node = resolved.filter.node
    matches = resolved.matches
    self.order = order
    skipCount = 0
    self.takeCount = takeCount
  }

  /// The number of matches after which the search can end.
  var neededCount: Int {
    let (sum, overflows) = skipCount.addingReportingOverflow(takeCount)
    return overflows ? .max : sum
  }

  func plan(_ tables: ModelTables) -> AccessPlan {
    QueryPlanner(
      indexes: tables.indexes.map { IndexShape($0) },
      primaryKeyPosition: tables.primaryKeyPosition,
      columnPositions: tables.columnPositions
    )
    .plan(node, order: order, isLimited: takeCount != .max)
  }

  /// The positions of the fields that the condition and the order read.
  var positions: Set<Int> { node.positions.union(order.columns.map(\.position)) }

  /// Returns the record parts that the condition and the order read.
  func parts(_ tables: ModelTables) -> RecordParts { tables.parts(ofFieldsAt: positions) }
}
