extension Predicate {
  /// The condition as it is in one transaction: with the keys of each query of another model that is
  /// in it.
  struct Resolved: Sendable {
    /// A condition on the fields of the objects alone.
    var predicate: Predicate
    /// What each query of another model has found, in the order of ``PredicateNode/semiJoins``.
    var keys: [[[UInt8]]] = []
  }

  /// Runs the queries of other models that are in the condition, each by its own plan.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func resolved(in source: ReaderSource) throws -> Resolved {
    guard !node.semiJoins.isEmpty else { return Resolved(predicate: self) }
    // One key takes a search in an index, and as long as reading some records one after another.
    let mostSearches = try max(1_000, source.objectCount(of: Root.self) / 8)
    var keys: [[[UInt8]]] = []
    let node = try node.replacingSemiJoins { join in
      let found = try join.other.keys(in: source)
      keys.append(found)
      return join.condition(on: found, isServed: found.count <= mostSearches)
    }
    return Resolved(predicate: Predicate(node), keys: keys)
  }
}

extension SemiJoin {
  /// The condition that a key is one of some; `isServed` says whether indexes may be asked for each.
  func condition(on keys: [[UInt8]], isServed: Bool) -> PredicateNode {
    guard !keys.isEmpty else { return .never }
    let set = StoredKeySet(keys)
    return unsafe .field(
      FieldCondition(
        position: position,
        test: .value { stored throws(RecordError) in unsafe set.contains(stored) },
        keys: isServed && other.keyType.isIndexable ? .values(keys, other.keyType) : nil
      )
    )
  }
}

extension ReaderSource {
  fileprivate func objectCount<M: Model>(of model: M.Type) throws -> Int {
    unsafe try reader(of: model)?.count() ?? 0
  }
}

extension PredicateNode {
  /// The queries of other models, each as often as it occurs.
  var semiJoins: [SemiJoin] {
    switch self {
    case .always, .never, .field: []
    case .semiJoin(let join): [join]
    case .elements(_, _, let condition, _): condition.semiJoins
    case .and(let nodes), .or(let nodes): nodes.flatMap(\.semiJoins)
    case .not(let node): node.semiJoins
    }
  }

  /// The same with other nodes for the semi-joins, asked for in the order of ``semiJoins``; what
  /// they decide alone is decided.
  func replacingSemiJoins(
    _ replacement: (SemiJoin) throws -> PredicateNode
  ) rethrows -> PredicateNode {
    switch self {
    case .always, .never, .field: return self
    case .semiJoin(let join): return try replacement(join)
    case .elements(let position, let type, let condition, let isEvery):
      let condition = try condition.replacingSemiJoins(replacement)
      if !isEvery, condition.isNever { return .never }
      return .elements(position: position, type: type, condition: condition, isEvery: isEvery)
    case .and(let nodes):
      let nodes = try nodes.map { try $0.replacingSemiJoins(replacement) }
      if nodes.contains(where: \.isNever) { return .never }
      let rest = nodes.filter { !$0.isAlways }
      return rest.isEmpty ? .always : rest.count == 1 ? rest[0] : .and(rest)
    case .or(let nodes):
      let nodes = try nodes.map { try $0.replacingSemiJoins(replacement) }
      if nodes.contains(where: \.isAlways) { return .always }
      let rest = nodes.filter { !$0.isNever }
      return rest.isEmpty ? .never : rest.count == 1 ? rest[0] : .or(rest)
    case .not(let node):
      let node = try node.replacingSemiJoins(replacement)
      return node.isNever ? .always : node.isAlways ? .never : .not(node)
    }
  }

  var isNever: Bool {
    if case .never = self { return true }
    return false
  }
}
