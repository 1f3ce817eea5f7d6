public import ObjectStoreCore
internal import SystemInterface

extension Store {
  /// Imports objects from a JSON Lines file, such as one written by ``exportJSONLines(to:)``.
  ///
  /// A new object keeps the object id of its line if that is greater than every object id of its
  /// model; otherwise it gets the next one. If the first line
  /// does not describe the models, field names are looked up in the store's schema. If a line lacks a
  /// field, a replaced object keeps its value; in a new object the field has its default, or is `nil`.
  ///
  /// A reference may precede its target. By default, the import fails if a target is still missing
  /// at the end of the file; see ``ImportOptions/danglingReferences``.
  ///
  /// Each transaction is synced and reported to observers. If the import fails, transactions that
  /// were already committed stay, and the error tells how many lines they contain. Repeat the
  /// import from the first line; this is safe unless ``ImportOptions/conflict`` is
  /// ``ImportOptions/ConflictPolicy/fail``.
  ///
  /// ```swift
  /// let report = try store.importJSONLines(from: "notes.jsonl")
  /// print("\(report.inserted) added, \(report.updated) changed")
  /// ```
  ///
  /// - Throws: ``StoreError`` with `invalidInput` (its cause is a ``JSONLinesError`` with the line
  ///   number), `schemaMismatch` (a field has another type in the store, or the store lacks a field
  ///   and ``ImportOptions/unknown`` is ``ImportOptions/UnknownFieldPolicy/refuse``),
  ///   `duplicateKey`, `danglingReference`, `tooNew` (a newer program migrated the store during the
  ///   import), `permissionDenied`, `notFound` or `diskFull`; `CancellationError` if the task is
  ///   cancelled.
  /// - Complexity: O(n log n) in the lines. Uses memory for the lines of one transaction, which is
  ///   extended while its lines refer to later ones.
  @discardableResult
  public func importJSONLines(
    from path: String,
    options: ImportOptions = ImportOptions()
  ) throws -> ImportReport {
    guard !isReadOnly else {
      throw StoreError(
        .permissionDenied,
        "writing \(self.path): the store is open read-only"
      )
    }
    let lines = try LineReader(path)
    return try translating("importing \(path)") { try importLines(lines, options) }
  }

  func importLines(
    _ lines: LineReader,
    _ options: ImportOptions,
    _ review: (any ImportReview)? = nil
  ) throws -> ImportReport {
    var session = JSONLinesImport(
      environment: environment,
      options: options,
      schemaVersion: schemaVersion,
      historyLimit: historyLimit,
      review: review,
      didCommit: { [feed] in feed.publish($0, $1) }
    )
    try session.add(lines)
    let report = try session.finish()
    report.log(to: log)
    return report
  }
}

/// Options of ``Store/importJSONLines(from:options:)``.
///
/// ```swift
/// let options = ImportOptions(conflict: .skip, unknown: .ignore, danglingReferences: .report)
/// let report = try store.importJSONLines(from: "notes.jsonl", options: options)
/// ```
public struct ImportOptions: Sendable, Hashable {
  /// The handling of an imported object whose primary key is already in the store.
  public enum ConflictPolicy: Sendable, Hashable {
    /// Replaces the stored object. Fields that the line does not contain keep their values.
    case replace
    /// Fails the import with `duplicateKey`.
    case fail
    /// Skips the imported object.
    case skip
  }

  /// The handling of models, fields and indexes that the file describes and the store lacks.
  public enum UnknownFieldPolicy: Sendable, Hashable {
    /// Adds them to the store's schema.
    case add
    /// Fails the import with `schemaMismatch` before anything is written.
    case refuse
    /// Skips their values and counts them in the report.
    case ignore
  }

  /// The handling of references to objects that are neither in the store nor in the file.
  ///
  /// The store knows its reference fields from the programs that opened it and from the first line
  /// of an export.
  public enum DanglingReferencePolicy: Sendable, Hashable {
    /// Fails the import with `danglingReference`. No commit of the import contains a dangling
    /// reference.
    ///
    /// While lines of a transaction refer to objects of later lines, the transaction is extended.
    /// Its lines are kept in memory. An export has few such lines, because it writes the targets of
    /// references first.
    case refuse
    /// Imports them and lists them in the report.
    case report
  }

