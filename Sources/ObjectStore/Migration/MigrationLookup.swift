internal import LMDB

/// The other objects of a store that is being migrated.
///
/// Lent to a change of a ``MigrationStep``.
public struct MigrationLookup {
  /// A primary key, in its stored form.
  struct Key {
    let model: String
    let type: FieldType
    let bytes: [UInt8]
  }

  private let body: (Key) throws -> MigratedObject?

  init(_ body: @escaping (Key) throws -> MigratedObject?) { self.body = body }

  /// Returns the object with a primary key, as it is before the step.
  ///
  /// It does not find objects that an earlier step of the same migration has added, moved to the
  /// model or given another primary key.
  ///
  /// ```swift
  /// let author = try others.find("Author", key: old.value("author", as: Int64.self))
  /// ```
  ///
  /// - Parameters:
  ///   - model: The name of the model before the step.
  ///   - key: The primary key that the object has in the store.
  /// - Returns: The object; `nil` if there is none.
  /// - Throws: ``StoreError`` with `unknownModel`, `schemaMismatch` if the primary key is of another
  ///   type, or `damaged`; the error of an earlier step.
  /// - Complexity: O(log n) in the objects of the model.
  public func find<PrimaryKey: FieldValue>(
    _ model: String,
    key: PrimaryKey
  ) throws -> MigratedObject? {
    try body(Key(model: model, type: PrimaryKey.fieldType, bytes: key.storedBytes))
  }
}

/// The objects of the store before a migration, through the steps that precede another.
@unsafe
struct MigrationSource {
  private let schema: StoredSchema
  private let transaction: TransactionReference
  private let options: StoreOptions

  init(_ schema: StoredSchema, _ transaction: TransactionReference, _ options: StoreOptions) {
    unsafe self.schema = schema
    unsafe self.transaction = unsafe transaction
    unsafe self.options = options
  }

  /// Returns the object with a primary key, as it is before a step.
  func find(
    _ key: MigrationLookup.Key,
    before step: MigrationStep
  ) throws -> MigratedObject? {
    let pending = unsafe StoreMigrator.pendingSteps(schema.version, options)
    let earlier = MigrationPlan(steps: pending.filter { $0.version < step.version })
    // A step may have renamed the model.
    let entry = unsafe schema.models.first { earlier.name(of: $0.tables.name) == key.model }
    guard let entry else {
      throw StoreError(.unknownModel, "the store has no model \(key.model)")
    }
    let stored = entry.fields.first(where: \.isPrimaryKey)
    guard let stored, stored.type == key.type else {
      throw StoreError(
        .schemaMismatch,
        "the primary key of \(key.model) is not of type \(key.type)"
      )
    }
    let reader = unsafe ModelReader(transaction: transaction, tables: entry.tables)
    return try unsafe key.bytes.withUnsafeBytes { bytes in
      guard let found = unsafe try reader.find(bytes) else { return nil }
      return unsafe try object(found.record, id: found.id, entry, earlier, key, before: step)
    }
  }

  private func object(
    _ record: borrowing RecordView,
    id: UInt64,
    _ entry: StoredSchema.Entry,
    _ earlier: MigrationPlan,
    _ key: MigrationLookup.Key,
    before step: MigrationStep
  ) throws -> MigratedObject? {
    let name = entry.tables.name
    let binding = unsafe record.binding
    let (template, plan) = unsafe entry.template(
      of: binding.layout,
      binding.number,
      earlier,
      options
    )
    let object: MigratedObject
    do throws(RecordError) {
      object = try MigratedObject(record, model: name, template)
    } catch {
      throw StoreError(error, model: name, objectID: id)
    }
    let own = MigrationPlan(steps: plan.steps.filter { $0.version < step.version })
    do throws(MigrationPlan.Failure) {
      let results = try own.migrate(object) { key, step in unsafe try find(key, before: step) }
      let id = entry.fields.first(where: \.isPrimaryKey)?.id ?? 0
      return results.first { $0.model == key.model && $0.isSame(as: object, key: id) }
    } catch {
      let failure = MigrationFailure((name, id), step: error.step, error.error)
      throw StoreError(.migrationFailed, "\(failure)", cause: failure)
    }
  }
}

extension StoredSchema.Entry {
  /// Returns the fields of a layout as its steps see them, and the steps.
  ///
  /// `plan` is that of objects which have the schema version of the store.
  func template(
    of layout: RecordLayout,
    _ number: UInt16,
    _ plan: MigrationPlan,
    _ options: StoreOptions
  ) -> (MigratedObject.Template, MigrationPlan) {
    guard let version = outdated.version(ofLayout: number) else {
      return (MigratedObject.Template(layout, names: names), plan)
    }
    let steps = options.migration?.steps(after: version.version, upTo: options.schemaVersion)
    return (
      MigratedObject.Template(layout, version: version),
      MigrationPlan(steps: steps ?? plan.steps)
    )
  }
}
