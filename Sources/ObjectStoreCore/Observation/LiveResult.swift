internal import LMDB

/// The observed result of a query.
struct LiveResult<Root: Model>: LiveValue {
  typealias Entry = ResultSnapshot<Root>.Entry
  typealias Edit = ChunkedArray<Entry>.Edit

  private var query: ObservedQuery<Root>
  /// The fields whose modification is reported, as in ``ChangeLog/Change/fields``.
  private let fields: UInt64
  private var snapshot = ResultSnapshot<Root>()
  /// The sort key of each object in the result; empty if the result is sorted by id.
  private var keys: [UInt64: [UInt8]] = [:]
  private(set) var position: CommitPosition?

  init(_ query: Query<Root>, fields: UInt64) {
    self.query = ObservedQuery(query)
    self.fields = fields
  }

  mutating func refresh(
    in transaction: borrowing Snapshot,
    _ feed: CommitFeed,
    suppressed: Set<UInt64>
  ) throws -> ResultChange<Root>? {
    let now = try CommitPosition(transaction.source)
    guard let then = position else {
      _ = try query.resolve(in: transaction.source)
      try start(in: transaction)
      position = now
      return ResultChange(snapshot: snapshot, base: snapshot, isInitial: true, token: now.token)
    }
    guard now.number != then.number else { return nil }
    let changes = try transaction.source.changes(
      of: Root.self,
      from: then,
      to: now,
      feed,
      suppressed: suppressed
    )
    var isConditionChanged = false
    if try query.dependsOnChanges(transaction.source, from: then, to: now, feed) {
      isConditionChanged = try query.resolve(in: transaction.source)
    }
    var change = ResultChange(snapshot: snapshot, base: snapshot, token: now.token)
    if let changes, !changes.all.coversAllObjects {
      if isConditionChanged || !query.isIncremental && !changes.all.isEmpty {
        try rerun(in: transaction, changes, &change)
      } else if !changes.all.isEmpty {
        var unreported = change
        try apply(changes.onlySuppressed, in: transaction, &unreported)
        change.base = snapshot
        try apply(changes.toReport, in: transaction, &change)
      }
    } else {
      try rerun(in: transaction, nil, &change)
    }
    position = now
    change.snapshot = snapshot
    // If every commit was suppressed, their effects on other objects of the result are not reported
    // either.
    guard now.number &- then.number > UInt64(suppressed.count) else { return nil }
    return change.isEmpty ? nil : change
  }

  private mutating func start(in transaction: borrowing Snapshot) throws {
    var entries: [Entry] = []
    keys.removeAll(keepingCapacity: true)
    try query.forEach(in: transaction) { entry, key in
      entries.append(entry)
      if !key.isEmpty { keys[entry.id] = key }
    }
    snapshot = ResultSnapshot(entries)
  }

  // MARK: Incremental update

