internal import LMDB
package import ObjectStoreCore

extension Store {
  /// Writes objects that the caller reads from a file of another format.
  ///
  /// Objects are written in transactions of ``ImportOptions/linesPerTransaction``, as
  /// ``importJSONLines(from:options:)`` does. A field that an object lacks keeps its value in a
  /// replaced object; in a new one it has its default, or is `nil`.
  ///
  /// - Parameters:
  ///   - unit: What the numbers of the objects count, for errors.
  ///   - options: Options of the import. ``ImportOptions/unknown`` does not apply.
  ///   - next: A closure that returns the next object and its number in the file, which is greater
  ///     than that of the previous object; `nil` at the end.
  /// - Returns: The number of objects, and how they were handled.
  /// - Throws: ``StoreError`` as ``importJSONLines(from:options:)``, and as ``requireConverted()``; any
  ///   error that `next` throws.
  package func importObjects(
    numberedBy unit: JSONLinesError.Unit,
    options: ImportOptions = ImportOptions(),
    _ next: () throws -> (object: StoredObject, number: Int)?
  ) throws -> ImportReport {
    try requireConverted()
    let keys = Dictionary(
      try storedModels().compactMap { model in
        model.fields.first(where: \.isPrimaryKey).map { (model.name, $0) }
      }
    ) { first, _ in first }
    return try translating("importing objects") {
      var session = ObjectImport(
        environment: environment,
        options: options,
        unit: unit,
        schemaVersion: schemaVersion,
        historyLimit: historyLimit,
        didCommit: { [feed] in feed.publish($0, $1) }
      )
      while let (object, number) = try next() {
        session.report.lines = number
        let field = keys[object.model]
        let value = object.fields.first { $0.id == field?.id }?.value
        guard let field, let bytes = try? value?.bytes(as: field.type) else {
          throw StoreError(.invalidInput, "\(unit) \(number): the primary key is missing")
        }
        let key = UnresolvedReferences.Key(model: object.model, bytes: bytes)
        try session.add(object, key: key, line: number)
      }
      let report = try session.finish()
      report.log(to: log)
      return report
    }
  }

  /// Throws if objects are converted when they are read, so that tools cannot import any.
  ///
  /// - Throws: ``StoreError`` with `busy`; see ``conversions()``.
  package func requireConverted() throws {
    try readStored { _, schema in try schema.requireConverted("an import") }
  }

  /// Returns whether the store has an object with each of the primary keys.
  ///
  /// The keys are looked up in one snapshot.
  ///
  /// - Throws: ``StoreError`` with `unknownModel`, `damaged`, or `invalidInput` if a value is not of
  ///   the type of the key.
  /// - Complexity: O(m log n) for m keys, with n objects in the model.
  package func hasObjects(of model: String, keys: [StoredValue]) throws -> [Bool] {
    try readStored { transaction, schema in
      let entry = try schema.requireModel(model, path: path)
      return try keys.map { key in
        guard let field = entry.fields.first(where: \.isPrimaryKey),
          let bytes = try? key.bytes(as: field.type)
        else { throw StoreError(.invalidInput, "\(key) is not a primary key of \(model)") }
        return try entry.tables.hasObject(withKey: bytes, in: transaction)
      }
    }
  }
}