  /// The handling of an imported object whose primary key is already in the store.
  public var conflict: ConflictPolicy
  /// The handling of models, fields and indexes that the store lacks.
  public var unknown: UnknownFieldPolicy
  /// The handling of references to missing objects.
  public var danglingReferences: DanglingReferencePolicy
  /// The number of lines written per transaction.
  ///
  /// Each transaction is synced to disk, so a larger number is faster, and its lines are kept in
  /// memory. With `Int.max`, the whole file is one transaction, and a failed import adds no object.
  public var linesPerTransaction: Int

  /// Creates import options.
  ///
  /// - Precondition: `linesPerTransaction` is at least 1.
  public init(
    conflict: ConflictPolicy = .replace,
    unknown: UnknownFieldPolicy = .add,
    danglingReferences: DanglingReferencePolicy = .refuse,
    linesPerTransaction: Int = 1_000
  ) {
    precondition(linesPerTransaction > 0, "linesPerTransaction must be at least 1")
    self.conflict = conflict
    self.unknown = unknown
    self.danglingReferences = danglingReferences
    self.linesPerTransaction = linesPerTransaction
  }
}

/// The result of an import.
///
/// ```swift
/// let report: ImportReport = try store.importJSONLines(from: "notes.jsonl", options: options)
/// print("\(report.inserted) added, \(report.updated) changed, \(report.skipped) skipped")
/// print("ignored: \(report.ignoredObjects) objects, \(report.ignoredValues) values")
/// for missing in report.danglingReferences {
///   print("line \(missing.line): \(missing.field) refers to \(missing.target) \(missing.key)")
/// }
/// ```
public struct ImportReport: Sendable, Hashable {
  /// The number of lines in the file.
  public var lines = 0
  /// The number of objects added to the store.
  public var inserted = 0
  /// The number of stored objects that were changed.
  public var updated = 0
  /// The number of stored objects that already had the imported values.
  public var unchanged = 0
  /// The number of objects skipped because their primary keys were already in the store, or in an
  /// earlier line.
  public var skipped = 0
  /// The skipped objects whose primary keys an earlier line has added; `nil` if there are none.
  ///
  /// Only the first million added objects are remembered.
  package var repeatedKeys: RepeatedKeys?
  /// The models that the store lacked.
  ///
  /// ``ImportOptions/unknown`` decides whether they were added.
  public var unknownModels: [String] = []
  /// The fields that the store's models lacked, as `Model.field`.
  ///
  /// ``ImportOptions/unknown`` decides whether they were added.
  public var unknownFields: [String] = []
  /// The number of objects skipped because the store lacks their models.
  public var ignoredObjects = 0
  /// The number of values skipped because the store lacks their fields.
  public var ignoredValues = 0
  /// The number of fields of imported objects that refer to missing objects.
  ///
  /// Zero unless ``ImportOptions/danglingReferences`` is
  /// ``ImportOptions/DanglingReferencePolicy/report``.
  public var danglingReferenceCount = 0
  /// The first 100 fields that refer to missing objects, in the order of their lines.
  public var danglingReferences: [DanglingReference] = []

  /// Objects of a file whose primary keys earlier objects of the file have.
  package struct RepeatedKeys: Sendable, Hashable {
    /// The number of the objects.
    package var count = 0
    /// What ``line`` and ``keptLine`` count.
    package var unit: JSONLinesError.Unit
    /// The line of the first one, from 1.
    package var line: Int
    /// The line with its key, whose object is in the store.
    package var keptLine: Int
  }

  /// A field of an imported object that refers to a missing object.
  public struct DanglingReference: Sendable, Hashable {
    /// The line of the object, from 1.
    public var line: Int
    /// The object's model.
    public var model: String
    /// The field's name.
    public var field: String
    /// The model that the field refers to.
    public var target: String
    /// The primary key of the missing object.
    ///
    /// For a collection, the first missing one.
    public var key: String
  }