  /// Removes, inserts, moves or replaces the changed objects in the snapshot, and adds these edits
  /// to `result`.
  ///
  /// - Complexity: O(c log n) for c changes in a result of n objects.
  private mutating func apply(
    _ changes: CoalescedChanges,
    in transaction: borrowing Snapshot,
    _ result: inout ResultChange<Root>
  ) throws {
    guard try transaction.source.schema.tables(of: Root.self) != nil else { return }
    var edits: [(edit: Edit, key: [UInt8], isReported: Bool)] = []
    var newKeys: [(id: UInt64, key: [UInt8]?)] = []
    for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
      let old = self.position(of: id)
      let new = change.kind == .deleted ? nil : try member(id, transaction.source)
      if let old, let new, keys[id] ?? [] == new.key {
        let isReported = change.fields & fields != 0
        edits.append((Edit(position: old, kind: .replace(new.entry)), [], isReported))
        continue
      }
      if let old { edits.append((Edit(position: old, kind: .remove), [], true)) }
      if let new {
        let position = firstPosition(notBefore: id, new.key)
        edits.append((Edit(position: position, kind: .insert(new.entry)), new.key, true))
      }
      if old != nil || new != nil { newKeys.append((id, new?.key)) }
    }
    if !query.isOrderedByID { for (id, key) in newKeys { keys[id] = key } }
    edits.sort { left, right in Self.isBefore(left.edit, left.key, right.edit, right.key) }
    snapshot.entries.apply(edits.map(\.edit))
    result.add(edits.map { ($0.edit, $0.isReported) })
  }

  /// Returns the object and its sort key, or `nil` if it does not match the query.
  private func member(
    _ id: UInt64,
    _ source: ReaderSource
  ) throws -> (entry: Entry, key: [UInt8])? {
    try source.withObject(Root.self, id: id) { record, decode in
      guard try query.matches(record, id) else { return nil }
      let key = query.isOrderedByID ? [] : try query.sortKey(record, id)
      return (Entry(id: id, object: try decode()), key)
    }
  }

  /// The position of the object in the snapshot, if the snapshot contains it.
  private func position(of id: UInt64) -> Int? {
    var key: [UInt8] = []
    if !query.isOrderedByID {
      guard let known = keys[id] else { return nil }
      key = known
    }
    let position = firstPosition(notBefore: id, key)
    return position < snapshot.count && snapshot.entries[position].id == id ? position : nil
  }

  private func firstPosition(notBefore id: UInt64, _ key: [UInt8]) -> Int {
    guard !query.isOrderedByID else {
      return snapshot.entries.partitionPoint { $0.id >= id }
    }
    return snapshot.entries.partitionPoint { entry in
      !(keys[entry.id] ?? []).precedes(key)
    }
  }

  /// The order of edits that ``ChunkedArray/apply(_:)`` requires.
  private static func isBefore(
    _ left: Edit,
    _ leftKey: [UInt8],
    _ right: Edit,
    _ rightKey: [UInt8]
  ) -> Bool {
    if left.position != right.position { return left.position < right.position }
    switch (left.kind, right.kind) {
    case (.insert(let one), .insert(let other)):
      return leftKey == rightKey
        ? one.id < other.id : leftKey.precedes(rightKey)
    case (.insert, _): return true
    case (_, _): return false
    }
  }

  // MARK: Full rerun

  /// Runs the query again and computes the difference to `result.base`.
  ///
  /// Used if the result depends on more than the changed objects, or if the changed objects are
  /// unknown.
  private mutating func rerun(
    in transaction: borrowing Snapshot,
    _ changes: CommittedChanges?,
    _ result: inout ResultChange<Root>
  ) throws {
    try start(in: transaction)
    let entries = snapshot.entries
    if let suppressed = changes?.onlySuppressed, !suppressed.isEmpty {
      result.base = result.base.replacing(entries) { suppressed.objects[$0] != nil }
    }
    let before = result.base.entries
    let difference = ResultDifference(from: before.allIDs(), to: entries.allIDs())
    result.deletions = difference.deletions
    result.insertions = difference.insertions
    var comparison = FieldComparison<Root>()
    for positions in difference.kept {
      let entry = entries[positions.new]
      if let changes, changes.all.objects[entry.id] == nil { continue }
      let differing = try comparison.differences(before[positions.old].object, entry.object)
      if differing & fields != 0 { result.modifications.append(positions.new) }
    }
  }
}

extension CommittedChanges {
  /// The changes to objects that only suppressed commits have changed.
  fileprivate var onlySuppressed: CoalescedChanges { all.filter { reported.objects[$0] == nil } }

  /// The changes to the other objects, including those made by suppressed commits.
  fileprivate var toReport: CoalescedChanges { all.filter { reported.objects[$0] != nil } }
}

