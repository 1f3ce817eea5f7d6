package import ObjectStore
internal import SystemInterface

/// The format of a file with rows.
package enum RowFormat: Sendable, Hashable {
  case csv
  case json
}

/// An import of the rows of a file into one model of a store.
package struct RowImport {
  /// The number of objects of a checked file, by their primary keys.
  package struct Check: Sendable, Hashable {
    /// The number of objects that are not in the store.
    package var new = 0
    /// The number of objects that are in the store.
    package var known = 0
    /// The number of objects with the key of an earlier new object of the file.
    ///
    /// The first million new objects are remembered, as in an import.
    package var repeated = 0

    /// The hashes of the keys of new objects.
    private var newKeys: Set<Int> = []

    /// Counts an object that is not in the store.
    fileprivate mutating func addNew(key: [UInt8]) {
      let isRepeated =
        newKeys.count < 1_000_000
        ? !newKeys.insert(key.hashValue).inserted : newKeys.contains(key.hashValue)
      if isRepeated { repeated += 1 } else { new += 1 }
    }
  }

  private static let batchSize = 1_000

  package let store: Store
  package let mapping: RowMapping
  package let source: ImportSource
  package let delimiter: CSVDelimiter
  package let options: ImportOptions

  private var model: String { mapping.model.name }

  /// Reads the file twice: checks all rows, then writes their objects.
  ///
  /// A row that cannot be imported is found while the store is unchanged, except for one that
  /// violates a unique index or has a dangling reference.
  ///
  /// - Throws: ``RowError``, ``CommandFailure`` or ``StoreError``.
  package func run(_ format: RowFormat) throws -> ImportReport {
    _ = try check(format, looksUpKeys: options.conflict == .fail)
    guard lseek(source.descriptor, 0, SEEK_SET) == 0 else {
      throw CommandFailure(.inputOutput, "cannot read \(source.name): \(systemErrorText())")
    }
    var rows = try rows(format)
    return try store.importObjects(numberedBy: type(of: rows).unit, options: options) {
      do {
        return try rows.next().map { ($0.object, $0.number ?? $0.line) }
      } catch let error as RowError {
        throw CommandFailure(
          .failed,
          "\(source.name) has changed during the import: \(error); previous rows may be stored"
        )
      }
    }
  }

  /// Reads the file and converts all rows, without writing.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - looksUpKeys: Whether to count the objects. Otherwise the counts are 0.
  /// - Returns: The number of objects.
  /// - Throws: ``RowError``; ``KnownObject`` if the options forbid an object that is in the store;
  ///   ``CommandFailure`` or ``StoreError``.
  package func check(_ format: RowFormat, looksUpKeys: Bool = true) throws -> Check {
    try store.requireConverted()
    var rows = try rows(format)
    var check = Check()
    var batch: [ImportedRow] = []
    while let row = try rows.next() {
      guard looksUpKeys else { continue }
      batch.append(row)
      guard batch.count == Self.batchSize else { continue }
      try lookUp(batch, &check)
      batch.removeAll(keepingCapacity: true)
    }
    try lookUp(batch, &check)
    return check
  }

  private func lookUp(_ rows: [ImportedRow], _ check: inout Check) throws {
    guard let field = mapping.model.fields.first(where: \.isPrimaryKey) else { return }
    let keys = rows.compactMap { row in row.object.fields.first { $0.id == field.id }?.value }
    let isKnown = try store.hasObjects(of: model, keys: keys)
    for (position, row) in rows.enumerated() {
      guard isKnown[position] else {
        check.addNew(key: try keys[position].bytes(as: field.type) ?? [])
        continue
      }
      check.known += 1
      guard options.conflict != .fail else {
        throw KnownObject(
          row: RowError(
            line: row.line,
            object: row.number,
            "the store has an object of \(model) with the primary key '\(keys[position])'"
          )
        )
      }
    }
  }

  private func rows(_ format: RowFormat) throws -> any ImportedRows {
    let bytes = InputBytes(source.descriptor, named: source.name)
    return switch format {
    case .csv: try CSVRows(bytes, named: source.name, mapping, delimiter)
    case .json: JSONRows(bytes, named: source.name, mapping)
    }
  }
}

/// A row whose object is in the store, although it must not be.
package struct KnownObject: Error {
  package var row: RowError
}
