/// The changes of a write to the objects of one model, in order.
package struct ChangeLog: Sendable {
  /// A change of one object.
  package struct Change: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable {
      case inserted = 1
      case updated = 2
      case deleted = 3
      /// Deleted and inserted again, perhaps with another primary key.
      ///
      /// Only in models that are stored by key, because sequential ids are never reused. A log has
      /// both changes instead.
      case replaced = 4
    }

    var objectID: UInt64
    var kind: Kind
    /// A bit set of the changed fields, by their positions in the program's schema.
    ///
    /// Fields from the 64th on share the highest bit. All bits are set for an insertion or
    /// deletion.
    var fields: UInt64
  }

  /// The maximum number of changes.
  ///
  /// A write with more changes is recorded as changing the whole model.
  static let limit = 10_000

  private(set) var changes: [Change] = []
  /// The primary keys of deleted objects, by object id.
  ///
  /// If an id was deleted more than once, it has the key of the first deletion, which is the object
  /// that existed before.
  private(set) var removedKeys: [UInt64: [UInt8]] = [:]
  /// Whether there were more changes than ``limit``, so that none are kept.
  private(set) var exceedsLimit = false

  var isEmpty: Bool { changes.isEmpty && !exceedsLimit }

  mutating func append(_ objectID: UInt64, _ kind: Change.Kind, fields: UInt64 = .max) {
    guard !exceedsLimit else { return }
    guard changes.count < Self.limit else { return discardChanges() }
    changes.append(Change(objectID: objectID, kind: kind, fields: fields))
  }

  mutating func appendRemoval(of objectID: UInt64, key: [UInt8]) {
    append(objectID, .deleted)
    if !exceedsLimit, removedKeys[objectID] == nil { removedKeys[objectID] = key }
  }

  /// Appends the changes of a later log.
  mutating func append(_ later: ChangeLog) {
    guard !exceedsLimit else { return }
    guard !later.exceedsLimit, changes.count + later.changes.count <= Self.limit else {
      return discardChanges()
    }
    changes += later.changes
    removedKeys.merge(later.removedKeys) { first, _ in first }
  }

  private mutating func discardChanges() {
    self = ChangeLog()
    exceedsLimit = true
  }
}

/// The changes of a write, by model.
package struct ChangesByModel: Sendable {
  /// The changed models.
  ///
  /// No log is empty.
  private(set) var models: [(tables: ModelTables, log: ChangeLog)] = []

  init(_ models: [(tables: ModelTables, log: ChangeLog)] = []) {
    self.models = models.filter { !$0.log.isEmpty }
  }

  var isEmpty: Bool { models.isEmpty }

  /// Appends later changes.
  mutating func add(_ later: ChangesByModel) {
    for (tables, log) in later.models {
      if let index = models.firstIndex(where: { $0.tables === tables }) {
        models[index].log.append(log)
      } else {
        models.append((tables, log))
      }
    }
  }
}
