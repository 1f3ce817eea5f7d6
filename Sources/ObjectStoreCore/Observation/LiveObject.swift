internal import LMDB

/// An element of ``ObservedChanges``: the state of an observed object.
///
/// ```swift
/// func show(_ state: ObservedObject<Note>) {
///   guard let note = state.object else { return print("the note was deleted") }
///   if state.changedFields.contains(\.text) { print(note.text) }
/// }
/// ```
public struct ObservedObject<Root: Model>: Sendable {
  /// The object; `nil` if no object has the primary key.
  public var object: Root?
  /// The fields that have changed since the previous element.
  ///
  /// All fields in the first element, and if the object was inserted or deleted.
  public var changedFields: ChangedFields<Root>
  /// The point in the history at which the object was read; `nil` if the store has no history.
  public var token: HistoryToken?
}

/// The observed object with a given primary key.
struct LiveObject<Root: Model>: LiveValue {
  private let key: Root.PrimaryKey
  private var current: (id: UInt64, object: Root)?
  private(set) var position: CommitPosition?

  init(_ key: Root.PrimaryKey) {
    self.key = key
  }

  mutating func refresh(
    in transaction: borrowing Snapshot,
    _ feed: CommitFeed,
    suppressed: Set<UInt64>
  ) throws -> ObservedObject<Root>? {
    let now = try CommitPosition(transaction.source)
    guard let then = position else {
      current = try find(in: transaction)
      position = now
      return ObservedObject(object: current?.object, changedFields: .all, token: now.token)
    }
    guard now.number != then.number else { return nil }
    let changes = try transaction.source.changes(
      of: Root.self,
      from: then,
      to: now,
      feed,
      suppressed: suppressed
    )
    position = now
    if let changes, changes.all.isEmpty { return nil }
    let before = current
    current = try find(in: transaction)
    // If every commit was suppressed, there is nothing to report.
    guard now.number &- then.number > UInt64(suppressed.count),
      let fields = try changedFields(from: before, changes?.reported), fields != 0
    else { return nil }
    return ObservedObject(
      object: current?.object,
      changedFields: ChangedFields(bits: fields),
      token: now.token
    )
  }

  /// Returns the fields that have changed, or `nil` if there is nothing to report.
  private func changedFields(
    from before: (id: UInt64, object: Root)?,
    _ changes: CoalescedChanges?
  ) throws -> UInt64? {
    if let changes, !changes.coversAllObjects {
      let ids = [before?.id, current?.id].compactMap(\.self)
      guard ids.contains(where: { changes.objects[$0] != nil }) else { return nil }
    }
    guard let before, let current, before.id == current.id else {
      return before == nil && current == nil ? nil : .max
    }
    if let changes, !changes.coversAllObjects { return changes.objects[current.id]?.fields }
    var comparison = FieldComparison<Root>()
    return try comparison.differences(before.object, current.object)
  }

  private func find(in transaction: borrowing Snapshot) throws -> (id: UInt64, object: Root)? {
    var result: (id: UInt64, object: Root)?
    try transaction.source.withFound(Root.self, key: key) { found in
      result = (found.id, try found.decode(Root.self))
    }
    return result
  }
}
