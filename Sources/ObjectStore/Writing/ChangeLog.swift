/// Which objects of one model a write has added, changed and removed, in order.
struct ChangeLog: Sendable {
  /// What happened to one object.
  struct Change: Sendable, Hashable {
    enum Kind: UInt8, Sendable, Hashable {
      case inserted = 1
      case updated = 2
      case deleted = 3
    }

    var objectID: UInt64
    var kind: Kind
    /// The fields that changed, by their positions in the program's schema.
    ///
    /// From the 64th on they share the highest bit. All for an object that was added or removed.
    var fields: UInt64
  }

  /// Beyond so many changes a write is remembered as having changed the whole model.
  static let limit = 10_000

  private(set) var changes: [Change] = []
  /// The bytes of the primary keys of objects that were removed, by object id.
  private(set) var removedKeys: [UInt64: [UInt8]] = [:]
  /// Whether there were too many changes to keep.
  private(set) var isOverfull = false

  var isEmpty: Bool { changes.isEmpty && !isOverfull }

  mutating func append(_ objectID: UInt64, _ kind: Change.Kind, fields: UInt64 = .max) {
    guard !isOverfull else { return }
    guard changes.count < Self.limit else { return becomeOverfull() }
    changes.append(Change(objectID: objectID, kind: kind, fields: fields))
  }

  mutating func appendRemoval(of objectID: UInt64, key: [UInt8]) {
    append(objectID, .deleted)
    if !isOverfull { removedKeys[objectID] = key }
  }

  /// Adds what happened later.
  mutating func append(_ later: ChangeLog) {
    guard !isOverfull else { return }
    guard !later.isOverfull, changes.count + later.changes.count <= Self.limit else {
      return becomeOverfull()
    }
    changes += later.changes
    // Ids are never given twice, so no object is removed twice.
    removedKeys.merge(later.removedKeys) { $1 }
  }

  private mutating func becomeOverfull() {
    self = ChangeLog()
    isOverfull = true
  }

  /// The bit of a field.
  static func bit(ofFieldAt position: Int) -> UInt64 { 1 << UInt64(min(position, 63)) }
}

/// What a write has changed, model by model.
struct ChangesByModel: Sendable {
  /// One for each model, none of them empty.
  private(set) var models: [(tables: ModelTables, log: ChangeLog)] = []

  init(_ models: [(tables: ModelTables, log: ChangeLog)] = []) {
    self.models = models.filter { !$0.log.isEmpty }
  }

  var isEmpty: Bool { models.isEmpty }

  /// Adds what happened later.
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
