/// A condition on a field of keys: that they are among those that a query of another model finds.
///
/// Where the query runs, its keys take the place of the condition: see
/// ``Predicate/resolved(in:)``.
struct SemiJoin: Sendable {
  /// The field, or the collection of which the condition is on an element.
  var position: Int
  var other: any KeySource
}

/// The side of a semi-join that gives the keys, whatever its model is.
protocol KeySource: Sendable {
  /// The type of one key.
  var keyType: FieldType { get }

  /// The different keys in order.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`; `CancellationError`.
  func keys(in source: ReaderSource) throws -> [[UInt8]]

  /// How they are found.
  func plan(in source: ReaderSource) throws -> QueryPlan

  /// Whether commits between the two may have changed what the keys are.
  func mayDiffer(
    _ source: ReaderSource,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> Bool
}

/// What a field of the objects holds that meet a condition: their primary keys, or those to which
/// they refer.
struct MatchingKeys<Other: Model>: KeySource {
  let predicate: Predicate<Other>
  let position: Int
  /// Whether the field is a collection of keys.
  let isCollection: Bool
  /// The type of one key.
  let keyType: FieldType

  func keys(in source: ReaderSource) throws -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    let core = try QueryCore(predicate, in: source)
    unsafe try source.forEachContent(core, of: Other.self, at: position) { content in
      do {
        unsafe try StoredReferences.forEachKey(
          in: content,
          type: keyType,
          isCollection: isCollection
        ) { unsafe keys.insert(Array($0)) }
      } catch let error as RecordError {
        throw StoreError(
          .damaged,
          "\(Other.schema.fields[position].name) of an object of \(Other.schema.name) is damaged",
          cause: error
        )
      }
    }
    return keys.sorted { $0.precedes($1) }
  }

  func plan(in source: ReaderSource) throws -> QueryPlan {
    try source.explain(Query(predicate))
  }

  func mayDiffer(
    _ source: ReaderSource,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed
  ) throws -> Bool {
    let changes = try source.changes(of: Other.self, from: old, to: now, feed)?.all
    guard let changes, !changes.isWhole else { return true }
    let read = predicate.node.positions.union([position])
    let fields = read.reduce(0 as UInt64) { $0 | ChangeLog.bit(ofFieldAt: $1) }
    if changes.objects.values.contains(where: { $0.kind != .updated || $0.fields & fields != 0 }) {
      return true
    }
    return try predicate.node.semiJoins.contains { join in
      try join.other.mayDiffer(source, from: old, to: now, feed)
    }
  }
}
