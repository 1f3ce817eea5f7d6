/// A condition that a key field is one of the keys that a query on another model finds.
///
/// It is replaced by those keys before the query runs: see ``Filter/resolved(in:)``.
struct SemiJoin: Sendable {
  /// The position of the field, or of the collection whose elements the condition tests.
  var position: Int
  var other: any KeySource
}

/// The type-erased query of a semi-join that supplies the keys.
protocol KeySource: Sendable {
  /// The type of one key.
  var keyType: FieldType { get }

  /// Returns the distinct keys in ascending order of their bytes.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func keys(in source: ReaderSource) throws -> [[UInt8]]

  /// Returns the plan of the query.
  func plan(in source: ReaderSource) throws -> QueryPlan

  /// Returns whether commits between two positions may have changed the keys.
  func mayDiffer(
    _ source: ReaderSource,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> Bool
}

/// The values of a key field in the objects that meet a condition: their own primary keys, or the
/// keys to which they refer.
struct MatchingKeys<Other: Model>: KeySource {
  let filter: Filter<Other>
  let position: Int
  /// Whether the field is a collection of keys.
  let isCollection: Bool
  /// The type of one key.
  let keyType: FieldType

  func keys(in source: ReaderSource) throws -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    let core = try ResolvedQuery(filter, in: source)
    try source.forEachReferenceKey(
      core,
      of: Other.self,
      at: position,
      type: keyType,
      isCollection: isCollection
    ) { keys.insert($0) }
    return keys.sorted { $0.precedes($1) }
  }

  func plan(in source: ReaderSource) throws -> QueryPlan {
    try source.explain(Query(filter))
  }

  func mayDiffer(
    _ source: ReaderSource,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> Bool {
    let changes = try source.changes(of: Other.self, from: old, to: now, feed)?.all
    guard let changes, !changes.coversAllObjects else { return true }
    let read = filter.node.positions.union([position])
    let fields = read.reduce(0 as UInt64) { $0 | FieldBit.ofField(at: $1) }
    if changes.objects.values.contains(where: { $0.kind != .updated || $0.fields & fields != 0 }) {
      return true
    }
    return try filter.node.semiJoins.contains { join in
      try join.other.mayDiffer(source, from: old, to: now, feed)
    }
  }
}

extension Filter {
  /// The condition in one transaction, with the results of its queries on other models filled in.
  struct Resolved: Sendable {
    /// The condition, which refers to fields of this model only.
    let filter: Filter
    /// The keys that each query on another model found, in the order of
    /// ``FilterNode/semiJoins``.
    let keys: [[[UInt8]]]
    /// The compiled condition.
    let matches: RecordTest

    init(filter: Filter, keys: [[[UInt8]]] = []) {
      self.filter = filter
      self.keys = keys
      matches = filter.node.makeTest()
    }
  }

  /// Runs the queries on other models that the condition contains, each with its own plan.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func resolved(in source: ReaderSource) throws -> Resolved {
    guard !node.semiJoins.isEmpty else { return Resolved(filter: self) }
    // An index lookup per key costs as much as reading several records in sequence.
    let maxLookups = try max(1_000, source.objectCount(of: Root.self) / 8)
    var keys: [[[UInt8]]] = []
    let node = try node.replacingSemiJoins { join in
      let found = try join.other.keys(in: source)
      keys.append(found)
      return join.condition(on: found, isCovered: found.count <= maxLookups)
    }
    return Resolved(filter: Filter(node), keys: keys)
  }
}

extension SemiJoin {
  /// Returns the condition that the field is one of the keys.
  ///
  /// `isCovered` says whether an index may be used, with one lookup per key.
  func condition(on keys: [[UInt8]], isCovered: Bool) -> FilterNode {
    guard !keys.isEmpty else { return .never }
    let set = StoredKeySet(keys)
    return .field(
      FieldCondition(
        position: position,
        test: .value { stored throws(RecordError) in set.contains(stored) },
        keys: isCovered && other.keyType.isIndexable ? .values(keys, other.keyType) : nil
      )
    )
  }
}

extension ReaderSource {
  fileprivate func objectCount<M: Model>(of model: M.Type) throws -> Int {
    try count(of: model)
  }
}

extension FilterNode {
  /// The conditions across references, in source order, with repetitions.
  var semiJoins: [SemiJoin] {
    switch self {
    case .always, .never, .field: []
    case .semiJoin(let join): [join]
    case .elements(_, _, let condition, _): condition.semiJoins
    case .and(let nodes), .or(let nodes): nodes.flatMap(\.semiJoins)
    case .not(let node): node.semiJoins
    }
  }

  /// Returns the tree with each semi-join replaced, in the order of ``semiJoins``.
  ///
  /// Branches that a replacement decides are simplified away.
  func replacingSemiJoins(
    _ replacement: (SemiJoin) throws -> FilterNode
  ) rethrows -> FilterNode {
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

/// A set of keys in their stored encoding.
struct StoredKeySet: Sendable {
  private let keys: [[UInt8]]
  /// The hashes of the keys, which reject most other keys without a search.
  private let hashes: Set<UInt64>

  /// Creates a set.
  ///
  /// - Precondition: `keys` are sorted by their bytes.
  init(_ keys: [[UInt8]]) {
    self.keys = keys
    hashes = Set(keys.map { XXHash64.hash($0, seed: 0) })
  }

  func contains(_ key: RawSpan) -> Bool {
    guard hashes.contains(XXHash64.hash(key, seed: 0)) else { return false }
    let place = keys.partitionPoint { key.compare(to: $0) <= 0 }
    guard place < keys.count else { return false }
    return key.isSame(as: keys[place])
  }
}