extension ResultSnapshot {
  /// Returns this snapshot with the state of some objects taken from a later result.
  ///
  /// A replaced object is inserted after the object that it follows in the later result, or removed
  /// if the later result does not contain it.
  fileprivate func replacing(
    _ later: ChunkedArray<Entry>,
    _ isReplaced: (UInt64) -> Bool
  ) -> ResultSnapshot {
    let kept = entries.chunks.joined().filter { !isReplaced($0.id) }
    let keptIDs = Set(kept.map(\.id))
    var first: [Entry] = []
    var followers: [UInt64: [Entry]] = [:]
    var last: UInt64?
    for entry in later.chunks.joined() {
      if isReplaced(entry.id) {
        if let last { followers[last, default: []].append(entry) } else { first.append(entry) }
      } else if keptIDs.contains(entry.id) {
        last = entry.id
      }
    }
    return ResultSnapshot(first + kept.flatMap { [$0] + (followers[$0.id] ?? []) })
  }
}

extension ResultChange {
  /// Adds the positions of sorted edits.
  ///
  /// Deletions have old positions, insertions and modifications new ones.
  fileprivate mutating func add(
    _ edits: [(edit: ChunkedArray<ResultSnapshot<Root>.Entry>.Edit, isReported: Bool)]
  ) {
    for (edit, isReported) in edits {
      let position = edit.position + insertions.count - deletions.count
      switch edit.kind {
      case .insert: insertions.append(position)
      case .remove: deletions.append(edit.position)
      case .replace: if isReported { modifications.append(position) }
      }
    }
  }
}

extension ChunkedArray {
  /// Returns the ids of all entries in order.
  fileprivate func allIDs<Root>() -> [UInt64] where Element == ResultSnapshot<Root>.Entry {
    chunks.flatMap { $0.map(\.id) }
  }
}

/// The difference between two sequences of ids.
struct ResultDifference: Equatable {
  /// The positions of deleted or moved ids in the old sequence, ascending.
  var deletions: [Int] = []
  /// The positions of inserted or moved ids in the new sequence, ascending.
  var insertions: [Int] = []
  /// The positions of the remaining ids in the old and the new sequence, both ascending.
  var kept: [(old: Int, new: Int)] = []

  /// Computes the difference with the fewest deletions and insertions.
  ///
  /// - Complexity: O(n log n) in the lengths of both.
  init(from old: [UInt64], to new: [UInt64]) {
    let positions = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($1, $0) })
    let common = new.enumerated().compactMap { position, id in
      positions[id].map { (old: $0, new: position) }
    }
    kept = Self.longestIncreasing(common)
    deletions = Self.gaps(kept.map(\.old), count: old.count)
    insertions = Self.gaps(kept.map(\.new), count: new.count)
  }

  /// Returns the longest increasing subsequence by old position: the ids that need not move.
  private static func longestIncreasing(
    _ pairs: [(old: Int, new: Int)]
  ) -> [(old: Int, new: Int)] {
    // `ends` holds the index of the smallest last element of a subsequence of each length;
    // `previous` links each element to its predecessor.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: pairs.count)
    for index in pairs.indices {
      let length = ends.partitionPoint { pairs[$0].old >= pairs[index].old }
      if length > 0 { previous[index] = ends[length - 1] }
      if length == ends.count { ends.append(index) } else { ends[length] = index }
    }
    var result: [(old: Int, new: Int)] = []
    var index = ends.last ?? -1
    while index >= 0 {
      result.append(pairs[index])
      index = previous[index]
    }
    return result.reversed()
  }

  /// Returns the positions below `count` that are not in `positions`.
  private static func gaps(_ positions: [Int], count: Int) -> [Int] {
    var gaps: [Int] = []
    var next = 0
    for position in positions + [count] {
      gaps += next..<position
      next = position + 1
    }
    return gaps
  }

  static func == (left: Self, right: Self) -> Bool {
    left.deletions == right.deletions && left.insertions == right.insertions
      && left.kept.elementsEqual(right.kept) { $0 == $1 }
  }
}
