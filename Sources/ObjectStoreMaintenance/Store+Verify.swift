internal import LMDB
public import ObjectStoreCore

extension Store {
  /// The progress of a verification.
  ///
  /// ```swift
  /// let report = try store.verify { (progress: Store.VerificationProgress) in
  ///   print("\(progress.objects) of \(progress.totalObjects), \(progress.problems) problems")
  /// }
  /// ```
  public struct VerificationProgress: Sendable, Hashable {
    /// The number of objects checked so far.
    public var objects: Int
    /// The number of objects in the store.
    public var totalObjects: Int
    /// The number of problems found so far.
    public var problems: Int
  }

  /// Checks the whole store against the file format in `docs/format.md`.
  ///
  /// Checks every page of the file, the schema, each record against its checksum and layout,
  /// hot parts, primary keys, index entries and columns against records and vice versa, uniqueness,
  /// references (except those with ``DeleteRule/keep``) and the history. This includes models that
  /// the program does not declare. The check reads one snapshot while writers continue. Until it
  /// ends, pages freed by writes are not reused.
  ///
  /// If a page is damaged, records are not checked, because LMDB reads pages without validating
  /// them.
  ///
  /// ```swift
  /// let report = try store.verify()
  /// for problem in report.problems { print(problem) }
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The maximum length of the list of problems. All problems are counted.
  ///   - progress: Called after about every 1,000 objects and after each model. Throw from it to
  ///     stop.
  /// - Returns: The problems found, and the number of pages and objects checked.
  /// - Throws: ``StoreError`` with `tooNew` or `other`; `CancellationError` if the task is
  ///   cancelled; any error that `progress` throws. Damage is reported, not thrown.
  /// - Complexity: O(n log n) in the objects and index entries. Uses memory for the ids of damaged
  ///   records and for the number of each page.
  public func verify(
    limit: Int = 1_000,
    progress: (VerificationProgress) throws -> Void = { _ in }
  ) throws -> VerificationReport {
    try translating("verifying \(path)") {
      try Self.verify(environment, limit: limit, progress: progress)
    }
  }

