/// The net changes of a model's objects between two points in a store's history.
///
/// Each object appears at most once, however often it changed. An object that was both inserted and
/// deleted does not appear. To update a copy, apply the deletions first: an object can have been
/// deleted and another one inserted with the same primary key.
///
/// ```swift
/// func apply(_ changes: ObjectChanges<Note>, to notes: inout [Int64: Note]) {
///   for key in changes.deleted { notes[key] = nil }
///   for note in changes.inserted { notes[note.id] = note }
///   for update in changes.updated { notes[update.object.id] = update.object }
/// }
/// ```
public struct ObjectChanges<Root: Model>: Sendable {
  /// The change of an object that existed before.
  public struct Update: Sendable {
    /// The current object.
    public var object: Root
    /// The fields that were written with another value, even if a later write restored it.
    public var fields: ChangedFields<Root>
  }

  /// The primary keys of deleted objects.
  public var deleted: [Root.PrimaryKey] = []
  /// The inserted objects with their current values.
  public var inserted: [Root] = []
  /// The updated objects.
  public var updated: [Update] = []
  /// The end of these changes, from which to request the next ones.
  public var token: HistoryToken

  /// Whether no object has changed.
  public var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && updated.isEmpty }
}

/// The result of a request for the changes since a token.
///
/// ```swift
/// let result: HistoryResult<Note> = try store.changes(since: token, of: Note.self)
/// switch result {
/// case .changes(let changes): apply(changes, to: &notes)
/// case .expired: notes = try readAllNotes()
/// }
/// ```
public enum HistoryResult<Root: Model>: Sendable {
  /// All changes since the token.
  case changes(ObjectChanges<Root>)
  /// The history does not have all changes since the token.
  ///
  /// The token is too old or belongs to another copy of the store, or a commit changed too many
  /// objects to record each of them. Read all objects in one transaction, and continue from the
  /// token of that transaction.
  case expired
}

/// A set of changed fields of an object.
///
/// ```swift
/// func reindex(_ note: Note, _ fields: ChangedFields<Note>) {
///   if fields.contains(\.text) { searchIndex.update(note) }
///   print("changed: \(fields.names.joined(separator: ", "))")
/// }
/// ```
public struct ChangedFields<Root: Model>: Sendable, Hashable {
  /// The fields as in ``ChangeLog/Change/fields``.
  var bits: UInt64

  init(bits: UInt64) {
    self.bits = bits
  }

  /// Creates a set of the fields at the given positions in the schema.
  init(positions: [Int]) {
    bits = positions.reduce(0) { $0 | FieldBit.ofField(at: $1) }
  }

  /// Returns whether the field has changed, as in `fields.contains(\.state)`.
  ///
  /// The 64th field of a model and all after it are tracked together: a change of one of them
  /// counts as a change of all.
  public func contains<Value>(_ column: KeyPath<Root.Columns, Column<Root, Value>>) -> Bool {
    bits & FieldBit.ofField(at: Root.columns[keyPath: column].position) != 0
  }

  /// The names of the changed fields, in the order of the schema.
  public var names: [String] {
    Root.schema.fields.indices
      .filter { bits & FieldBit.ofField(at: $0) != 0 }
      .map { Root.schema.fields[$0].name }
  }

  /// Whether no field has changed.
  public var isEmpty: Bool { bits == 0 }

  /// Every field.
  static var all: Self { Self(bits: .max) }
}

/// A position in the history of a store, immediately after a commit.
///
/// Save a token, for example in a file or in another store, to request the changes since then with
/// ``Store/changes(since:of:)``. Tokens of one store compare in the order of its commits.
public struct HistoryToken: Sendable, Hashable, Codable, Comparable {
  /// The number of the last commit that changed objects.
  let number: UInt64
  /// A random number that distinguishes commits with the same number in diverged copies of a store.
  let nonce: UInt32

  /// Returns whether the left token is of an earlier commit.
  public static func < (left: Self, right: Self) -> Bool {
    (left.number, left.nonce) < (right.number, right.nonce)
  }
}
