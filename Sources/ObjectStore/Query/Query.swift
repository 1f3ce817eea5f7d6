/// Which objects, in which order, how many: a value that any transaction can run.
public struct Query<Root: Model>: Sendable {
  /// The condition.
  public var predicate: Predicate<Root>
  /// At most so many objects; `nil` for all.
  public var limit: Int?
  /// So many objects of the order are left out first.
  public var offset = 0
  var order: [@Sendable (Root, Root) -> Comparison] = []

  /// How two objects stand to each other in one order.
  enum Comparison: Sendable {
    case before, same, after
  }

  /// All objects that meet a condition, in the order in which they were first stored.
  public init(_ predicate: Predicate<Root> = .all) {
    self.predicate = predicate
  }

  /// The same objects in the order of a value; where two have the same, in the order of the next
  /// call, and at last in the order in which they were first stored.
  public func order<Value: Comparable & SendableMetatype>(
    by value: @escaping @Sendable (Root) -> Value,
    _ direction: SortDirection = .ascending
  ) -> Self {
    var query = self
    query.order.append { left, right in
      let (left, right) = (value(left), value(right))
      if left == right { return .same }
      return (left < right) == (direction == .ascending) ? .before : .after
    }
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

  func areInOrder(_ left: Root, _ right: Root) -> Bool? {
    for compare in order {
      switch compare(left, right) {
      case .before: return true
      case .after: return false
      case .same: continue
      }
    }
    return nil
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
