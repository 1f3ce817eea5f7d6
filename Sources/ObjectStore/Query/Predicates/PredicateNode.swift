/// The shape of a condition.
indirect enum PredicateNode: Sendable {
  case always
  case never
  case field(FieldCondition)
  /// A condition on elements of the collection at `position`: that any, or that every one meets it.
  ///
  /// The fields of `condition` all stand for the element.
  case elements(position: Int, type: FieldType, condition: PredicateNode, isEvery: Bool)
  /// A condition on objects of another model; none is left in a query that runs.
  case semiJoin(SemiJoin)
  case and([PredicateNode])
  case or([PredicateNode])
  case not(PredicateNode)

  /// What must all hold.
  var conjuncts: [PredicateNode] {
    if case .and(let nodes) = self { return nodes }
    return [self]
  }

  /// Of what one must hold.
  var disjuncts: [PredicateNode] {
    if case .or(let nodes) = self { return nodes }
    return [self]
  }

  /// The positions of all fields that are looked at.
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

  /// The test of a record: closures that have in them what they compare with.
  func makeTest() -> @Sendable (borrowing RecordView) throws(RecordError) -> Bool {
    switch self {
    case .always: return { _ in true }
    case .never: return { _ in false }
    case .field(let condition): return condition.makeTest()
    case .elements(let position, _, _, _):
      return { record throws(RecordError) in
        guard case .present(let bytes) = unsafe try record.content(at: position) else {
          return false
        }
        do throws(RecordError) {
          return unsafe try testElements(bytes)
        } catch {
          throw RecordError(error.code, field: record.name(at: position))
        }
      }
    case .semiJoin:
      return { _ in Self.refuseOpen() }
    case .and(let nodes):
      let tests = nodes.map { $0.makeTest() }
      return { record throws(RecordError) in
        for test in tests { guard try test(record) else { return false } }
        return true
      }
    case .or(let nodes):
      let tests = nodes.map { $0.makeTest() }
      return { record throws(RecordError) in
        for test in tests where try test(record) { return true }
        return false
      }
    case .not(let node):
      let test = node.makeTest()
      return { record throws(RecordError) in !(try test(record)) }
    }
  }

  /// Whether a value that is there meets the condition, which speaks of nothing else.
  func test(value: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    switch self {
    case .always: return true
    case .never: return false
    case .field(let condition): return unsafe try condition.test.matches(value)
    case .elements: return unsafe try testElements(value)
    case .semiJoin: Self.refuseOpen()
    case .and(let nodes):
      for node in nodes { guard unsafe try node.test(value: value) else { return false } }
      return true
    case .or(let nodes):
      for node in nodes where unsafe try node.test(value: value) { return true }
      return false
    case .not(let node): return unsafe !(try node.test(value: value))
    }
  }

  private static func refuseOpen() -> Never {
    preconditionFailure("a condition across a reference is resolved before it tests a record")
  }

  private func testElements(_ bytes: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    guard case .elements(_, let type, let condition, let isEvery) = self else { return false }
    var reader = unsafe ByteReader(bytes)
    let count = try reader.read(UInt32.self)
    for _ in 0..<count {
      let isMet = unsafe try condition.test(value: reader.takeSized(type))
      if isMet != isEvery { return isMet }
    }
    return isEvery
  }
}
