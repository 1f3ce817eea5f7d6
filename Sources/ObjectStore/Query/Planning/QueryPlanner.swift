/// Finds the best access for a condition and an order, from what the indexes are: pure.
struct QueryPlanner {
  let indexes: [IndexShape]
  /// Objects are found by the field there without an index.
  var primaryKeyPosition: Int?

  /// An index is asked for at most so many ranges, unless the query itself has more values.
  private static let mostRanges = 1_000
  /// So many indexes are read side by side at most.
  private static let mostPaths = 4

  /// The best access to what meets a condition, in an order; `isLimited` says that a few objects
  /// are wanted only.
  func plan(_ node: PredicateNode, order: SortOrder, isLimited: Bool) -> AccessPlan {
    if case .never = node {
      return AccessPlan(access: .nothing, isExact: true, isOrdered: true)
    }
    let conjuncts = node.isAlways ? [] : node.conjuncts
    let constraints = Constraints(conjuncts)
    let paths = indexes.indices.compactMap { path(through: $0, constraints) }
    if paths.contains(where: \.ranges.isEmpty) {
      return AccessPlan(access: .nothing, isExact: true, isOrdered: true)
    }
    let selective = paths.filter { !$0.conjuncts.isEmpty }
    let best = selective.min { $0.isBetter(than: $1) }
    if let best, best.isSingle {
      return AccessPlan(
        access: .shortest([best]),
        isExact: isExact(best, conjuncts),
        isOrdered: true
      )
    }
    // The order by stored fields that the query fixes says nothing.
    let open = order.columns.filter { !constraints.fixedPositions.contains($0.position) }
    let isStoredOrder = open.isEmpty && order.tieDirection == .ascending
    // Several keys cost a search each, where an index may end sooner.
    if let keys = primaryKeys(conjuncts), keys.count == 1 || selective.isEmpty {
      return AccessPlan(
        access: .keys(keys),
        isExact: conjuncts.count == 1,
        isOrdered: keys.count == 1 || isStoredOrder
      )
    }
    let rivals = undominated(selective)
    if rivals.count < 2,
      let walk = walk(paths, best, open, order.tieDirection, conjuncts, isLimited: isLimited)
    {
      return walk
    }
    if !rivals.isEmpty {
      return AccessPlan(
        access: .shortest(rivals),
        isExact: rivals.count == 1 && isExact(rivals[0], conjuncts),
        isOrdered: isStoredOrder
      )
    }
    if let union = union(conjuncts) {
      return AccessPlan(access: .union(union), isExact: false, isOrdered: isStoredOrder)
    }
    return AccessPlan(access: .scan, isExact: conjuncts.isEmpty, isOrdered: isStoredOrder)
  }

  /// The fewest primary keys of which a condition says that a match has one.
  private func primaryKeys(_ conjuncts: [PredicateNode]) -> [[UInt8]]? {
    let lists = conjuncts.compactMap { node -> [[UInt8]]? in
      guard case .field(let condition) = node, condition.position == primaryKeyPosition else {
        return nil
      }
      return condition.keys?.storedValues
    }
    return lists.min { $0.count < $1.count }
  }

  private func isExact(_ path: AccessPath, _ conjuncts: [PredicateNode]) -> Bool {
    path.exactConjuncts.count == conjuncts.count
  }

  // MARK: One index

