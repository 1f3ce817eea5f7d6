internal import LMDB
public import ObjectStoreCore

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
///
/// Describes each layout of a model once for each step that looks up its objects.
final class MigrationSource {
  private let schema: StoredSchema
  private let options: StoreOptions
  private var models: [ModelName: SourceModel] = [:]

  /// The name of a model before a step, which may be another one before another step.
  private struct ModelName: Hashable {
    let version: UInt32
    let name: String
  }

  init(_ schema: StoredSchema, _ options: StoreOptions) {
    self.schema = schema
    self.options = options
  }

  /// Returns the object with a primary key, as it is before a step.
  func find(
    _ key: MigrationLookup.Key,
    before step: MigrationStep,
    in transaction: borrowing ReadTransaction
  ) throws -> MigratedObject? {
    let model = try model(key.model, before: step)
    guard let primaryKey = model.primaryKey, primaryKey.type == key.type else {
      throw StoreError(
        .schemaMismatch,
        "the primary key of \(key.model) is not of type \(key.type)"
      )
    }
    let found = try model.entry.tables.withRecord(ofKey: key.bytes, in: transaction) { id, record in
      try object(record, id: id, model, primaryKey.id, before: step, in: transaction)
    }
    return found ?? nil
  }

  /// Returns the model that has a name before a step.
  private func model(_ name: String, before step: MigrationStep) throws -> SourceModel {
    let key = ModelName(version: step.version, name: name)
    if let model = models[key] { return model }
    let pending = StoreMigrator.pendingSteps(schema.version, options)
    let earlier = MigrationPlan(steps: pending.filter { $0.version < step.version })
    // A step may have renamed the model.
    let entry = schema.models.first { earlier.name(of: $0.tables.name) == name }
    guard let entry else { throw StoreError(.unknownModel, "the store has no model \(name)") }
    let model = SourceModel(entry, name: name, earlier)
    models[key] = model
    return model
  }

  private func object(
    _ record: borrowing RecordView,
    id: UInt64,
    _ model: SourceModel,
    _ primaryKey: UInt32,
    before step: MigrationStep,
    in transaction: borrowing ReadTransaction
  ) throws -> MigratedObject? {
    let name = model.entry.tables.name
    let layout = model.layout(of: record, before: step, options)
    let object: MigratedObject
    do throws(RecordError) {
      object = try MigratedObject(record, model: name, layout.template)
    } catch {
      throw StoreError(error, model: name, objectID: id)
    }
    do throws(MigrationPlan.Failure) {
      let results = try layout.plan.migrate(object) { key, step in
        try find(key, before: step, in: transaction)
      }
      return results.first { $0.model == model.name && $0.isSame(as: object, key: primaryKey) }
    } catch {
      let origin = MigrationOrigin(object: object, id: id)
      let failure = MigrationFailure(origin, step: error.step, error.error)
      throw StoreError(.migrationFailed, "\(failure)", cause: failure)
    }
  }
}

/// A model of a store, as it is before a step.
private final class SourceModel {
  /// A layout of the model.
  struct Layout {
    /// Its fields, as the steps see them.
    let template: MigratedObject.Template
    /// The steps of its objects that precede the step.
    let plan: MigrationPlan
  }

  let entry: StoredSchema.Entry
  /// The name of the model before the step.
  let name: String
  let primaryKey: (id: UInt32, type: FieldType)?
  /// The steps before the step, of objects that have the schema version of the store.
  private let plan: MigrationPlan
  /// The layouts of the objects that were found so far, by number.
  private var layouts: [UInt16: Layout] = [:]

  init(_ entry: StoredSchema.Entry, name: String, _ plan: MigrationPlan) {
    self.entry = entry
    self.name = name
    self.plan = plan
    primaryKey = entry.fields.first(where: \.isPrimaryKey).map { ($0.id, $0.type) }
  }

  /// Returns the description of the layout of a record.
  ///
  /// `step` is the same in all calls.
  func layout(
    of record: borrowing RecordView,
    before step: MigrationStep,
    _ options: StoreOptions
  ) -> Layout {
    let number = record.layoutNumber
    if let layout = layouts[number] { return layout }
    let (template, plan) = entry.template(of: record.layout, number, plan, options)
    let earlier = plan.steps.filter { $0.version < step.version }
    let layout = Layout(template: template, plan: MigrationPlan(steps: earlier))
    layouts[number] = layout
    return layout
  }
}

extension StoredSchema.Entry {
  /// The primary key of a record; `nil` if it cannot be decoded.
  func primaryKey(of record: borrowing RecordView, _ id: UInt64) -> StoredValue? {
    guard let field = fields.first(where: \.isPrimaryKey) else { return nil }
    return try? value(ofFieldWithID: field.id, in: record, id)
  }

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
