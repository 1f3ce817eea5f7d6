/// Chooses how to find the candidates of a query.
///
/// The choice depends only on the condition, the order and the definitions of the indexes, not on
/// the stored data.
struct QueryPlanner {
  let indexes: [IndexShape]
  /// The position of the primary key, by which objects are found without an index.
  var primaryKeyPosition: Int?
  /// The positions of the fields that have a column.
  var columnPositions: Set<Int> = []

  /// The maximum number of ranges read from one index, unless a single list of values is longer.
  private static let maxRanges = 1_000
  /// The maximum number of indexes read in lock step.
  private static let maxPaths = 4

  /// Returns the best access for a condition and an order.
  ///
  /// `isLimited` says whether the query has a limit, so that few objects are expected.
  func plan(_ node: FilterNode, order: SortOrder, isLimited: Bool) -> AccessPlan {
    if case .never = node {
      return AccessPlan(access: .nothing, isExact: true, isOrdered: true)
    }
    let conjuncts = node.isAlways ? [] : Self.withoutImplied(node.conjuncts)
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
    // Sort columns that the condition fixes to one value do not affect the order.
    let sortColumns = order.columns.filter { !constraints.fixedPositions.contains($0.position) }
    let isStoredOrder = sortColumns.isEmpty && order.tieDirection == .ascending
    // Each key costs a lookup, so an index may find the candidates of many keys sooner.
    if let keys = primaryKeys(conjuncts), keys.count == 1 || selective.isEmpty {
      return AccessPlan(
        access: .primaryKeys(keys),
        isExact: conjuncts.count == 1,
        isOrdered: keys.count == 1 || isStoredOrder
      )
    }
    let candidates = undominated(selective)
    if candidates.count < 2,
      let ordered = orderedAccess(
        paths,
        best,
        sortColumns,
        order.tieDirection,
        conjuncts,
        isLimited: isLimited
      )
    {
      return ordered
    }
    if !candidates.isEmpty {
      return AccessPlan(
        access: .shortest(candidates),
        isExact: candidates.count == 1 && isExact(candidates[0], conjuncts),
        isOrdered: isStoredOrder
      )
    }
    if let union = union(conjuncts) {
      return AccessPlan(access: .union(union), isExact: false, isOrdered: isStoredOrder)
    }
    if let filter = columnFilter(node, order) {
      return AccessPlan(
        access: .columns(filter.positions),
        isExact: filter.isExact,
        isOrdered: isStoredOrder
      )
    }
    return AccessPlan(access: .scan, isExact: conjuncts.isEmpty, isOrdered: isStoredOrder)
  }

  /// Returns the conjuncts without those that all values meet to which another one limits the field.
  ///
  /// Of `state == "waiting" && state != "removed"` only the first is left, so that an index on the
  /// state can decide which objects match.
  private static func withoutImplied(_ conjuncts: [FilterNode]) -> [FilterNode] {
    conjuncts.filter { node in
      guard case .field(let condition) = node, condition.keys?.storedValues == nil else {
        return true
      }
      return !conjuncts.contains { other in
        guard case .field(let list) = other, list.position == condition.position,
          let values = list.keys?.storedValues
        else { return false }
        return values.allSatisfy { value in
          // An error of the test is reported when it reads a record.
          (try? condition.test.matches(value)) ?? false
        }
      }
    }
  }

  /// Returns the shortest list of primary keys to which a conjunct limits the matches.
  private func primaryKeys(_ conjuncts: [FilterNode]) -> [[UInt8]]? {
    let lists = conjuncts.compactMap { node -> [[UInt8]]? in
      guard let (position, keys) = node.fieldKeys, position == primaryKeyPosition else {
        return nil
      }
      return keys.storedValues
    }
    return lists.min { $0.count < $1.count }
  }

  private func isExact(_ path: AccessPath, _ conjuncts: [FilterNode]) -> Bool {
    path.exactConjuncts.count == conjuncts.count
  }

  // MARK: Columns

