/// A query on one model: a condition, an order, an offset and a limit.
///
/// A query is a value. It reads nothing until a read or write transaction runs it, and it can be
/// run by any number of transactions.
///
/// ```swift
/// let query: Query<Note> = Note.where { $0.rank > 3 }.order(by: \.rank, .descending)
/// let notes = try store.read { tx in try tx.fetch(query.offset(40).limit(20)) }
/// ```
public struct Query<Root: Model>: Sendable {
  /// The condition that each result meets.
  public var filter: Filter<Root>
  /// The maximum number of results, or `nil` for no limit.
  public var limit: Int?
  /// The number of leading results to skip.
  public var offset = 0
  /// The sort keys, most significant first.
  var orders: [QueryOrder<Root>] = []

  /// Creates a query for the objects that meet a condition, in insertion order.
  public init(_ filter: Filter<Root> = .all) {
    self.filter = filter
  }

  /// Returns a copy that also sorts by a column.
  ///
  /// The first call gives the most significant sort key; each further call breaks the ties of the
  /// calls before it. Objects that are still equal come in insertion order, or in reverse insertion
  /// order when the last direction is descending.
  ///
  /// Values sort as in an index: strings by their UTF-8 bytes, enumerations by their raw values,
  /// `false` before `true`, NaN after all numbers (before them when its sign bit is set). An index
  /// serves the order if its fields are those of the sort keys, after fields for which the
  /// condition gives one value; a query with a limit then reads only the entries that it needs.
  ///
  /// - Precondition: The column is neither a collection nor a value with a custom encoding.
  public func order<Value: FieldValue>(
    by column: KeyPath<Root.Columns, Column<Root, Value>>,
    _ direction: SortDirection = .ascending
  ) -> Self {
    ordered(byFieldAt: Root.columns[keyPath: column].position, Value.fieldType, direction)
  }

  /// Returns a copy that also sorts by an optional column; `nil` sorts before every value.
  ///
  /// Otherwise as for a column that is not optional.
  public func order<Value: FieldValue>(
    by column: KeyPath<Root.Columns, Column<Root, Value?>>,
    _ direction: SortDirection = .ascending
  ) -> Self {
    ordered(byFieldAt: Root.columns[keyPath: column].position, Value.fieldType, direction)
  }

  private func ordered(
    byFieldAt position: Int,
    _ type: FieldType,
    _ direction: SortDirection
  ) -> Self {
    precondition(
      type.isIndexable && type.indexedElement == nil,
      "cannot sort by a field of type \(type)"
    )
    var query = self
    let order = ColumnOrder(
      position: position,
      form: type.keyForm,
      width: type.width,
      direction: direction
    )
    query.orders.append(.column(order))
    return query
  }

  /// Returns a copy that also sorts by a value computed from the decoded object.
  ///
  /// No index serves this order: every match is decoded and held in memory until all are sorted.
  /// Ties are broken as for ``order(by:_:)-(KeyPath<Root.Columns,Column<Root,Value>>,_)``.
  public func order<Value: Comparable & SendableMetatype>(
    computing value: @escaping @Sendable (Root) -> Value,
    _ direction: SortDirection = .ascending
  ) -> Self {
    var query = self
    query.orders.append(
      .computed(direction) { left, right in
        let (left, right) = (value(left), value(right))
        return left == right ? 0 : left < right ? -1 : 1
      }
    )
    return query
  }

  /// Returns a copy with a maximum number of results.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// Returns a copy that skips the first `count` results.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }

  /// ``offset``, clamped to zero.
  var skipCount: Int { max(offset, 0) }

  /// ``limit``, clamped to zero; `Int.max` for no limit.
  var takeCount: Int { max(limit ?? .max, 0) }

  /// The number of matches after which the search can end: offset plus limit.
  var neededCount: Int {
    let (sum, overflows) = skipCount.addingReportingOverflow(takeCount)
    return overflows ? .max : sum
  }

  /// A copy that returns at most one object.
  var forOne: Self { limit(min(takeCount, 1)) }

  /// Returns a copy whose results also meet another condition.
  public func `where`(_ condition: (Root.Columns) -> Filter<Root>) -> Self {
    var query = self
    query.filter = filter && condition(Root.columns)
    return query
  }
}

/// The direction of a sort key.
public enum SortDirection: Sendable, Hashable {
  /// From the least value to the greatest.
  case ascending
  /// From the greatest value to the least.
  case descending
}

extension Model {
  /// Returns a query for the objects that meet a condition.
  ///
  /// ```swift
  /// let query = Note.where { $0.text.hasPrefix("a") }
  /// ```
  public static func `where`(_ condition: (Columns) -> Filter<Self>) -> Query<Self> {
    Query(condition(columns))
  }

  /// A query for every object of the model.
  public static var all: Query<Self> { Query() }
}
