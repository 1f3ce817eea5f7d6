internal import CLMDB
internal import SystemInterface

/// A failed LMDB or system call, and the code that it returned.
///
/// ```swift
/// do {
///   try write(batch, to: environment)
/// } catch let error as LMDBError where error.code == .mapFull {
///   // The next write transaction has a larger map.
///   try write(batch, to: environment)
/// }
/// ```
public struct LMDBError: Error, Hashable, Sendable {
  /// A return code of LMDB, or an `errno` value that it passed on.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The C value: negative for LMDB's own codes, positive for `errno`.
    public let rawValue: Int32

    /// Wraps a C return code.
    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }

    /// The key exists already.
    ///
    /// The corresponding C code is `MDB_KEYEXIST`.
    public static let keyExists = Self(rawValue: MDB_KEYEXIST)
    /// The key or the database does not exist.
    ///
    /// The corresponding C code is `MDB_NOTFOUND`.
    public static let notFound = Self(rawValue: MDB_NOTFOUND)
    /// A page that the tree refers to is not in the file.
    ///
    /// The corresponding C code is `MDB_PAGE_NOTFOUND`.
    public static let pageNotFound = Self(rawValue: MDB_PAGE_NOTFOUND)
    /// A page is damaged: it has the wrong type, or failed the check on opening.
    ///
    /// The corresponding C code is `MDB_CORRUPTED`.
    public static let corrupted = Self(rawValue: MDB_CORRUPTED)
    /// An earlier failure left the environment unusable.
    ///
    /// The corresponding C code is `MDB_PANIC`.
    public static let panic = Self(rawValue: MDB_PANIC)
    /// The file was written by another version of LMDB.
    ///
    /// The corresponding C code is `MDB_VERSION_MISMATCH`.
    public static let versionMismatch = Self(rawValue: MDB_VERSION_MISMATCH)
    /// The file is not an LMDB file.
    ///
    /// The corresponding C code is `MDB_INVALID`.
    public static let invalid = Self(rawValue: MDB_INVALID)
    /// The map is full: nothing was written.
    ///
    /// The corresponding C code is `MDB_MAP_FULL`.
    public static let mapFull = Self(rawValue: MDB_MAP_FULL)
    /// The environment already has ``EnvironmentOptions/maximumDatabases`` open.
    ///
    /// The corresponding C code is `MDB_DBS_FULL`.
    public static let databasesFull = Self(rawValue: MDB_DBS_FULL)
    /// All ``EnvironmentOptions/maximumReaders`` reader slots are in use.
    ///
    /// The corresponding C code is `MDB_READERS_FULL`.
    public static let readersFull = Self(rawValue: MDB_READERS_FULL)
    /// The transaction changed too many pages.
    ///
    /// The corresponding C code is `MDB_TXN_FULL`.
    public static let transactionFull = Self(rawValue: MDB_TXN_FULL)
    /// A tree is deeper than LMDB's cursors support, which only damage can cause.
    ///
    /// The corresponding C code is `MDB_CURSOR_FULL`.
    public static let cursorFull = Self(rawValue: MDB_CURSOR_FULL)
    /// Another process made the file larger than this process maps.
    ///
    /// The corresponding C code is `MDB_MAP_RESIZED`.
    public static let mapResized = Self(rawValue: MDB_MAP_RESIZED)
    /// The database exists with other flags.
    ///
    /// The corresponding C code is `MDB_INCOMPATIBLE`.
    public static let incompatible = Self(rawValue: MDB_INCOMPATIBLE)
    /// An earlier failure made the transaction unusable; drop it.
    ///
    /// The corresponding C code is `MDB_BAD_TXN`.
    public static let badTransaction = Self(rawValue: MDB_BAD_TXN)
    /// A key is empty or longer than 511 bytes, or a value has an impossible size.
    ///
    /// The corresponding C code is `MDB_BAD_VALSIZE`.
    public static let badValueSize = Self(rawValue: MDB_BAD_VALSIZE)
    /// The database handle is stale.
    ///
    /// The corresponding C code is `MDB_BAD_DBI`.
    public static let badDatabase = Self(rawValue: MDB_BAD_DBI)

    /// Permission to read or write the file or its folder is missing, or the environment was opened
    /// read-only.
    ///
    /// The corresponding C code is `EACCES`.
    public static let accessDenied = Self(rawValue: EACCES)
    /// A process of another PID namespace that has the same process ID has the environment open.
    ///
    /// LMDB locks one byte of the lock file per process ID. The corresponding C code is `EAGAIN`.
    public static let processIDInUse = Self(rawValue: EAGAIN)
    /// The disk is full.
    ///
    /// The corresponding C code is `ENOSPC`.
    public static let noSpace = Self(rawValue: ENOSPC)
    /// A read or write of the disk failed.
    ///
    /// The corresponding C code is `EIO`.
    public static let inputOutput = Self(rawValue: EIO)
    /// The file or folder does not exist.
    ///
    /// The corresponding C code is `ENOENT`.
    public static let noSuchFile = Self(rawValue: ENOENT)
    /// The file already exists.
    ///
    /// The corresponding C code is `EEXIST`.
    public static let fileExists = Self(rawValue: EEXIST)
    /// The file system is mounted read-only.
    ///
    /// The corresponding C code is `EROFS`.
    public static let readOnlyFileSystem = Self(rawValue: EROFS)
    /// An argument is invalid, or the call is not possible in the current state.
    ///
    /// The corresponding C code is `EINVAL`.
    public static let invalidArgument = Self(rawValue: EINVAL)
    /// The environment is in use: open in a process, open read-only in this one, or under exclusive
    /// access.
    ///
    /// The corresponding C code is `EBUSY`.
    public static let busy = Self(rawValue: EBUSY)
    /// The data file was moved, deleted or replaced while it was open, so that no other program would
    /// read what is written to it.
    ///
    /// The corresponding C code is `ESTALE`.
    public static let replaced = Self(rawValue: ESTALE)
    /// This thread already has a write transaction.
    ///
    /// The corresponding C code is `EDEADLK`.
    public static let wouldDeadlock = Self(rawValue: EDEADLK)
    /// There is not enough memory, or not enough address space for the map.
    ///
    /// The corresponding C code is `ENOMEM`.
    public static let outOfMemory = Self(rawValue: ENOMEM)
  }

  /// The code that the call returned.
  public var code: Code
  /// The operation that failed: usually a C function, such as `mdb_put`; for a damaged page, a
  /// description of the damage.
  public var operation: String

  /// Creates an error for a failed call.
  public init(_ code: Code, operation: String) {
    self.code = code
    self.operation = operation
  }

  /// Whether the operation says in a sentence what is wrong, such as that a file is a symbolic link.
  package var statesReason: Bool {
    !operation.hasPrefix("mdb_") && !operation.hasPrefix("opening ")
      && [" is ", " has ", Self.foreignFile].contains(where: operation.contains)
  }

  /// LMDB's message for the code, without the name of the code.
  package var reason: String {
    let text = errorText(code.rawValue) ?? "unknown error"
    guard text.hasPrefix("MDB_"), let colon = text.firstRange(of: ": ") else { return text }
    return String(text[colon.upperBound...])
  }

  /// Whether the operation says that a file is not what it should be, which another user would find, too.
  package var refusesFile: Bool {
    code == .accessDenied && statesReason && !operation.contains(Self.foreignFile)
  }

  /// The end of the operation of an error about a file of another user.
  static let foreignFile = " belongs to another user"
  /// The operation of an error about a lock file without disk space.
  package static let allocatingLockFile = "allocating lock.mdb"
  /// The operation of an error about a data file without contents.
  package static let openingEmptyFile = "opening data.mdb, which is empty"

  /// Whether the code means that the file is damaged, or is not a file of LMDB.
  public var isCorruption: Bool {
    switch code {
    case .corrupted, .pageNotFound, .cursorFull, .panic, .invalid: true
    default: false
    }
  }
}

extension LMDBError: CustomStringConvertible {
  /// The operation, and LMDB's message for the code.
  public var description: String {
    "\(operation): \(errorText(code.rawValue) ?? "error \(code.rawValue)")"
  }
}
