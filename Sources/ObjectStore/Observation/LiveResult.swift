internal import LMDB

/// The result of a query, brought from commit to commit by what the commits changed.
struct LiveResult<Root: Model>: Followed {
  typealias Entry = ResultSnapshot<Root>.Entry
  typealias Edit = ChunkedArray<Entry>.Edit

  private var query: ObservedQuery<Root>
  /// A change of these fields is told, as ``ChangeLog/Change/fields``.
  private let fields: UInt64
  private var snapshot = ResultSnapshot<Root>()
  /// What each object of the result is sorted by; none when that is the id.
  private var keys: [UInt64: [UInt8]] = [:]
  /// Which commit the snapshot is of; `nil` before the first one.
  private(set) var position: CommitPosition?

  init(_ query: Query<Root>, fields: UInt64) {
    self.query = ObservedQuery(query)
    self.fields = fields
  }

  /// Brings the result to the transaction's commit; returns what is to be told of it, if anything.
  mutating func refresh(
    in transaction: borrowing Snapshot,
    _ feed: CommitFeed,
    unheard: Set<UInt64>
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
      unheard: unheard
    )
    var isOtherNow = false
    if try query.dependsOnChanges(transaction.source, from: then, to: now, feed) {
      isOtherNow = try query.resolve(in: transaction.source)
    }
    var change = ResultChange(snapshot: snapshot, base: snapshot, token: now.token)
    if let changes, !changes.all.isWhole {
      if isOtherNow || !query.isIncremental && !changes.all.isEmpty {
        try runAgain(in: transaction, changes, &change)
      } else if !changes.all.isEmpty {
        var silent = change
        try apply(changes.unheard, in: transaction, &silent)
        change.base = snapshot
        try apply(changes.told, in: transaction, &change)
      }
    } else {
      try runAgain(in: transaction, nil, &change)
    }
    position = now
    change.snapshot = snapshot
    // Of a commit of which it is not to hear, it is not told either what follows for other objects.
    guard now.number &- then.number > UInt64(unheard.count) else { return nil }
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

  // MARK: By what has changed

  /// Takes the changed objects out, puts them in, or puts them elsewhere.
  ///
  /// - Complexity: O(c log n) for c changes in a result of n objects.
  private mutating func apply(
    _ changes: CoalescedChanges,
    in transaction: borrowing Snapshot,
    _ told: inout ResultChange<Root>
  ) throws {
    guard let reader = unsafe try transaction.source.reader(of: Root.self) else { return }
    var edits: [(edit: Edit, key: [UInt8], isTold: Bool)] = []
    var newKeys: [(id: UInt64, key: [UInt8]?)] = []
    for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
      let old = place(of: id)
      let new = change.kind == .deleted ? nil : try unsafe member(id, reader)
      if let old, let new, keys[id] ?? [] == new.key {
        let isTold = change.fields & fields != 0
        edits.append((Edit(position: old, kind: .replace(new.entry)), [], isTold))
        continue
      }
      if let old { edits.append((Edit(position: old, kind: .remove), [], true)) }
      if let new {
        let position = firstPlace(notBefore: id, new.key)
        edits.append((Edit(position: position, kind: .insert(new.entry)), new.key, true))
      }
      if old != nil || new != nil { newKeys.append((id, new?.key)) }
    }
    if !query.isOrderedByID { for (id, key) in newKeys { keys[id] = key } }
    edits.sort { left, right in Self.isBefore(left.edit, left.key, right.edit, right.key) }
    snapshot.entries.apply(edits.map(\.edit))
    told.note(edits.map { ($0.edit, $0.isTold) })
  }

  /// The object as a member of the result, unless it is none.
  private func member(
    _ id: UInt64,
    _ reader: ModelReader
  ) throws -> (entry: Entry, key: [UInt8])? {
    guard let record = unsafe try reader.record(id) else {
      throw StoreError(.damaged, "object \(id) of \(Root.schema.name) was written and is not there")
    }
    guard try query.matches(record, id) else { return nil }
    let key = query.isOrderedByID ? [] : try query.sortKey(record, id)
    return (Entry(id: id, object: unsafe try reader.decode(record, id)), key)
  }

  /// The place of the object in the result, if it is there.
  private func place(of id: UInt64) -> Int? {
    var key: [UInt8] = []
    if !query.isOrderedByID {
      guard let known = keys[id] else { return nil }
      key = known
    }
    let place = firstPlace(notBefore: id, key)
    return place < snapshot.count && snapshot.entries[place].id == id ? place : nil
  }

  private func firstPlace(notBefore id: UInt64, _ key: [UInt8]) -> Int {
    guard !query.isOrderedByID else {
      return snapshot.entries.partitionPoint { $0.id >= id }
    }
    return snapshot.entries.partitionPoint { entry in
      !(keys[entry.id] ?? []).lexicographicallyPrecedes(key)
    }
  }

  /// As ``ChunkedArray/apply(_:)`` wants its edits.
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
        ? one.id < other.id : leftKey.lexicographicallyPrecedes(rightKey)
    case (.insert, _): return true
    case (_, _): return false
    }
  }

  // MARK: By running it again

  /// For a query whose result depends on more than the objects that changed, and when nobody knows
  /// which did.
  private mutating func runAgain(
    in transaction: borrowing Snapshot,
    _ changes: CommittedChanges?,
    _ told: inout ResultChange<Root>
  ) throws {
    try start(in: transaction)
    let entries = snapshot.entries
    if let unheard = changes?.unheard, !unheard.isEmpty {
      told.base = told.base.replacing(entries) { unheard.objects[$0] != nil }
    }
    let before = told.base.entries
    let difference = ResultDifference(from: before.allIDs(), to: entries.allIDs())
    told.deletions = difference.deletions
    told.insertions = difference.insertions
    var comparison = FieldComparison<Root>()
    for places in difference.kept {
      let entry = entries[places.new]
      if let changes, changes.all.objects[entry.id] == nil { continue }
      let differing = try comparison.differences(before[places.old].object, entry.object)
      if differing & fields != 0 { told.modifications.append(places.new) }
    }
  }
}

extension CommittedChanges {
  /// Of the objects that only commits have changed of which the observer is not to hear.
  fileprivate var unheard: CoalescedChanges { all.filter { heard.objects[$0] == nil } }

  /// Of the other objects, those commits' share in them too.
  fileprivate var told: CoalescedChanges { all.filter { heard.objects[$0] != nil } }
}

extension ResultSnapshot {
  /// The same objects but for some, which are, or are not, as they are in a later result; each after
  /// the one that it follows there.
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
  /// Notes where edits, in their order, take things from and put them.
  fileprivate mutating func note(
    _ edits: [(edit: ChunkedArray<ResultSnapshot<Root>.Entry>.Edit, isTold: Bool)]
  ) {
    for (edit, isTold) in edits {
      let place = edit.position + insertions.count - deletions.count
      switch edit.kind {
      case .insert: insertions.append(place)
      case .remove: deletions.append(edit.position)
      case .replace: if isTold { modifications.append(place) }
      }
    }
  }
}

extension ChunkedArray {
  /// The ids of all entries, in order.
  fileprivate func allIDs<Root>() -> [UInt64] where Element == ResultSnapshot<Root>.Entry {
    chunks.flatMap { $0.map(\.id) }
  }
}
