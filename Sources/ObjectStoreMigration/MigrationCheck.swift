internal import LMDB
package import ObjectStoreCore

/// A check of the operations of steps against the models of a store, before they are applied.
///
/// It follows the models from operation to operation, and refuses an operation that would lose values
/// without saying so, or whose result cannot be stored.
struct MigrationCheck {
  /// A model, as far as operations without code depend on it.
  struct Model: Equatable {
    var name: String
    /// The names of the fields.
    var fields: Set<String>
    /// The ids of fields that are not derived from their names, by name.
    var ids: [String: UInt32] = [:]
    /// The name of the primary key; `nil` if a step has removed it.
    var key: String?
    /// Whether a step with code may have changed the fields or the objects.
    var isChangedByCode = false
    /// Whether the program declares the model, and with it a primary key.
    var isDeclared = false

    /// Returns the field that has the id of a name; `nil` if there is none.
    func field(withIDOf name: String) -> String? {
      let id = FieldSchema.id(forName: name)
      return fields.sorted().first { (ids[$0] ?? FieldSchema.id(forName: $0)) == id }
    }
  }

  private(set) var models: [Model]
  /// Whether each operation must name a model and a field that exist.
  ///
  /// A step of a program is applied to stores that it does not know: a store may lack a model that
  /// the program has never written. The author of a file of steps has the store.
  let requiresNames: Bool

  /// Creates a check of the steps that begin with these models.
  init(_ models: [Model], requiresNames: Bool) {
    self.models = models
    self.requiresNames = requiresNames
  }

  /// Checks all operations of the steps.
  ///
  /// - Parameters:
  ///   - steps: The steps, in the order in which they are applied.
  ///   - declared: The names of the program's models.
  /// - Throws: ``StoreError`` with `invalidInput`, which names the step, the operation and the reason.
  mutating func run(_ steps: [MigrationStep], declared: Set<String>) throws {
    for position in models.indices {
      let name = MigrationPlan(steps: steps).name(of: models[position].name)
      models[position].isDeclared = name.map { declared.contains($0) } ?? false
    }
    for step in steps {
      for operation in step.operations {
        guard let reason = refusal(of: operation) else { continue }
        throw StoreError(
          .invalidInput,
          "step \(step.version) (\(step.summary)) cannot \(operation.words): \(reason)"
        )
      }
    }
  }

  /// Applies an operation to the models; returns why it is refused, or `nil`.
  private mutating func refusal(of operation: MigrationOperation) -> String? {
    switch operation.kind {
    case .renameModel(let name, let newName): renameModel(name, to: newName)
    case .removeModel(let name): removeModel(name)
    case .renameField(let name, let model, let newName): renameField(name, of: model, to: newName)
    case .removeField(let name, let model): removeField(name, of: model)
    case .change(let model, _, _): change(model)
    }
  }

  private func position(of model: String) -> Int? { models.firstIndex { $0.name == model } }

  private func missing(_ model: String) -> String? {
    requiresNames ? "there is no model \(model) at this point" : nil
  }

  private func missing(_ field: String, of model: Model) -> String? {
    requiresNames ? "\(model.name) has no field \(field) at this point" : nil
  }

  private mutating func renameModel(_ name: String, to newName: String) -> String? {
    guard ModelSchema.isName(newName) else {
      return "a model's name has 1 to 100 bytes without '/' and zero bytes, and is not 'store'"
    }
    guard let position = position(of: name) else { return missing(name) }
    guard name != newName else { return nil }
    if let other = self.position(of: newName) {
      guard models[other].isChangedByCode else {
        return "there is a model \(newName), whose objects it would merge: remove that model first"
      }
      models[other].fields.formUnion(models[position].fields)
      models.remove(at: position)
      return nil
    }
    models[position].name = newName
    return nil
  }

  private mutating func removeModel(_ name: String) -> String? {
    guard let position = position(of: name) else { return missing(name) }
    models.remove(at: position)
    return nil
  }

