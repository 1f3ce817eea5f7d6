/// What has happened to the objects of a model between two points of a store's history.
///
/// Each object is here once, however often it changed; one that came and went is not. To bring a
/// copy up to date, remove first: an object may have been deleted and another one of the same
/// primary key added.
public struct ObjectChanges<Root: Model>: Sendable {
  /// An object that was there before and has changed.
  public struct Update: Sendable {
    /// The object as it is now.
    public var object: Root
    /// What is not as it was, or was changed and changed back.
    public var fields: ChangedFields<Root>
  }

  /// The primary keys of objects that are gone.
  public var deleted: [Root.PrimaryKey] = []
  /// Objects that are new, as they are now.
  public var inserted: [Root] = []
  /// Objects that have changed.
  public var updated: [Update] = []
  /// Where these changes end and the next ones begin.
  public var token: HistoryToken

  /// Whether nothing has happened.
  public var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && updated.isEmpty }
}

/// What the history of a store says of the time since a token.
public enum HistoryAnswer<Root: Model>: Sendable {
  /// All that has changed.
  case changes(ObjectChanges<Root>)
  /// The history does not reach back so far, or so much has changed that it was not written down.
  ///
  /// Read every object, in a transaction whose token is the one to go on from.
  case expired
}
