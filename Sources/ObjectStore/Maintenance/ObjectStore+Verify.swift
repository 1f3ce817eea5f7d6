internal import LMDB

extension ObjectStore {
  /// How far a verification is.
  public struct VerificationProgress: Sendable, Hashable {
    /// The objects looked at so far.
    public var objects: Int
    /// The objects that there are.
    public var totalObjects: Int
    /// The problems found so far.
    public var problems: Int
  }

  /// Looks at everything in the store, and says what is not as `docs/format.md` promises.
  ///
  /// Every page of the file, what the store says of itself, each record against its checksum and
  /// its layout, hot parts, primary keys and index entries against records and the other way round,
  /// uniqueness, references (but for those of ``DeleteRule/keep``) and the history. Of all models, also those that the program was not opened with. One snapshot,
  /// read beside writers; while it is open, room freed by later writes is not used again.
  ///
  /// When pages are damaged, records are not looked at: LMDB trusts its pages.
  ///
  /// - Parameters:
  ///   - limit: The longest list of problems; all are counted.
  ///   - progress: Is told now and then how far it is; throws to stop.
  /// - Returns: What was found.
  /// - Throws: ``StoreError`` with `tooNew` or `other`; `CancellationError` when the task is
  ///   cancelled; what `progress` throws. Damage is in the report.
  /// - Complexity: O(n log n) in the objects and index entries; memory for the ids of damaged
  ///   records, and for the number of each page.
  public func verify(
    limit: Int = 1_000,
    progress: (VerificationProgress) throws -> Void = { _ in }
  ) throws -> VerificationReport {
    try translating("verifying \(path)") {
      try Self.verify(environment, limit: limit, progress: progress)
    }
  }

  /// Looks at everything in a store that is not open, as ``verify(limit:progress:)`` does.
  ///
  /// The safer way when the file may be damaged: nothing that LMDB would trust is given to it
  /// before it was looked at.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - limit: The longest list of problems; all are counted.
  ///   - progress: Is told now and then how far it is; throws to stop.
  /// - Returns: What was found.
  /// - Throws: ``StoreError`` with `notFound`, `permissionDenied`, `tooNew` or `other`; and as
  ///   ``verify(limit:progress:)``.
  public static func verify(
    at path: String,
    limit: Int = 1_000,
    progress: (VerificationProgress) throws -> Void = { _ in }
  ) throws -> VerificationReport {
    try translating("verifying \(path)") {
      do {
        guard try DataFileReader(path: path + "/data.mdb").hasBothMetaPages else {
          var report = VerificationReport(limit: limit)
          report.note(.page, "one of the two pages that name the last commit is damaged")
          return report
        }
        let environment = try Environment.open(path, options: EnvironmentOptions(isReadOnly: true))
        return try verify(environment, limit: limit, progress: progress)
      } catch let error as LMDBError where error.meansDamage {
        // The open stops at the first damaged page; this notes them all.
        var report = VerificationReport(limit: limit)
        do {
          try verifyPages(path, &report)
        } catch let error as LMDBError where error.meansDamage {}
        if report.isSound { report.note(.page, "\(error)") }
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
    // While this is open, no page of the last commit is used again.
    let snapshot = try environment.beginRead()
    do {
      try verifyPages(environment.path, &report)
      // What LMDB trusts besides, such as the order of keys.
      if report.isSound { try environment.checkPages() }
    } catch let error as LMDBError where error.meansDamage {
      report.note(.page, "\(error)")
    }
    _ = consume snapshot
    guard report.isSound else { return report }
    do {
      try readStored(environment) { transaction, schema in
        unsafe try StoreVerifier(transaction, schema).run(&report, progress: progress)
      }
    } catch let error as StoreError where error.code == .damaged {
      report.note(.description, "\(error)")
    } catch let error as LMDBError where error.meansDamage || error.code == .incompatible {
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
    let messages = file.damages.map { "page \($0.page): \($0.reason)" }
    report.notePages(messages, count: file.damageCount)
  }
}