  /// Checks a store that this process does not have open, as ``verify(limit:progress:)`` does.
  ///
  /// Prefer this method if the file may be damaged: it validates pages before it opens the file
  /// with LMDB.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - immutable: Whether no process writes the store meanwhile; see ``StoreOptions/immutable``.
  ///   - limit: The maximum length of the list of problems. All problems are counted.
  ///   - progress: Called after about every 1,000 objects and after each model. Throw from it to
  ///     stop.
  /// - Returns: The problems found, and the number of pages and objects checked.
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied`, `tooNew` or `other`; otherwise
  ///   as ``verify(limit:progress:)``.
  public static func verify(
    at path: String,
    immutable: Bool = false,
    limit: Int = 1_000,
    progress: (VerificationProgress) throws -> Void = { _ in }
  ) throws -> VerificationReport {
    try translating("verifying \(path)") {
      do {
        guard try DataFileReader(path: path + "/data.mdb").hasBothMetaPages else {
          var report = VerificationReport(limit: limit)
          report.note(.page, "one of the two meta pages is damaged")
          return report
        }
        let options = EnvironmentOptions(isReadOnly: true, isImmutable: immutable)
        let environment = try Environment.open(path, options: options)
        return try verify(environment, limit: limit, progress: progress)
      } catch let error as LMDBError where error.code == .versionMismatch && error.statesReason {
        var report = VerificationReport(limit: limit)
        report.note(.format, error.operation)
        return report
      } catch let error as LMDBError where error.isCorruption {
        // Opening stops at the first damaged page. Report all of them.
        var report = VerificationReport(limit: limit)
        do {
          try verifyPages(path, &report)
        } catch let error as LMDBError where error.isCorruption {}
        if report.isValid {
          report.note(.page, error.code == .invalid ? "this is no file of LMDB" : "\(error)")
        }
        return report
      }
    }
  }

  private static func verify(
    _ environment: Environment,
    limit: Int,
    progress: (VerificationProgress) throws -> Void
  ) throws -> VerificationReport {
    var report = VerificationReport(limit: limit)
    // While this snapshot is open, writers do not reuse pages of the last commit.
    let snapshot = try environment.beginRead()
    do {
      try verifyPages(environment.path, &report)
      // Checks what LMDB also relies on, such as the order of keys.
      if report.isValid { try environment.checkPages() }
    } catch let error as LMDBError where error.isCorruption {
      report.note(.page, "\(error)")
    }
    _ = consume snapshot
    guard report.isValid else { return report }
    do {
      try readStored(environment) { transaction, schema in
        unsafe try StoreVerifier(transaction, schema).run(&report, progress: progress)
      }
    } catch let error as StoreError where error.code == .damaged {
      report.note(.description, "\(error)")
    } catch let error as LMDBError where error.isCorruption || error.code == .incompatible {
      report.note(.description, "\(error)")
    }
    return report
  }

  private static func verifyPages(_ path: String, _ report: inout VerificationReport) throws {
    let file = try DataFileReader(path: path + "/data.mdb")
    for (name, tree) in file.trees().sorted(by: { $0.key < $1.key }) {
      try Task.checkCancellation()
      file.forEachEntry(of: tree, named: name) { _, _ in }
    }
    if let free = file.freePages() { file.checkFreePages(free) }
    report.pages = file.visitedPageCount
    let messages = file.damagedPages.map { "page \($0.page): \($0.reason)" }
    report.notePages(messages, count: file.damageCount)
  }
}

/// The result of a verification.
///
/// ```swift
/// let report: VerificationReport = try store.verify()
/// for problem in report.problems {
///   print(problem.kind, problem.model ?? "", problem.message)
/// }
/// let isIndexDamage = report.problemCounts.keys.allSatisfy { [.index, .column].contains($0) }
/// if !report.isValid && isIndexDamage { try store.rebuildIndexes() }
/// ```
public struct VerificationReport: Sendable, Hashable {
  /// A violation of the file format or of an integrity rule.
  public struct Problem: Sendable, Hashable {
    /// The kind of data that a problem concerns.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The format of the file, which is that of another version of LMDB. Objects are not affected.
      case format
      /// A page of the file.
      case page
      /// The stored schema or other metadata.
      case description
      /// The record of an object.
      case record
      /// The hot fields of one object, or a chunk with those of 32 consecutive ids.
      case hotPart
      /// The key table entry of an object, or two objects with the same primary key.
      case primaryKey
      /// An index entry that is missing, malformed or stray.
      case index
      /// A value in a column that differs from its record, or is missing or stray.
      case column
      /// Two objects with the same values in a unique index.
      case uniqueness
      /// A field that refers to a missing object.
      case reference
      /// The history of changes. Objects are not affected.
      case history
    }

    /// The kind of data that the problem concerns.
    public var kind: Kind
    /// The model's name, if the problem concerns a model.
    public var model: String?
    /// The object's id, if the problem concerns an object.
    public var objectID: UInt64?
    /// A description of the problem.
    public var message: String

    /// Creates a problem.
    package init(kind: Kind, model: String?, objectID: UInt64?, message: String) {
      self.kind = kind
      self.model = model
      self.objectID = objectID
      self.message = message
    }
  }

  /// The number of records, hot parts and index entries checked in one model.
  public struct ModelCounts: Sendable, Hashable {
    /// The number of records, readable or not.
    public var objects = 0
    /// The number of records that match their checksums and layouts.
    public var validObjects = 0
    /// The number of valid hot parts.
    public var hotParts = 0
    /// The number of index entries, valid or not.
    public var indexEntries = 0

    /// Creates counts of zero.
    package init() {}
  }

  /// The first problems found, up to the limit that was passed to the verification.
  public internal(set) var problems: [Problem] = []
  /// The number of problems of each kind, including those beyond the limit of ``problems``.
  public internal(set) var problemCounts: [Problem.Kind: Int] = [:]
  /// The number of pages of the file that are in use.
  public internal(set) var pages = 0
  /// The counts for each model, by model name.
  ///
  /// Empty if a page is damaged, because records cannot be read safely then.
  /// ``Store/repair(at:into:models:schemaVersion:)`` validates each page and can still read them.
  public internal(set) var models: [String: ModelCounts] = [:]

