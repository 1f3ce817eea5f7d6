extension ObjectStore {
  /// Reads objects from a file that ``exportJSONLines(to:)`` or somebody else wrote.
  ///
  /// Objects get new object ids, in the order of the lines. Without a first line that describes the
  /// models, fields are those that the store has, by name. A field that a line does not have is left
  /// as it is in an object that is replaced, and otherwise has the default of the program that reads
  /// it.
  ///
  /// References may come before what they name; those that name nothing at the end are refused
  /// unless the options say otherwise. Each transaction is synced, and observers are told of it. An
  /// import that fails leaves those before; the error says how many lines they took, and importing
  /// all anew does no harm unless conflicts are to fail.
  ///
  /// - Throws: ``StoreError`` with `invalidInput` (the cause is a ``JSONLinesError`` with the number
  ///   of the line), `schemaMismatch` when the store has a field under another type or lacks one
  ///   that is not to be added, `duplicateKey`, `danglingReference`, `tooNew` (a later version has
  ///   migrated the store meanwhile), `permissionDenied`, `notFound`, `diskFull`; or
  ///   `CancellationError` when the task is cancelled.
  /// - Complexity: O(n log n) in the lines; memory for the lines of one transaction, which takes more
  ///   of them while they refer to what comes later.
  @discardableResult
  public func importJSONLines(
    from path: String,
    options: ImportOptions = ImportOptions()
  ) throws -> ImportReport {
    guard !isReadOnly else {
      throw StoreError(
        .permissionDenied,
        "writing \(self.path): the store is open for reading only"
      )
    }
    let lines = try LineReader(path)
    return try translating("importing \(path)") {
      var session = JSONLinesImport(
        environment: environment,
        options: options,
        schemaVersion: schemaVersion,
        historyLimit: historyLimit,
        didCommit: { [feed] in feed.publish($0, $1) }
      )
      while let line = try lines.next() { try session.take(line) }
      let report = try session.finish()
      log?.didImport(report)
      return report
    }
  }
}
