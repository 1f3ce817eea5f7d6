internal import ObjectStoreCore
internal import ObjectStoreMaintenance

/// The changes of some steps to objects, one at a time.
///
/// It has no state: the objects that it returns depend on the given one, and on those that a step
/// looks up.
struct MigrationPlan: Sendable {
  /// Returns the object of a model with a primary key, as it is before a step.
  typealias Find = (MigrationLookup.Key, MigrationStep) throws -> MigratedObject?

  let steps: [MigrationStep]

  /// An error of a step.
  struct Failure: Error {
    let step: String
    let error: any Error
  }

  /// Returns what the steps make of an object: none if they remove it, and those that they add.
  func migrate(
    _ object: MigratedObject,
    find: Find
  ) throws(Failure) -> [MigratedObject] {
    var objects = [object]
    for step in steps {
      var next: [MigratedObject] = []
      next.reserveCapacity(objects.count)
      for object in objects {
        do {
          var result = try withoutActuallyEscaping(find) { find in
            try Self.apply(step, to: object, MigrationLookup { try find($0, step) })
          }
          if step.mode == .whenRead { try Self.requireSameIdentity(result, as: object) }
          let added = result.takeAdded()
          if !result.isRemoved { next.append(result) }
          next += added.filter { !$0.isRemoved }
        } catch {
          throw Failure(step: step.summary, error: error)
        }
      }
      objects = next
    }
    return objects
  }

  /// Returns what the steps make of an object, all of which are applied when objects are read.
  func convert(_ object: MigratedObject) throws(Failure) -> MigratedObject {
    var object = object
    for step in steps {
      do {
        // A step that looks up others is never applied when objects are read.
        let result = try Self.apply(step, to: object, MigrationLookup { _ in nil })
        try Self.requireSameIdentity(result, as: object)
        object = result
      } catch {
        throw Failure(step: step.summary, error: error)
      }
    }
    return object
  }

  private static func requireSameIdentity(
    _ new: MigratedObject,
    as old: MigratedObject
  ) throws {
    guard new.model == old.model, !new.isRemoved, !new.hasAdded else {
      throw StoreError(
        .migrationFailed,
        "a step that is applied when objects are read may not move, delete or add objects"
      )
    }
  }

  private static func apply(
    _ step: MigrationStep,
    to old: MigratedObject,
    _ lookup: MigrationLookup
  ) throws -> MigratedObject {
    var new = old
    for operation in step.operations where !new.isRemoved {
      switch operation.kind {
      case .renameModel(let name, let newName): if new.model == name { new.model = newName }
      case .removeModel(let name): if new.model == name { new.remove() }
      case .renameField(let name, let model, let newName):
        guard new.model == model, name != newName else { continue }
        guard !new.fieldNames.contains(name) || !new.hasValue(newName) else {
          throw StoreError(
            .migrationFailed,
            "\(model).\(newName) has a value, which would be lost: remove that field first"
          )
        }
        new.renameField(name, to: newName)
      case .removeField(let name, let model): if new.model == model { new.removeField(name) }
      case .change(let model, let fields, let body):
        guard new.model == model else { continue }
        new.permittedFields = fields
        try body(old, &new, lookup)
        new.permittedFields = nil
        if let field = new.refusedField {
          throw StoreError(
            .migrationFailed,
            "the step changes \(model).\(field), which it does not name in 'fields'"
          )
        }
      }
    }
    return new
  }

  /// Returns the description of the models after the steps, as far as it does not depend on code.
  func migrate(_ models: [JSONLinesSchema.Model]) -> [JSONLinesSchema.Model] {
    steps.flatMap(\.operations).reduce(models) { Self.apply($1, to: $0) }
  }

  private static func apply(
    _ operation: MigrationOperation,
    to models: [JSONLinesSchema.Model]
  ) -> [JSONLinesSchema.Model] {
    var models = models
    switch operation.kind {
    case .renameModel(let name, let newName):
      guard name != newName else { break }
      models.removeAll { $0.name == newName }
      for position in models.indices {
        if models[position].name == name { models[position].name = newName }
        for number in models[position].references.indices {
          let rule = models[position].references[number]
          models[position].references[number] = rule.renaming(name, to: newName)
        }
      }
    case .removeModel(let name):
      models.removeAll { $0.name == name }
      for position in models.indices {
        models[position].references.removeAll { $0.target == name }
      }
    case .renameField(let name, let model, let newName):
      guard let position = models.firstIndex(where: { $0.name == model }),
        models[position].field(name) != nil, name != newName
      else { break }
      models[position].removeField(newName)
      models[position].renameField(name, to: newName)
    case .removeField(let name, let model):
      guard let position = models.firstIndex(where: { $0.name == model }) else { break }
      models[position].removeField(name)
    case .change: break
    }
    return models
  }

  /// Returns the name that a model of the first version has after the steps; `nil` if it is removed.
  func name(of model: String) -> String? {
    var name: String? = model
    for operation in steps.flatMap(\.operations) {
      switch operation.kind {
      case .renameModel(let old, let new) where old == name: name = new
      case .removeModel(let old) where old == name: name = nil
      default: break
      }
    }
    return name
  }
}

extension JSONLinesSchema.Model {
  /// Removes a field, with its indexes, column and rule.
  fileprivate mutating func removeField(_ name: String) {
    guard let id = field(name)?.id else { return }
    fields.removeAll { $0.field.id == id }
    indexes.removeAll { $0.parts.contains { $0.fieldID == id } }
    columns.removeAll { $0.fieldID == id }
    references.removeAll { $0.fieldID == id }
  }

  /// Gives a field another name, and with it another id.
  fileprivate mutating func renameField(_ name: String, to newName: String) {
    guard let position = fields.firstIndex(where: { $0.key == name }) else { return }
    let id = fields[position].field.id
    let newID = FieldSchema.id(forName: newName)
    fields[position].key = newName
    fields[position].field.name = newName
    fields[position].field.id = newID
    indexes = indexes.map { index in
      IndexDescription(
        parts: index.parts.map { part in
          var part = part
          if part.fieldID == id { part.fieldID = newID }
          return part
        },
        isUnique: index.isUnique
      )
    }
    columns = columns.map { column in
      var column = column
      if column.fieldID == id { column.fieldID = newID }
      return column
    }
    references = references.map { rule in
      var rule = rule
      if rule.fieldID == id { rule.fieldID = newID }
      return rule
    }
  }
}

extension ReferenceRule {
  fileprivate func renaming(_ name: String, to newName: String) -> ReferenceRule {
    var rule = self
    if rule.model == name { rule.model = newName }
    if rule.target == name { rule.target = newName }
    return rule
  }
}