  /// The total number of problems.
  public var problemCount: Int { problemCounts.values.reduce(0, +) }
  /// Whether no problem was found.
  public var isValid: Bool { problemCount == 0 }

  /// The maximum length of ``problems``.
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func note(
    _ kind: Problem.Kind,
    _ message: String,
    model: String? = nil,
    objectID: UInt64? = nil
  ) {
    problemCounts[kind, default: 0] += 1
    guard problems.count < limit else { return }
    problems.append(Problem(kind: kind, model: model, objectID: objectID, message: message))
  }

  /// Adds `count` page problems, of which only the first have messages.
  mutating func notePages(_ messages: [String], count: Int) {
    for message in messages { note(.page, message) }
    guard count > messages.count else { return }
    problemCounts[.page, default: 0] += count - messages.count
  }
}

extension VerificationReport.Problem: CustomStringConvertible {
  /// The object or model, followed by the message.
  public var description: String {
    switch (model, objectID) {
    case (let model?, let id?): "object \(id) of \(model): \(message)"
    case (let model?, nil): "\(model): \(message)"
    default: message
    }
  }
}

/// Checks the contents of all tables of a store against each other, in one snapshot.
@unsafe
struct StoreVerifier {
  private let transaction: TransactionReference
  private let schema: StoredSchema

  init(_ transaction: borrowing ReadTransaction, _ schema: StoredSchema) {
    unsafe self.transaction = TransactionReference(transaction)
    unsafe self.schema = schema
  }

  func run(
    _ report: inout VerificationReport,
    progress: (Store.VerificationProgress) throws -> Void
  ) throws {
    var total = 0
    for entry in unsafe schema.models {
      total += unsafe try transaction.count(of: entry.tables.records)
    }
    var done = 0
    let references = unsafe try EnforcedReferences(schema, in: transaction)
    for problem in references.problems {
      report.note(.description, problem.reason, model: problem.model)
    }
    for entry in unsafe schema.models {
      let fields = references.fields[entry.tables.name] ?? []
      let builds = unsafe try schema.metadata.indexBuilds(of: entry.tables.name, in: transaction)
      var model = unsafe ModelVerifier(transaction, entry, fields, builds)
      unsafe try verifyDescription(of: entry, &report)
      let before = done
      unsafe try model.run(&report) { objects, problems in
        done = before + objects
        try progress(
          Store.VerificationProgress(
            objects: done,
            totalObjects: total,
            problems: problems
          )
        )
      }
    }
    unsafe try schema.history?.verify(in: transaction) { report.note(.history, $0) }
  }

  /// Checks the index descriptions and the id floor of one model.
  private func verifyDescription(
    of entry: StoredSchema.Entry,
    _ report: inout VerificationReport
  ) throws {
    let name = entry.tables.name
    for column in entry.tables.columns {
      let field = entry.fields.first { $0.id == column.description.fieldID }
      if let field, field.type != column.description.type {
        report.note(
          .description,
          "the type of the column of \(field.name) differs from the field's type",
          model: name
        )
      }
    }
    for index in entry.tables.maintainedIndexes {
      let description = index.description
      let expected = IndexDescription(parts: description.parts, isUnique: description.isUnique)
      if expected.id != description.id {
        report.note(
          .description,
          "the id of index \(description.id) does not match its fields",
          model: name
        )
      }
      for part in description.parts {
        let field = entry.fields.first { $0.id == part.fieldID }
        if let field, field.type != part.type {
          report.note(
            .description,
            "the type of \(field.name) in index \(description.id) differs from the field's type",
            model: name
          )
        }
      }
    }
    do {
      let key = MetadataKey.floor(name)
      _ = unsafe try schema.metadata.integer(key, as: UInt64.self, in: transaction)
    } catch let error as StoreError {
      report.note(.description, "\(error)", model: name)
    }
  }
}
