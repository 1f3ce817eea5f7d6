package import ObjectStore

extension RowImport {
  /// Imports the rows of a file, or only checks them.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - options: The options of the import.
  ///   - model: The model of the objects.
  ///   - store: The store.
  ///   - source: The file, which must be seekable.
  ///   - known: The handling of objects that are in the store.
  /// - Returns: The line that says what was done, and the change.
  /// - Throws: ``CommandFailure`` with `damaged` for a row that cannot be imported, or `failed` for a
  ///   known object that must not be there; ``StoreError``.
  package static func perform(
    _ format: RowFormat,
    _ options: RowOptions,
    of model: StoredModel,
    in store: Store,
    from source: ImportSource,
    known: KnownObjects
  ) throws -> (summary: String, change: BulkChange) {
    let rows = RowImport(
      store: store,
      mapping: try RowMapping(
        model,
        sources: options.sources,
        ignoresColumns: options.ignoreColumns,
        values: ImportedValue(numericDates: options.numericDates)
      ),
      source: source,
      delimiter: options.delimiter ?? .comma,
      options: known.options
    )
    do {
      guard options.dryRun else {
        let report = try rows.run(format)
        return (
          KnownObjects.summary(of: report),
          BulkChange(objectCount: report.inserted + report.updated)
        )
      }
      let check = try rows.check(format)
      let repeated =
        check.repeated > 0 ? ", \(check.repeated) with the key of an earlier one of the file" : ""
      let text = "objects: \(check.new) new, \(check.known) already in the store"
      return (text + repeated + "; nothing was imported\n", BulkChange())
    } catch let error as RowError {
      throw CommandFailure(.damaged, "\(source.name): \(error); nothing was imported")
    } catch let error as KnownObject {
      throw CommandFailure(.failed, "\(source.name): \(error.row); nothing was imported")
    }
  }
}