  /// Returns the part of the condition that columns decide.
  ///
  /// A query without a condition that sorts by a column reads only that column.
  private func columnFilter(_ node: FilterNode, _ order: SortOrder) -> ColumnFilter? {
    guard !columnPositions.isEmpty else { return nil }
    if node.isAlways {
      guard order.columns.count == 1, columnPositions.contains(order.columns[0].position) else {
        return nil
      }
      return ColumnFilter(reading: order.columns[0].position)
    }
    return ColumnFilter(node, columns: columnPositions)
  }

  // MARK: One index

  /// Returns the ranges of an index that satisfy the constraints.
  ///
  /// Returns `nil` when the index lacks entries of some matches.
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
        ? constraints.elementRanges(at: position, index.maximumContentSize)
        : constraints.fieldRanges(at: position, index.maximumContentSize)
      guard let found else { break }
      if part.isCollection { hasCollection = true }
      path.conjuncts.formUnion(found.conjuncts)
      path.exactConjuncts.formUnion(found.exactConjuncts)
      let ranges = found.ranges
      if ranges.isEmpty {
        path.ranges = []
        return path
      }
      // An object has one entry for each element.
      if part.isCollection, ranges.count > 1 || !found.arePoints { path.mayRepeat = true }
      guard prefixes.count == 1 || prefixes.count * ranges.count <= Self.maxRanges else {
        // Reading one range that spans all of them finds more than the matches.
        path.exactConjuncts.subtract(found.conjuncts)
        let span = KeyRange(lower: ranges[0].lower, upper: ranges[ranges.count - 1].upper)
        path.ranges = prefixes.map { span.after($0) }
        path.hasRange = true
        break parts
      }
      path.ranges = prefixes.flatMap { prefix in ranges.map { $0.after(prefix) } }
      guard found.arePoints else {
        path.hasRange = true
        break
      }
      if path.fixedParts == path.equalParts, ranges.count == 1 { path.fixedParts += 1 }
      path.equalParts += 1
      if ranges.contains(where: { $0.lower == KeyEncoding.null }) { hasNull = true }
      prefixes = prefixes.flatMap { prefix in ranges.map { prefix + $0.lower } }
    }
    // An object with an empty collection has no entry.
    if index.parts.contains(where: \.isCollection), !hasCollection { return nil }
    path.isSingle =
      index.isUnique && path.fixedParts == index.parts.count && !hasNull && !hasCollection
    return path
  }

  // MARK: Order

  /// Returns an access through a path whose entries come in the order of the query.
  private func orderedAccess(
    _ paths: [AccessPath],
    _ best: AccessPath?,
    _ sortColumns: [ColumnOrder],
    _ tieDirection: SortDirection,
    _ conjuncts: [FilterNode],
    isLimited: Bool
  ) -> AccessPlan? {
    let serving = paths.filter { serves($0, sortColumns, tieDirection) }
    let path: AccessPath?
    if let best {
      // With a limit, an index that serves the order is preferred to one that serves a range.
      let prefersOrder = isLimited && !sortColumns.isEmpty
      path = serving.filter { path in
        path.conjuncts.isSuperset(of: best.conjuncts)
          || (prefersOrder && path.equalParts >= best.equalParts && !path.conjuncts.isEmpty)
      }
      .min { $0.isBetter(than: $1) }
    } else {
      // Reading the whole index pays off with a limit, or when every object matches.
      path = sortColumns.isEmpty || !(isLimited || conjuncts.isEmpty) ? nil : serving.first
    }
    guard let path else { return nil }
    return AccessPlan(
      access: .ordered(path, isReversed: tieDirection == .descending),
      isExact: isExact(path, conjuncts),
      isOrdered: true
    )
  }

  private func serves(
    _ path: AccessPath,
    _ sortColumns: [ColumnOrder],
    _ tieDirection: SortDirection
  ) -> Bool {
    let rest = indexes[path.index].parts.dropFirst(path.fixedParts)
    guard !path.mayRepeat, !rest.contains(where: \.isCollection) else { return false }
    return rest.map(\.position) == sortColumns.map { Optional($0.position) }
      && sortColumns.allSatisfy { $0.direction == tieDirection }
  }

  // MARK: Several indexes

  /// Returns the paths that may give fewer candidates than the best one: each of them uses a
  /// conjunct that no better path uses.
  private func undominated(_ paths: [AccessPath]) -> [AccessPath] {
    var kept: [AccessPath] = []
    for path in paths.sorted(by: { $0.isBetter(than: $1) }) where kept.count < Self.maxPaths {
      if kept.allSatisfy({ !path.conjuncts.isSubset(of: $0.conjuncts) }) { kept.append(path) }
    }
    return kept
  }

  /// Returns one path for each operand of a disjunction among the conjuncts.
  private func union(_ conjuncts: [FilterNode]) -> [AccessPath]? {
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

extension FilterNode {
  var isAlways: Bool {
    if case .always = self { return true }
    return false
  }
}

/// The properties of an index that the planner uses.
struct IndexShape: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    /// The field's position in the program's schema; `nil` when the program does not declare it, or
    /// the index does not have the values that the program reads.
    var position: Int?
    /// Whether the field is a collection, which has one entry per element.
    var isCollection = false
  }

  var parts: [Part]
  var isUnique = false
  var maximumContentSize = KeyEncoding.maximumContentSize

  init(
    parts: [Part],
    isUnique: Bool = false,
    maximumContentSize: Int = KeyEncoding.maximumContentSize
  ) {
    self.parts = parts
    self.isUnique = isUnique
    self.maximumContentSize = maximumContentSize
  }

  init(_ index: ModelTables.Index) {
    parts = index.parts.enumerated().map { number, part in
      Part(
        position: part.isExact ? part.position : nil,
        isCollection: number == index.collectionPart
      )
    }
    isUnique = index.description.isUnique
    maximumContentSize = index.maximumContentSize
  }
}

