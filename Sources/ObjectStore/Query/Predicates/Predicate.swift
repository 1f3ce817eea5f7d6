/// A condition on the stored fields of a model, made with the operators on its columns.
///
/// It is a value: a tree that the planner reads, and a test of records that is made once with it.
/// The test looks at the bytes of the fields that it names and decodes nothing else.
public struct Predicate<Root: Model>: Sendable {
  let node: PredicateNode
  /// Whether a record meets the condition; ``PredicateNode/positions`` says what of it must be there.
  let matches: @Sendable (borrowing RecordView) throws(RecordError) -> Bool

  private init(
    _ node: PredicateNode,
    _ matches: @escaping @Sendable (borrowing RecordView) throws(RecordError) -> Bool
  ) {
    self.node = node
    self.matches = matches
  }

  init(_ node: PredicateNode) {
    self.init(node, node.makeTest())
  }

  init(_ condition: FieldCondition) {
    self.init(.field(condition))
  }

  /// A condition that every object meets.
  public static var all: Self { Self(.always) }

  /// A condition that no object meets.
  public static var none: Self { Self(.never) }

  /// Both conditions.
  public static func && (left: Self, right: Self) -> Self {
    switch (left.node, right.node) {
    case (.always, _), (_, .never): return right
    case (_, .always), (.never, _): return left
    default: break
    }
    return Self(.and(left.node.conjuncts + right.node.conjuncts)) { record throws(RecordError) in
      guard try left.matches(record) else { return false }
      return try right.matches(record)
    }
  }

  /// Either condition, or both.
  public static func || (left: Self, right: Self) -> Self {
    switch (left.node, right.node) {
    case (.always, _), (_, .never): return left
    case (_, .always), (.never, _): return right
    default: break
    }
    return Self(.or(left.node.disjuncts + right.node.disjuncts)) { record throws(RecordError) in
      if try left.matches(record) { return true }
      return try right.matches(record)
    }
  }

  /// The opposite.
  ///
  /// No index serves it.
  public static prefix func ! (predicate: Self) -> Self {
    switch predicate.node {
    case .always: return .none
    case .never: return .all
    default:
      return Self(.not(predicate.node)) { record throws(RecordError) in
        !(try predicate.matches(record))
      }
    }
  }
}
