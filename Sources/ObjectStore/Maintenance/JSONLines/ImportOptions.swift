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

  /// What happens with references to objects that are neither in the store nor in the file.
  ///
  /// Which fields must refer to what is there, the store knows from the programs that opened it, and
  /// from the first line of an export.
  public enum Dangling: Sendable, Hashable {
    /// The import ends with `danglingReference`, and nothing that dangles is in the store, at no
    /// time.
    ///
    /// A transaction takes more lines than it would while some of them refer to objects of later
    /// ones, and those lines are in memory. An export has few such: what is referred to comes first.
    case refuse
    /// They are imported, and listed in the report.
    case report
  }

  /// What happens when a primary key is taken.
  public var conflict: Conflict
  /// What happens with what the store does not have.
  public var unknown: Unknown
  /// What happens with references to nothing.
  public var danglingReferences: Dangling
  /// How many lines one transaction takes: each costs its share of two syncs of the disk.
  ///
  /// With `Int.max` one transaction takes them all, so that an import that fails leaves no object.
  /// The lines of a transaction are in memory.
  public var linesPerTransaction: Int

  /// Describes how to import.
  ///
  /// - Precondition: A transaction takes one line at least.
  public init(
    conflict: Conflict = .replace,
    unknown: Unknown = .add,
    danglingReferences: Dangling = .refuse,
    linesPerTransaction: Int = 1_000
  ) {
    precondition(linesPerTransaction > 0, "a transaction takes one line at least")
    self.conflict = conflict
    self.unknown = unknown
    self.danglingReferences = danglingReferences
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
  /// How many fields of imported objects refer to objects that are not there; none unless
  /// ``ImportOptions/danglingReferences`` asks for a report.
  public var danglingReferenceCount = 0
  /// The first hundred of those fields.
  public var danglingReferences: [DanglingReference] = []

  /// A field of an imported object that refers to what is not there.
  public struct DanglingReference: Sendable, Hashable {
    /// The line of the object, from 1.
    public var line: Int
    /// The object's model.
    public var model: String
    /// The field.
    public var field: String
    /// The model to which it refers.
    public var target: String
    /// The primary key that no object has; of a collection, the first such.
    public var key: String
  }

  /// A report of nothing.
  public init() {}
}
