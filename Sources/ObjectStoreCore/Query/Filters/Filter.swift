/// A condition on the stored fields of a model, built with the operators of its columns.
///
/// A filter is a tree, which the query planner inspects. Running a query compiles the tree to a
/// test of records, which reads only the bytes of the fields to which the condition refers.
public struct Filter<Root: Model>: Sendable {
  let node: FilterNode

  init(_ node: FilterNode) {
    self.node = node
  }

  init(_ condition: FieldCondition) {
    node = .field(condition)
  }

  /// A condition that every object meets.
  public static var all: Self { Self(.always) }

  /// A condition that no object meets.
  public static var none: Self { Self(.never) }

  /// Matches objects that meet both conditions.
  public static func && (left: Self, right: Self) -> Self {
    switch (left.node, right.node) {
    case (.always, _), (_, .never): return right
    case (_, .always), (.never, _): return left
    default: break
    }
    return Self(.and(left.node.conjuncts + right.node.conjuncts))
  }

  /// Matches objects that meet at least one of the conditions.
  public static func || (left: Self, right: Self) -> Self { anyOf([left, right]) }

  /// Matches objects that meet at least one of the conditions.
  ///
  /// A chain of `||` copies the conditions for each operator.
  static func anyOf(_ filters: [Self]) -> Self {
    var nodes: [FilterNode] = []
    for filter in filters {
      switch filter.node {
      case .always: return .all
      case .never: continue
      case .or(let own): nodes += own
      default: nodes.append(filter.node)
      }
    }
    guard let first = nodes.first else { return .none }
    return Self(nodes.count == 1 ? first : .or(nodes))
  }

  /// Matches objects that do not meet the condition.
  ///
  /// No index serves it.
  public static prefix func ! (filter: Self) -> Self {
    switch filter.node {
    case .always: .none
    case .never: .all
    default: Self(.not(filter.node))
    }
  }
}

/// Returns whether a record meets a condition.
///
/// The record must have the fields at ``FilterNode/positions``.
typealias RecordTest = @Sendable (borrowing RecordView) throws(RecordError) -> Bool

/// The expression tree of a condition.
indirect enum FilterNode: Sendable {
  case always
  case never
  case field(FieldCondition)
  /// A condition on the elements of the collection at `position`, met by any or by every element.
  ///
  /// Each field of `condition` stands for the element.
  case elements(position: Int, type: FieldType, condition: FilterNode, isEvery: Bool)
  /// A condition on objects of another model; replaced before the query runs.
  case semiJoin(SemiJoin)
  /// All of two or more conditions.
  case and([FilterNode])
  /// At least one of two or more conditions.
  case or([FilterNode])
  case not(FilterNode)

  /// The nodes that must all hold.
  var conjuncts: [FilterNode] {
    if case .and(let nodes) = self { return nodes }
    return [self]
  }

  /// The positions of all fields that the condition reads.
  var positions: Set<Int> {
    switch self {
    case .always, .never: []
    case .field(let condition): [condition.position]
    case .elements(let position, _, _, _): [position]
    case .semiJoin(let join): [join.position]
    case .and(let nodes), .or(let nodes): nodes.reduce(into: []) { $0.formUnion($1.positions) }
    case .not(let node): node.positions
    }
  }

  // MARK: Testing

  /// Compiles the condition to a test of records.
  ///
  /// Two more functions evaluate a condition: ``test(value:)`` and ``mask(_:_:)``. They stay apart
  /// because their inputs are not records; `RandomQueryTests` compares all three with filtering an
  /// array.
  func makeTest() -> RecordTest {
    switch self {
    case .always: return { _ in true }
    case .never: return { _ in false }
    case .field(let condition): return condition.makeTest()
    case .elements(let position, _, _, _):
      return { record throws(RecordError) in
        do throws(RecordError) {
          return try record.withBytes(at: position, testElements) ?? false
        } catch {
          throw RecordError(error.code, field: record.name(at: position))
        }
      }
    case .semiJoin:
      return { _ in Self.failUnresolved() }
    case .and(let nodes): return Self.combine(nodes[...], Self.both)
    case .or(let nodes): return Self.combine(nodes[...], Self.either)
    case .not(let node):
      let test = node.makeTest()
      return { record throws(RecordError) in !(try test(record)) }
    }
  }

  /// Compiles conditions to one test.
  ///
  /// Combines halves, so that the calls nest only to the logarithm of the number of conditions.
  private static func combine(
    _ nodes: ArraySlice<FilterNode>,
    _ combined: (@escaping RecordTest, @escaping RecordTest) -> RecordTest
  ) -> RecordTest {
    guard nodes.count > 1 else { return nodes[nodes.startIndex].makeTest() }
    let middle = nodes.startIndex + (nodes.count + 1) / 2
    return combined(combine(nodes[..<middle], combined), combine(nodes[middle...], combined))
  }

  private static func both(
    _ left: @escaping RecordTest,
    _ right: @escaping RecordTest
  ) -> RecordTest {
    { record throws(RecordError) in
      guard try left(record) else { return false }
      return try right(record)
    }
  }

  private static func either(
    _ left: @escaping RecordTest,
    _ right: @escaping RecordTest
  ) -> RecordTest {
    { record throws(RecordError) in
      if try left(record) { return true }
      return try right(record)
    }
  }

  /// Returns whether the bytes of a value meet the condition, which refers to that value only.
  ///
  /// The value is an element of a collection, which has no record: no layout, no other fields and
  /// no `nil`.
  func test(value: RawSpan) throws(RecordError) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .field(let condition): return try condition.test.matches(value)
    case .elements: return try testElements(value)
    case .semiJoin: Self.failUnresolved()
    case .and(let nodes):
      for node in nodes { guard try node.test(value: value) else { return false } }
      return true
    case .or(let nodes):
      for node in nodes where try node.test(value: value) { return true }
      return false
    case .not(let node): return !(try node.test(value: value))
    }
  }

  private static func failUnresolved() -> Never {
    preconditionFailure("a condition across a reference must be resolved before it tests a record")
  }

  private func testElements(_ bytes: RawSpan) throws(RecordError) -> Bool {
    guard case .elements(_, let type, let condition, let isEvery) = self else { return false }
    return try ByteReader.reading(bytes) { reader throws(RecordError) in
      let count = try reader.read(UInt32.self)
      for _ in 0..<count {
        let isMet = try reader.withSized(type) { value throws(RecordError) in
          try condition.test(value: value)
        }
        if isMet != isEvery { return isMet }
      }
      return isEvery
    }
  }
}
