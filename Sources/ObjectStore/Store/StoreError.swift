/// Why an operation of the store failed.
public struct StoreError: Error, Sendable {
  /// The kinds of failure that callers tell apart.
  ///
  /// New ones may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String {
      case notFound, cannotCreate, permissionDenied, damaged, schemaMismatch, tooNew, full
      case diskFull, inputOutput, duplicateKey, keyChanged, wouldDeadlock, unknownModel
      case alreadyExists, busy, invalidInput, referenced, danglingReference
      case missingField, invalidPageToken, unsupportedPredicate, overflow, closed, conflict, other
    }

    private let value: Value

    /// There is no store at the path, or no object of the primary key.
    public static let notFound = Self(value: .notFound)
    /// The path names a file, or a folder that cannot be made.
    public static let cannotCreate = Self(value: .cannotCreate)
    /// The store may not be read, or not be written.
    public static let permissionDenied = Self(value: .permissionDenied)
    /// The file is damaged, or is no store.
    public static let damaged = Self(value: .damaged)
    /// The store holds a field under another type, or a model under another primary key.
    public static let schemaMismatch = Self(value: .schemaMismatch)
    /// The store was written by a later version, which says that this one must not write to it.
    public static let tooNew = Self(value: .tooNew)
    /// The map is full.
    ///
    /// Nothing was written; the next write has twice the room.
    public static let full = Self(value: .full)
    /// The disk is full.
    ///
    /// Nothing was written.
    public static let diskFull = Self(value: .diskFull)
    /// The disk failed.
    public static let inputOutput = Self(value: .inputOutput)
    /// An object of that primary key exists.
    public static let duplicateKey = Self(value: .duplicateKey)
    /// An update changed the primary key, which names the object.
    public static let keyChanged = Self(value: .keyChanged)
    /// The thread has a write transaction open already.
    public static let wouldDeadlock = Self(value: .wouldDeadlock)
    /// The store was opened without that model.
    public static let unknownModel = Self(value: .unknownModel)
    /// There is a file or folder of that name already, and it is left alone.
    public static let alreadyExists = Self(value: .alreadyExists)
    /// Somebody has the store open, this process or another.
    public static let busy = Self(value: .busy)
    /// What is to be imported is not what it should be; the cause is a ``JSONLinesError``.
    public static let invalidInput = Self(value: .invalidInput)
    /// An object cannot be deleted because others refer to it.
    ///
    /// Nothing of the deletion was done.
    public static let referenced = Self(value: .referenced)
    /// An object that was written refers to one that is not there at the end of the write.
    ///
    /// Nothing was written.
    public static let danglingReference = Self(value: .danglingReference)
    /// A single field was read of an object that was stored before the field existed.
    ///
    /// Read the whole object, which gives the field its default.
    public static let missingField = Self(value: .missingField)
    /// The page token is of a query with another order, or no token.
    public static let invalidPageToken = Self(value: .invalidPageToken)
    /// A predicate of Foundation says what no query can.
    public static let unsupportedPredicate = Self(value: .unsupportedPredicate)
    /// A sum does not fit the type of its column.
    public static let overflow = Self(value: .overflow)
    /// The snapshot was closed.
    public static let closed = Self(value: .closed)
    /// An object has changed, or is gone, since the copy was read that was to be written.
    ///
    /// Nothing was written; the cause is an ``UpdateConflict``.
    public static let conflict = Self(value: .conflict)
    /// What else the system answers; see the cause.
    public static let other = Self(value: .other)

    /// The code's name.
    public var description: String { value.rawValue }
  }

  /// The kind of failure.
  public var code: Code
  /// What happened to what, and what to do about it.
  public var message: String
  /// The error below, if there is one.
  public var cause: (any Error)?

  /// Describes a failure.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StoreError: CustomStringConvertible {
  /// The message, and the cause behind it.
  public var description: String {
    cause.map { "\(message) (\($0))" } ?? message
  }
}
