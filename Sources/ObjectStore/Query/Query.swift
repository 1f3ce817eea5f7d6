/// Which objects, in which order, how many: a value that any transaction can run.
public struct Query<Root: Model>: Sendable {
  /// The type of ``predicate``, under a name that stays clear where `Foundation`, which has a
  /// `Predicate` of its own, is imported too.
  public typealias Condition = Predicate<Root>

  /// The condition.
  public var predicate: Predicate<Root>
  /// At most so many objects; `nil` for all.
  public var limit: Int?
  /// So many objects of the order are left out first.
  public var offset = 0
  /// The orders, the one that decides first in front.
  var orders: [QueryOrder<Root>] = []

  /// All objects that meet a condition, in the order in which they were first stored.
  public init(_ predicate: Predicate<Root> = .all) {
    self.predicate = predicate
  }

  /// The same objects in the order of a column; where two have the same value, in the order of the
  /// next call, and at last in the order in which they were first stored, newest first when the last
  /// order is descending.
  ///
  /// The order is that of an index: texts by their UTF-8 bytes, enumerations by their raw values,
  /// `false` first, what is no number after (or, with its sign set, before) all numbers. An index on
  /// the column, or one that has it after columns of which the query fixes the values, serves the
  /// order, so that the first few objects cost no more than a few.
  ///
  /// - Precondition: The column is no collection and no value that writes itself.
  public func order<Value: FieldValue>(
    by column: KeyPath<Root.Columns, Column<Root, Value>>,
    _ direction: SortDirection = .ascending
  ) -> Self {
    ordered(byFieldAt: Root.columns[keyPath: column].position, Value.fieldType, direction)
  }

  /// The same objects in the order of a column that may be `nil`, which comes before every value.
  ///
  /// As with a column that is not optional.
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
      "objects have no order by a field of type \(type)"
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

  /// The same objects in the order of a value that is computed from the whole object.
  ///
  /// No index serves it: every match is decoded and kept until all are sorted. Where two have the
  /// same value, as with ``order(by:_:)-(KeyPath<Root.Columns,Column<Root,Value>>,_)``.
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

  /// At most `count` of the objects.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// The objects after the first `count`.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }

  /// ``offset`` as a count.
  var skipCount: Int { max(offset, 0) }

  /// ``limit`` as a count.
  var takeCount: Int { max(limit ?? .max, 0) }

  /// So many matches are looked for in all.
  var neededCount: Int {
    let (sum, isTooMuch) = skipCount.addingReportingOverflow(takeCount)
    return isTooMuch ? .max : sum
  }

  /// The same query for one object at most.
  var forOne: Self { limit(min(takeCount, 1)) }

  /// The objects that meet another condition too.
  public func `where`(_ condition: (Root.Columns) -> Predicate<Root>) -> Self {
    var query = self
    query.predicate = predicate && condition(Root.columns)
    return query
  }
}

/// Which end of an order comes first.
public enum SortDirection: Sendable, Hashable {
  /// The least first.
  case ascending
  /// The greatest first.
  case descending
}

extension Model {
  /// The objects that meet a condition: `Note.where { $0.text.hasPrefix("a") }`.
  public static func `where`(_ condition: (Columns) -> Predicate<Self>) -> Query<Self> {
    Query(condition(columns))
  }

  /// Every object.
  public static var all: Query<Self> { Query() }
}
