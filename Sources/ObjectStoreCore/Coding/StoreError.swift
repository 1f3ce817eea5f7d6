internal import LMDB

/// An error of an operation on a store.
public struct StoreError: Error, Sendable {
  /// The kind of an error.
  ///
  /// Later versions may add codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Value: String, CaseIterable {
      case notFound, cannotCreate, permissionDenied, damaged, otherFormat, schemaMismatch, tooNew
      case mapFull
      case diskFull, inputOutput, duplicateKey, keyChanged, wouldDeadlock, unknownModel
      case alreadyExists, busy, invalidInput, referenced, danglingReference
      case missingField, invalidPageToken, unsupportedPredicate, overflow, closed, conflict
      case keysExhausted, migrationFailed, replaced, other
    }

    private let value: Value

    /// All codes.
    package static var all: [Self] { Value.allCases.map { Self(value: $0) } }

    /// There is no store, file or folder at the path.
    public static let notFound = Self(value: .notFound)
    /// The path is a file, or the folder cannot be created.
    public static let cannotCreate = Self(value: .cannotCreate)
    /// The file permissions deny access, or the store is open read-only.
    public static let permissionDenied = Self(value: .permissionDenied)
    /// The file is damaged, or is not a store.
    public static let damaged = Self(value: .damaged)
    /// The file has the format of another version of LMDB, which the installed one cannot read.
    ///
    /// Nothing is wrong with it: a program with the other version reads and exports it.
    public static let otherFormat = Self(value: .otherFormat)
    /// A field has another type in the store, a model has another primary key, or its name is equal
    /// to a stored one that has other Unicode scalars, or a store that is opened read-only needs a
    /// migration step.
    public static let schemaMismatch = Self(value: .schemaMismatch)
    /// A newer program wrote the store, and this program must not write to it.
    public static let tooNew = Self(value: .tooNew)
    /// The map is full.
    ///
    /// Nothing was written. The map is enlarged before the next write.
    public static let mapFull = Self(value: .mapFull)
    /// The disk is full.
    ///
    /// Nothing was written.
    public static let diskFull = Self(value: .diskFull)
    /// An input/output error occurred.
    public static let inputOutput = Self(value: .inputOutput)
    /// Another object has the same primary key, or the same values in a unique index.
    public static let duplicateKey = Self(value: .duplicateKey)
    /// An update changed the primary key, which identifies the object.
    public static let keyChanged = Self(value: .keyChanged)
    /// The thread already has a write transaction open.
    public static let wouldDeadlock = Self(value: .wouldDeadlock)
    /// The store was opened without the model.
    public static let unknownModel = Self(value: .unknownModel)
    /// A file or folder of this name already exists.
    ///
    /// It was not changed.
    public static let alreadyExists = Self(value: .alreadyExists)
    /// This process or another one has the store open.
    public static let busy = Self(value: .busy)
    /// The folder of the store or its file was moved, deleted or replaced while this program had it open.
    ///
    /// Nothing was written: no other program would have read it. Release the store and open it again.
    public static let replaced = Self(value: .replaced)
    /// A line of an import is invalid.
    ///
    /// The cause is a ``JSONLinesError``.
    public static let invalidInput = Self(value: .invalidInput)
    /// An object cannot be deleted because other objects refer to it.
    ///
    /// Nothing was deleted.
    public static let referenced = Self(value: .referenced)
    /// At the end of the write, a written object refers to a missing object.
    ///
    /// Nothing was written.
    public static let danglingReference = Self(value: .danglingReference)
    /// An object has no value for a field that is not optional and has no default, such as one that was
    /// stored before the field existed.
    public static let missingField = Self(value: .missingField)
    /// The page token is malformed, or belongs to a query with another order.
    public static let invalidPageToken = Self(value: .invalidPageToken)
    /// A Foundation predicate cannot be translated to a query.
    public static let unsupportedPredicate = Self(value: .unsupportedPredicate)
    /// A sum exceeds the range of its column's type.
    public static let overflow = Self(value: .overflow)
    /// The snapshot was closed.
    public static let closed = Self(value: .closed)
    /// The object was changed or deleted after the edited copy was read.
    ///
    /// Nothing was written. The cause is an ``UpdateConflict``.
    public static let conflict = Self(value: .conflict)
    /// The type of a numbered primary key has no number left.
    public static let keysExhausted = Self(value: .keysExhausted)
    /// An object cannot be migrated.
    ///
    /// The store is unchanged. The cause is a ``MigrationFailure``.
    public static let migrationFailed = Self(value: .migrationFailed)
    /// Another error.
    ///
    /// See ``StoreError/cause``.
    public static let other = Self(value: .other)

    /// The name of the code.
    public var description: String { value.rawValue }
  }

  /// The kind of the error.
  public var code: Code
  /// A description of what failed and what to do about it.
  public var message: String
  /// The underlying error, if there is one.
  public var cause: (any Error)?

  /// Creates an error.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StoreError: CustomStringConvertible {
  /// The message, followed by the cause in parentheses if the message does not end with it.
  public var description: String {
    guard let cause, !refusesFile else { return message }
    let reason = "\(cause)"
    return message.hasSuffix(reason) ? message : "\(message) (\(reason))"
  }
}