/// A way to read the candidates of a query through one index.
struct AccessPath: Sendable, Hashable {
  /// The position of the index in the model's list of indexes.
  var index: Int
  /// The key ranges to read, sorted and disjoint; every match has an entry in one of them.
  var ranges: [KeyRange]
  /// The number of leading index parts that are limited to a list of values.
  var equalParts: Int
  /// The number of leading index parts that are limited to one value.
  var fixedParts: Int
  /// Whether the part after the equal parts is limited to a range.
  var hasRange: Bool
  /// The positions of the conjuncts from which the ranges were derived.
  var conjuncts: Set<Int>
  /// The conjuncts that every object with an entry in the ranges meets.
  var exactConjuncts: Set<Int>
  /// Whether an object can have more than one entry in the ranges.
  var mayRepeat: Bool
  /// Whether at most one object can match.
  var isSingle: Bool

  /// Returns whether this path can be expected to give fewer candidates than `other`.
  func isBetter(than other: AccessPath) -> Bool {
    if isSingle != other.isSingle { return isSingle }
    if equalParts != other.equalParts { return equalParts > other.equalParts }
    if hasRange != other.hasRange { return hasRange }
    if ranges.count != other.ranges.count { return ranges.count < other.ranges.count }
    return index < other.index
  }
}

/// How the candidates of a query are found.
enum Access: Sendable, Hashable {
  /// No object can match.
  case nothing
  /// All objects, in the order of their IDs.
  case scan
  /// The objects whose fields at these positions, all of them columns, meet the condition or the
  /// part of it that refers to them; in the order of their IDs.
  case columns([Int])
  /// The objects with these primary keys, each in its stored encoding.
  case primaryKeys([[UInt8]])
  /// The entries of an index, read in the order of the query.
  case ordered(AccessPath, isReversed: Bool)
  /// The objects of one of the paths: the one that turns out to have the fewest entries.
  case shortest([AccessPath])
  /// The objects of all of the paths.
  case union([AccessPath])
}

/// An access, and the work that remains for each candidate.
struct AccessPlan: Sendable, Hashable {
  var access: Access
  /// Whether every candidate matches, so that none has to be tested.
  var isExact: Bool
  /// Whether candidates come in the order of the query, so that nothing has to be sorted.
  var isOrdered: Bool
}
