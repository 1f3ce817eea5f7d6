/// How objects are imported.
public struct ImportOptions: Sendable, Hashable {
  /// What happens when there is an object of the same primary key already.
  public enum Conflict: Sendable, Hashable {
    /// The imported one replaces it; fields that the imported one does not have stay.
    case replace
    /// The import ends with `duplicateKey`.
    case fail
    /// It stays as it is.
    case skip
  }

  /// What happens with models, fields and indexes that the file describes and the store lacks.
  public enum Unknown: Sendable, Hashable {
    /// They are added to the store, so that nothing is lost.
    case add
    /// The import ends with `schemaMismatch` before it writes anything.
    case refuse
    /// Their values are left out and counted in the report.
    case leaveOut
  }

  /// What happens when a primary key is taken.
  public var conflict: Conflict
  /// What happens with what the store does not have.
  public var unknown: Unknown
  /// How many lines one transaction takes: each costs its share of two syncs of the disk.
  public var linesPerTransaction: Int

  /// Describes how to import.
  ///
  /// - Precondition: A transaction takes one line at least.
  public init(
    conflict: Conflict = .replace,
    unknown: Unknown = .add,
    linesPerTransaction: Int = 1_000
  ) {
    precondition(linesPerTransaction > 0, "a transaction takes one line at least")
    self.conflict = conflict
    self.unknown = unknown
    self.linesPerTransaction = linesPerTransaction
  }
}

/// What an import has done.
public struct ImportReport: Sendable, Hashable {
  /// How many lines the file has.
  public var lines = 0
  /// How many objects were added.
  public var inserted = 0
  /// How many objects were changed.
  public var updated = 0
  /// How many objects were there just so.
  public var unchanged = 0
  /// How many objects were left out because their primary keys were taken.
  public var skipped = 0
  /// The models that the store lacked: added or left out, as the options say.
  public var unknownModels: [String] = []
  /// The fields that the store's models lacked, as `Model.field`: added or left out.
  public var unknownFields: [String] = []
  /// How many objects were left out with their models.
  public var objectsLeftOut = 0
  /// How many values were left out with their fields.
  public var valuesLeftOut = 0

  /// A report of nothing.
  public init() {}
}