extension StoreError {
  /// The description for people who do not know LMDB: without the names of its functions and codes.
  package var plainDescription: String {
    guard let error = cause as? LMDBError else { return description }
    // The rest of the message is for programmers; a program has options of its own.
    if requiresImmutable, let reason = message.firstRange(of: "read-only") {
      return String(message[..<reason.upperBound])
    }
    // The function that failed says nothing to a user; the description of a damaged page and what is
    // wrong with a file do.
    guard error.statesReason || error.isCorruption && !error.operation.hasPrefix("mdb_") else {
      return code == .other ? "\(message): \(error.reason)" : message
    }
    if code == .otherFormat || refusesFile { return message }
    return "\(message) (\(error.operation))"
  }

  /// Whether the store can only be opened as immutable, because its file system is read-only.
  package var requiresImmutable: Bool {
    (cause as? LMDBError)?.code == .readOnlyFileSystem
  }

  /// Whether a file of the store is not what it should be, such as a symbolic link.
  package var refusesFile: Bool { (cause as? LMDBError)?.refusesFile == true }

  /// Converts an LMDB error.
  ///
  /// `what` describes the failed operation, such as "writing /path".
  init(_ error: LMDBError, _ what: String) {
    switch error.code {
    case .noSuchFile:
      let isEmpty = error.operation == LMDBError.openingEmptyFile
      let reason = isEmpty ? ", because data.mdb is empty" : ""
      self.init(.notFound, "\(what): there is no store\(reason)", cause: error)
    case .readOnlyFileSystem:
      self.init(
        .permissionDenied,
        """
        \(what): the file system is read-only, so the store cannot be locked against programs that \
        write it through another mount; open it as immutable if there are none
        """,
        cause: error
      )
    case .accessDenied where error.refusesFile:
      self.init(.permissionDenied, "\(what): \(error.operation)", cause: error)
    case .accessDenied:
      self.init(.permissionDenied, "\(what): permission denied", cause: error)
    case .noSpace where error.operation == LMDBError.allocatingLockFile:
      self.init(.diskFull, "\(what): the disk is full; lock.mdb needs space", cause: error)
    case .noSpace:
      self.init(
        .diskFull,
        "\(what): the disk is full; the transaction was not written",
        cause: error
      )
    case .inputOutput:
      self.init(.inputOutput, "\(what): input/output error", cause: error)
    case .mapFull:
      self.init(
        .mapFull,
        "\(what): the map is full; the transaction was not written; write again",
        cause: error
      )
    case .busy:
      self.init(
        .busy,
        "\(what): the store is open in this or another process; close it first",
        cause: error
      )
    case .replaced:
      self.init(
        .replaced,
        """
        \(what): the store was moved, deleted or replaced while this program had it open; nothing was \
        written; open the store again
        """,
        cause: error
      )
    case .processIDInUse:
      self.init(
        .busy,
        """
        \(what): a process of another container with the same process id has the store open; run \
        the containers in one process id namespace, or restart this process
        """,
        cause: error
      )
    case .fileExists:
      self.init(.alreadyExists, "\(what): the file already exists", cause: error)
    case .wouldDeadlock:
      self.init(
        .wouldDeadlock,
        "\(what): this thread is already inside a write",
        cause: error
      )
    case .panic:
      self.init(
        .inputOutput,
        "\(what): an earlier input/output error was fatal; close the store and open it again",
        cause: error
      )
    case .mapResized:
      self.init(
        .other,
        "\(what): another process enlarged the map; end open reads of this process and try again",
        cause: error
      )
    case .versionMismatch:
      let other = "a program with another version of the database's library has it open"
      let reason = error.operation.hasPrefix("mdb_") ? other : error.operation
      self.init(.otherFormat, "\(what): \(reason)", cause: error)
    case _ where error.isCorruption:
      self.init(.damaged, "\(what): the file is damaged or is not a store", cause: error)
    default:
      self.init(.other, "\(what) failed", cause: error)
    }
  }

  /// Converts a record error, and names the damaged object.
  @usableFromInline
  package init(_ error: RecordError, model: String, objectID: UInt64) {
    self.init(.damaged, "object \(objectID) of \(model) is damaged", cause: error)
  }
}

/// Runs `body` and converts an ``LMDBError`` to a ``StoreError``.
package func translating<R>(_ what: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as LMDBError {
    throw StoreError(error, what())
  }
}
