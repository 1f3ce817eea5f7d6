/// A condition that the columns of a model can decide without its records.
indirect enum ColumnCondition: Sendable {
  case always
  case never
  /// A condition on the column with this number in ``ColumnScan/columns``.
  case field(Int, FieldTest)
  case and([ColumnCondition])
  case or([ColumnCondition])
  case not(ColumnCondition)

  /// Returns the slots of a chunk whose objects meet the condition.
  ///
  /// `chunks` has the chunk of each column, all with the same number.
  func mask(_ chunks: [ColumnChunkView], _ objects: ColumnMask) throws(RecordError) -> ColumnMask {
    switch self {
    case .always: return objects
    case .never: return .none
    case .field(let column, let test):
      let chunk = unsafe chunks[column]
      let values = unsafe chunk.values
      switch test {
      case .isPresent(let wanted): return wanted ? values : objects.subtracting(values)
      case .number(let number):
        return unsafe number.mask(chunk.firstValue, width: chunk.width) & values
      case .value(let test):
        var mask = ColumnMask.none
        for slot in values where unsafe try test(chunk.bytes(at: slot).bytes) { mask.insert(slot) }
        return mask
      }
    case .and(let conditions):
      var mask = objects
      for condition in conditions where !mask.isEmpty {
        mask = unsafe mask & (try condition.mask(chunks, objects))
      }
      return mask
    case .or(let conditions):
      var mask = ColumnMask.none
      for condition in conditions { mask = unsafe mask | (try condition.mask(chunks, objects)) }
      return mask
    case .not(let condition):
      return unsafe objects.subtracting(try condition.mask(chunks, objects))
    }
  }
}

/// The part of a query's condition that columns decide.
struct ColumnFilter: Sendable {
  let condition: ColumnCondition
  /// The positions of the fields whose columns the condition reads, in the order of its numbers.
  private(set) var positions: [Int]
  /// Whether the condition is the whole condition of the query.
  let isExact: Bool

  /// Extracts the conjuncts of a condition that read only columns.
  ///
  /// Returns `nil` if there are none. `columns` has the positions of the fields with a column.
  init?(_ node: FilterNode, columns: Set<Int>) {
    guard !columns.isEmpty else { return nil }
    let conjuncts = node.conjuncts
    let served = conjuncts.filter { $0.readsOnly(columns) }
    guard !served.isEmpty else { return nil }
    isExact = served.count == conjuncts.count
    var positions: [Int] = []
    let conditions = served.map { Self.condition($0, &positions) }
    guard !positions.isEmpty else { return nil }
    self.positions = positions
    condition = conditions.count == 1 ? conditions[0] : .and(conditions)
  }

  /// Creates a filter that accepts every object and reads the column of one field.
  init(reading position: Int) {
    condition = .always
    positions = [position]
    isExact = true
  }

  /// Creates the filter of a query whose plan reads columns.
  ///
  /// - Precondition: The plan reads columns.
  init(_ core: ResolvedQuery, _ tables: ModelTables) {
    if let filter = Self(core.node, columns: tables.columnPositions) {
      self = filter
      return
    }
    precondition(core.node.isAlways, "no column serves the query")
    self.init(reading: core.order.columns[0].position)
  }

  private static func condition(_ node: FilterNode, _ positions: inout [Int]) -> ColumnCondition {
    switch node {
    case .always: return .always
    case .never: return .never
    case .field(let condition):
      return .field(number(ofFieldAt: condition.position, &positions), condition.test)
    case .and(let nodes): return .and(nodes.map { Self.condition($0, &positions) })
    case .or(let nodes): return .or(nodes.map { Self.condition($0, &positions) })
    case .not(let node): return .not(Self.condition(node, &positions))
    case .elements, .semiJoin: preconditionFailure("a column has neither elements nor references")
    }
  }

  private static func number(ofFieldAt position: Int, _ positions: inout [Int]) -> Int {
    if let number = positions.firstIndex(of: position) { return number }
    positions.append(position)
    return positions.count - 1
  }

  /// Adds the column of another field, which the query reads but does not test.
  ///
  /// Returns its number.
  mutating func add(_ position: Int) -> Int { Self.number(ofFieldAt: position, &positions) }
}

extension FilterNode {
  /// Whether the condition refers only to fields at these positions, all of them columns.
  fileprivate func readsOnly(_ columns: Set<Int>) -> Bool {
    switch self {
    case .always, .never: true
    case .field(let condition): columns.contains(condition.position)
    case .elements, .semiJoin: false
    case .and(let nodes), .or(let nodes): nodes.allSatisfy { $0.readsOnly(columns) }
    case .not(let node): node.readsOnly(columns)
    }
  }
}
