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
    /// The fields that changed, by their positions in the program's schema; from the 64th on they
    /// share the highest bit. All for an object that was added or removed.
    var fields: UInt64
  }

  /// Beyond so many changes a write is remembered as having changed the whole model.
  static let limit = 10_000

  private(set) var changes: [Change] = []
  /// Whether there were too many changes to keep.
  private(set) var isOverfull = false

  var isEmpty: Bool { changes.isEmpty && !isOverfull }

  mutating func append(_ objectID: UInt64, _ kind: Change.Kind, fields: UInt64 = .max) {
    guard !isOverfull else { return }
    guard changes.count < Self.limit else {
      changes = []
      isOverfull = true
      return
    }
    changes.append(Change(objectID: objectID, kind: kind, fields: fields))
  }

  /// The bit of a field.
  static func bit(ofFieldAt position: Int) -> UInt64 { 1 << UInt64(min(position, 63)) }
}