  /// The ranges of an index that the constraints leave; `nil` when the index does not have an entry
  /// of every match.
  private func path(through number: Int, _ constraints: Constraints) -> AccessPath? {
    let index = indexes[number]
    var path = AccessPath(
      index: number,
      ranges: [KeyRange(lower: [], upper: nil)],
      equalParts: 0,
      fixedParts: 0,
      hasRange: false,
      conjuncts: [],
      exactConjuncts: [],
      mayRepeat: false,
      isSingle: false
    )
    var prefixes: [[UInt8]] = [[]]
    var hasCollection = false
    var hasNull = false
    parts: for part in index.parts {
      guard let position = part.position else { break }
      let found =
        part.isCollection
        ? constraints.ofOneElement(at: position, index.longestContent)
        : constraints.ofField(at: position, index.longestContent)
      guard let found else { break }
      if part.isCollection { hasCollection = true }
      path.conjuncts.formUnion(found.conjuncts)
      path.exactConjuncts.formUnion(found.exactConjuncts)
      let ranges = found.ranges
      if ranges.isEmpty {
        path.ranges = []
        return path
      }
      guard prefixes.count == 1 || prefixes.count * ranges.count <= Self.mostRanges else {
        // One range around all of them finds some more.
        path.exactConjuncts.subtract(found.conjuncts)
        let hull = KeyRange(lower: ranges[0].lower, upper: ranges[ranges.count - 1].upper)
        path.ranges = prefixes.map { hull.after($0) }
        path.hasRange = true
        path.mayRepeat = part.isCollection
        break parts
      }
      path.ranges = prefixes.flatMap { prefix in ranges.map { $0.after(prefix) } }
      guard found.arePoints else {
        path.hasRange = true
        path.mayRepeat = path.mayRepeat || part.isCollection
        break
      }
      if part.isCollection, ranges.count > 1 { path.mayRepeat = true }
      if path.fixedParts == path.equalParts, ranges.count == 1 { path.fixedParts += 1 }
      path.equalParts += 1
      if ranges.contains(where: { $0.lower == KeyEncoding.null }) { hasNull = true }
      prefixes = prefixes.flatMap { prefix in ranges.map { prefix + $0.lower } }
    }
    // An object whose collection is empty has no entry.
    if index.parts.contains(where: \.isCollection), !hasCollection { return nil }
    path.isSingle =
      index.isUnique && path.fixedParts == index.parts.count && !hasNull && !hasCollection
    return path
  }

  // MARK: Order

  /// A path of which the entries come in the order of the query.
  private func walk(
    _ paths: [AccessPath],
    _ best: AccessPath?,
    _ open: [ColumnOrder],
    _ tieDirection: SortDirection,
    _ conjuncts: [PredicateNode],
    isLimited: Bool
  ) -> AccessPlan? {
    let serving = paths.filter { serves($0, open, tieDirection) }
    let path: AccessPath?
    if let best {
      // An order that is served is worth a range that is not, when a few objects are wanted.
      let isOrderDear = isLimited && !open.isEmpty
      path = serving.filter { path in
        path.conjuncts.isSuperset(of: best.conjuncts)
          || (isOrderDear && path.equalParts >= best.equalParts && !path.conjuncts.isEmpty)
      }
      .min { $0.isBetter(than: $1) }
    } else {
      // Through the whole index: worth it for some objects, or when none is left out.
      path = open.isEmpty || !(isLimited || conjuncts.isEmpty) ? nil : serving.first
    }
    guard let path else { return nil }
    return AccessPlan(
      access: .walk(path, isReversed: tieDirection == .descending),
      isExact: isExact(path, conjuncts),
      isOrdered: true
    )
  }

  private func serves(
    _ path: AccessPath,
    _ open: [ColumnOrder],
    _ tieDirection: SortDirection
  ) -> Bool {
    let rest = indexes[path.index].parts.dropFirst(path.fixedParts)
    guard !path.mayRepeat, !rest.contains(where: \.isCollection) else { return false }
    return rest.map(\.position) == open.map { Optional($0.position) }
      && open.allSatisfy { $0.direction == tieDirection }
  }

  // MARK: Several indexes

  /// The paths that may find fewer candidates than the best: those that use a condition that no
  /// better one uses.
  private func undominated(_ paths: [AccessPath]) -> [AccessPath] {
    var kept: [AccessPath] = []
    for path in paths.sorted(by: { $0.isBetter(than: $1) }) where kept.count < Self.mostPaths {
      if kept.allSatisfy({ !path.conjuncts.isSubset(of: $0.conjuncts) }) { kept.append(path) }
    }
    return kept
  }

  /// A path for each side of a disjunction among the conjuncts.
  private func union(_ conjuncts: [PredicateNode]) -> [AccessPath]? {
    var best: [AccessPath]?
    for case .or(let nodes) in conjuncts {
      var paths: [AccessPath] = []
      for node in nodes {
        let constraints = Constraints(node.conjuncts)
        let path = indexes.indices.compactMap { self.path(through: $0, constraints) }
          .filter { !$0.conjuncts.isEmpty }
          .min { $0.isBetter(than: $1) }
        guard let path else {
          paths = []
          break
        }
        paths.append(path)
      }
      guard !paths.isEmpty, paths.count < best?.count ?? .max else { continue }
      best = paths
    }
    return best
  }
}

extension PredicateNode {
  var isAlways: Bool {
    if case .always = self { return true }
    return false
  }
}
