/// What one or more commits have done to one object, taken together.
struct ObjectChange: Sendable, Hashable {
  var kind: ChangeLog.Change.Kind
  /// As ``ChangeLog/Change/fields``; all for an object that was added or removed.
  var fields: UInt64
  /// The bytes of the primary key, for an object that was removed.
  var key: [UInt8] = []

  /// Both together; `nil` when the object came and went.
  func followed(by later: ObjectChange) -> ObjectChange? {
    switch (kind, later.kind) {
    case (.inserted, .deleted): nil
    case (.inserted, _): self
    case (.updated, .updated): ObjectChange(kind: .updated, fields: fields | later.fields)
    // Ids are never given twice: after the end there is nothing.
    case (.updated, _), (.deleted, _): later
    }
  }
}

/// What one or more commits have done to the objects of one model.
struct CoalescedChanges: Sendable, Hashable {
  /// By object id.
  private(set) var objects: [UInt64: ObjectChange] = [:]
  /// Whether so much has changed that it was not written down: any object may be another.
  private(set) var isWhole = false

  var isEmpty: Bool { objects.isEmpty && !isWhole }

  init() {}

  init(_ log: ChangeLog) {
    guard !log.isOverfull else {
      addWhole()
      return
    }
    objects.reserveCapacity(log.changes.count)
    for change in log.changes {
      let key = change.kind == .deleted ? log.removedKeys[change.objectID] ?? [] : []
      add(ObjectChange(kind: change.kind, fields: change.fields, key: key), to: change.objectID)
    }
  }

  mutating func add(_ change: ObjectChange, to id: UInt64) {
    guard !isWhole else { return }
    guard let earlier = objects[id] else {
      objects[id] = change
      return
    }
    objects[id] = earlier.followed(by: change)
  }

  /// The changes of some of the objects, of which the ids are asked for.
  func filter(_ isWanted: (UInt64) -> Bool) -> CoalescedChanges {
    var some = self
    some.objects = objects.filter { isWanted($0.key) }
    return some
  }

  mutating func addWhole() {
    objects = [:]
    isWhole = true
  }

  mutating func add(_ later: CoalescedChanges) {
    guard !later.isWhole else { return addWhole() }
    for (id, change) in later.objects { add(change, to: id) }
  }
}