  private mutating func renameField(
    _ name: String,
    of model: String,
    to newName: String
  ) -> String? {
    guard FieldSchema.isName(newName) else { return "a field's name has 1 to 100 bytes" }
    guard let position = position(of: model) else { return missing(model) }
    guard models[position].fields.contains(name) else {
      return missing(name, of: models[position])
    }
    guard name != newName else { return nil }
    // After a step with code, each object is examined.
    guard !models[position].fields.contains(newName) || models[position].isChangedByCode else {
      return "\(model) has a field \(newName), whose values it would lose: remove that field first"
    }
    // A declared model may give the name another id.
    if !models[position].isDeclared, let other = models[position].field(withIDOf: newName),
      other != name, other != newName
    {
      return """
        \(model).\(other) has the id of the name \(newName), which it had before: remove that field \
        first, or choose another name
        """
    }
    models[position].fields.remove(name)
    models[position].ids[name] = nil
    models[position].fields.insert(newName)
    models[position].ids[newName] = nil
    if models[position].key == name { models[position].key = newName }
    return nil
  }

  private mutating func removeField(_ name: String, of model: String) -> String? {
    guard let position = position(of: model) else { return missing(model) }
    guard models[position].fields.contains(name) else {
      return missing(name, of: models[position])
    }
    guard models[position].key != name || models[position].isDeclared else {
      return "it is the primary key, which every object needs"
    }
    models[position].fields.remove(name)
    return nil
  }

  private mutating func change(_ model: String) -> String? {
    guard let position = position(of: model) else { return missing(model) }
    models[position].isChangedByCode = true
    return nil
  }
}

extension MigrationCheck.Model {
  init(_ entry: StoredSchema.Entry) {
    self.init(
      name: entry.tables.name,
      fields: Set(entry.fields.map(\.name)),
      ids: Dictionary(entry.fields.map { ($0.name, $0.id) }) { first, _ in first },
      key: entry.fields.first(where: \.isPrimaryKey)?.name
    )
  }

  init(_ model: StepsWhenRead.Stored) {
    let key = model.layouts.flatMap(\.fields).first(where: \.isPrimaryKey)?.id
    self.init(
      name: model.name,
      fields: Set(model.names.values),
      ids: Dictionary(model.names.map { ($0.value, $0.key) }) { first, _ in first },
      key: key.flatMap { model.names[$0] }
    )
  }
}

extension StoreMigrator {
  /// Checks the steps that a store needs against its models.
  ///
  /// The new file has no outdated layouts, so the steps of all objects must be among them: also of
  /// models that the program does not declare.
  ///
  /// - Throws: ``StoreError`` with `invalidInput`; `busy` or `schemaMismatch` if objects wait for
  ///   other steps, which convert them when they are read.
  func check(_ steps: [MigrationStep], _ source: Environment) throws {
    guard !steps.isEmpty else { return }
    let schema = try StoredSchema(source)
    let isFromFile = options.migration?.isFromFile ?? false
    if isFromFile { try schema.requireConverted("a migration by a file of steps") }
    for entry in schema.models {
      try StoreOpening.requireSteps(
        for: entry.outdated,
        of: entry.tables.name,
        upTo: schema.version,
        options
      )
    }
    var check = MigrationCheck(
      schema.models.map { MigrationCheck.Model($0) },
      requiresNames: isFromFile
    )
    try check.run(steps, declared: Set(models.map { $0.schema.name }))
  }
}

extension Store {
  /// Checks the steps that a store needs against its models, without executing them.
  ///
  /// A migration and a rehearsal begin with the same check.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - models: The models of the program after the migration.
  ///   - options: The schema version and the migration of the program.
  /// - Throws: ``StoreError`` with `invalidInput` if a step would lose values without saying so, or
  ///   cannot be applied; `busy` or `schemaMismatch` if objects wait for other steps, which convert
  ///   them when they are read; `notFound`, `damaged`, or as a read.
  package static func checkMigration(
    at path: String,
    models: [any Model.Type],
    options: StoreOptions
  ) throws {
    let migrator = StoreMigrator(
      path: path,
      models: ModelSchema.withTargets(models),
      options: options
    )
    try translating("examining the migration of \(path)") {
      let source = try Environment.open(path, options: EnvironmentOptions(isReadOnly: true))
      let steps = StoreMigrator.pendingSteps(try StoredSchema(source).version, options)
      try migrator.check(steps, source)
    }
  }
}