  /// Creates an empty report.
  package init() {}
}

/// The line of a file that cannot be imported, and the reason.
///
/// ```swift
/// do {
///   try store.importJSONLines(from: "notes.jsonl")
/// } catch let error as StoreError where error.code == .invalidInput {
///   guard let cause = error.cause as? JSONLinesError else { throw error }
///   print("line \(cause.line): \(cause.reason); \(cause.storedLines) lines are stored")
/// }
/// ```
public struct JSONLinesError: Error, Sendable, Hashable {
  /// What ``JSONLinesError/line`` counts.
  package enum Unit: String, Sendable, Hashable {
    /// The lines of the file.
    case line
    /// The objects of a file in which several can share a line.
    case object
  }

  /// The line, counted from 1.
  public var line: Int
  /// What ``line`` counts; lines, except in JSON that is not JSON Lines.
  package var unit: Unit
  /// The reason why the line cannot be imported.
  public var reason: String
  /// The number of lines, from the first, whose transactions were committed before the failure.
  public var storedLines: Int

  /// Creates an error for a line.
  package init(line: Int, unit: Unit = .line, reason: String, storedLines: Int = 0) {
    self.line = line
    self.unit = unit
    self.reason = reason
    self.storedLines = storedLines
  }
}

extension JSONLinesError: CustomStringConvertible {
  /// The line, the reason and the number of stored lines.
  public var description: String {
    "\(unit) \(line): \(reason); "
      + (storedLines == 0 ? "nothing was imported" : "\(storedLines) \(unit)s before it are stored")
  }
}

/// Reads a file line by line through a buffer.
final class LineReader {
  private let path: String
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private static let chunkSize = 1 << 18
  private let longestLine: Int

  /// The default maximum length of a line in bytes: 256 MiB.
  ///
  /// Without a limit, a file without line feeds would fill the memory. An export writes longer lines
  /// only for objects of more than 192 MiB.
  static let longestLine = 256 << 20

  /// A line is longer than the limit.
  struct LineTooLong: Error {
    /// The limit in bytes.
    var limit: Int

    var reason: String { "the line is longer than \(limit) bytes: is the file an export?" }
  }

  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied` or `other`.
  init(_ path: String, longestLine: Int = longestLine) throws {
    self.path = path
    self.longestLine = longestLine
    ownsDescriptor = true
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(errno: errno, path) }
  }

  /// Reads on from the position of a descriptor, which the caller closes.
  init(_ descriptor: Int32, named path: String) {
    self.path = path
    self.descriptor = descriptor
    longestLine = Self.longestLine
    ownsDescriptor = false
  }

  deinit {
    if ownsDescriptor { _ = close(descriptor) }
  }

  /// Returns the next line without its line feed, or `nil` at the end of the file.
  ///
  /// - Throws: ``LineTooLong``; ``StoreError`` if the file cannot be read.
  func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0A) {
        guard end - start <= longestLine else { throw LineTooLong(limit: longestLine) }
        defer { start = end + 1 }
        return Array(buffer[start..<end])
      }
      searched = buffer.count
      guard buffer.count - start <= longestLine else { throw LineTooLong(limit: longestLine) }
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return Array(buffer[start...])
      }
      let consumed = start
      buffer.removeFirst(consumed)
      searched -= consumed
      start = 0
      try readMore()
    }
  }

  private func readMore() throws {
    var chunk = [UInt8](repeating: 0, count: Self.chunkSize)
    let count = read(descriptor, into: &chunk)
    guard count >= 0 else {
      guard errno == EINTR else { throw StoreError(errno: errno, path) }
      return
    }
    if count == 0 { isAtEnd = true }
    buffer.append(contentsOf: chunk.prefix(count))
  }
}

extension ImportReport {
  func log(to log: StoreLog?) {
    log?.didImport(
      lines: lines,
      inserted: inserted,
      updated: updated,
      danglingReferences: danglingReferenceCount
    )
  }
}
