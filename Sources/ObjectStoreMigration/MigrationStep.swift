public import ObjectStoreCore

/// A change of the stored objects that leads to the next version of a schema.
///
/// A step sees objects as they are stored, by the names of their fields, and never the types of the
/// program. So it works the same when the models change again later. Keep each step in a file of its
/// own, and do not change it after a release.
///
/// ```swift
/// let splitsNames = MigrationStep("split the names of authors", to: 2, [
///   .renameField("mail", of: "Author", to: "email"),
///   .change("Author") { old, new in
///     let parts = try old.value("name", as: String.self).split(separator: " ")
///     new.set("givenName", to: parts.dropLast().joined(separator: " "))
///     new.set("familyName", to: parts.last.map { String($0) } ?? "")
///     new.removeField("name")
///   },
/// ])
/// ```
public struct MigrationStep: Sendable {
  /// The time at which a step is applied to an object.
  public enum Mode: Sendable, Hashable {
    /// When a program opens the store, to all objects, before it can use the store.
    ///
    /// The previous file is kept, so the migration can be undone. No other program may have the
    /// store open. The step may do anything.
    case atOpen
    /// When an object is read, until a write or the background has stored its new form.
    ///
    /// Opening takes the same time for any number of objects, and other programs may have the store
    /// open. There is no previous file to return to. The step may change the fields that it names,
    /// and neither move, delete nor add objects. Rehearse it before a release: an object that it
    /// cannot change cannot be read. It can be replaced by ``StoreTransaction/upsert(_:)``, and
    /// deleted.
    ///
    /// The step is applied at open nevertheless if it changes the primary key, a reference, a field
    /// of a unique index or one with a column, if its model is stored in another layout from this
    /// version on or is not declared, or if another pending step is applied at open.
    ///
    /// Keep the step in the program until no store has objects from before it; see
    /// ``Store/conversions()``.
    case whenRead
  }

  /// The schema version of a store after the step.
  public let version: UInt32
  /// What the step does, for messages.
  public let summary: String
  /// The time at which the step is applied.
  public let mode: Mode
  /// The changes, which are applied in this order.
  public let operations: [MigrationOperation]

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - summary: What the step does, such as `split the names of authors`.
  ///   - version: The schema version of a store after the step; see
  ///     ``StoreOptions/schemaVersion``.
  ///   - mode: The time at which the step is applied.
  ///   - operations: The changes, in the order in which they are applied.
  /// - Precondition: A step with the mode `whenRead` neither renames nor removes a model, and names
  ///   the fields of its changes; see ``MigrationOperation/change(_:fields:_:)``.
  public init(
    _ summary: String,
    to version: UInt32,
    mode: Mode = .atOpen,
    _ operations: [MigrationOperation]
  ) {
    precondition(
      mode == .atOpen || operations.allSatisfy { $0.changedFields != nil },
      "a step that is applied when objects are read must name the fields that it changes"
    )
    self.summary = summary
    self.version = version
    self.mode = mode
    self.operations = operations
  }
}

/// A change that a ``MigrationStep`` makes to the objects of a model.
public struct MigrationOperation: Sendable {
  enum Kind: Sendable {
    case renameModel(String, to: String)
    case removeModel(String)
    case renameField(String, model: String, to: String)
    case removeField(String, model: String)
    case change(
      String,
      fields: [String]?,
      @Sendable (MigratedObject, inout MigratedObject, MigrationLookup) throws -> Void
    )
  }

  let kind: Kind

  /// Gives a model another name.
  ///
  /// A store that has a model with that name is refused: a change that sets the model of each object
  /// merges two models.
  public static func renameModel(_ name: String, to newName: String) -> Self {
    Self(kind: .renameModel(name, to: newName))
  }

  /// Deletes a model with all of its objects.
  public static func removeModel(_ name: String) -> Self { Self(kind: .removeModel(name)) }

  /// Gives a field another name.
  ///
  /// Not needed for a property with `@Field(renamedFrom:)`. A store that has a field with that name is
  /// refused, because its values would be lost: remove that field in an operation before this one.
  public static func renameField(_ name: String, of model: String, to newName: String) -> Self {
    Self(kind: .renameField(name, model: model, to: newName))
  }

  /// Removes the values of a field.
  public static func removeField(_ name: String, of model: String) -> Self {
    Self(kind: .removeField(name, model: model))
  }

  /// Changes each object of a model.
  ///
  /// The closure receives the object as it was before the step, and the object as it will be. It
  /// can set and remove fields, change the primary key, give the object another model, remove the
  /// object, and add others. It must return the same result for the same object, because it may be
  /// called again after a kill, and it must not throw for an object that can be migrated: an error
  /// ends the migration, and the store is unchanged.
  ///
  /// ```swift
  /// .change("Article") { old, new in
  ///   new.set("stars", to: try old.optional("stars", as: String.self).flatMap { Int64($0) })
  ///   if try old.value("isDraft", as: Bool.self) { new.model = "Draft" }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - fields: The names of all fields that `body` sets, removes or renames, which a step with the
  ///     mode ``MigrationStep/Mode/whenRead`` needs. A change of another field is then an error.
  ///   - body: The change.
  /// - Returns: The operation.
  public static func change(
    _ model: String,
    fields: [String]? = nil,
    _ body: @escaping @Sendable (_ old: MigratedObject, _ new: inout MigratedObject) throws -> Void
  ) -> Self {
    Self(kind: .change(model, fields: fields) { old, new, _ in try body(old, &new) })
  }

  /// Changes each object of a model with the help of others.
  ///
  /// As ``change(_:fields:_:)``; the closure can also look up objects by their primary keys, for
  /// example to merge two objects into one. Such a step is applied at open.
  ///
  /// ```swift
  /// .change("Book") { old, new, others in
  ///   let author = try others.find("Author", key: old.value("author", as: Int64.self))
  ///   new.set("authorName", to: try author?.value("name", as: String.self) ?? "unknown")
  ///   new.removeField("author")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - model: The name of the model.
  ///   - body: The change.
  /// - Returns: The operation.
  public static func change(
    _ model: String,
    _ body:
      @escaping @Sendable (
        _ old: MigratedObject, _ new: inout MigratedObject, _ others: MigrationLookup
      ) throws -> Void
  ) -> Self {
    Self(kind: .change(model, fields: nil, body))
  }

  /// The operation in words, which identify it after a kill.
  var words: String {
    switch kind {
    case .renameModel(let name, let newName): "rename \(name) to \(newName)"
    case .removeModel(let name): "remove \(name)"
    case .renameField(let name, let model, let newName): "rename \(model).\(name) to \(newName)"
    case .removeField(let name, let model): "remove \(model).\(name)"
    case .change(let model, _, _): "change \(model)"
    }
  }

  /// The fields of a model that the operation may change; `nil` if it may change more than fields.
  var changedFields: (model: String, fields: [String])? {
    switch kind {
    case .renameModel, .removeModel: nil
    case .renameField(let name, let model, let newName): (model, [name, newName])
    case .removeField(let name, let model): (model, [name])
    case .change(let model, let fields, _): fields.map { (model, $0) }
    }
  }
}

/// The migration of a store to the schema version of a program, when the program opens it.
///
/// ```swift
/// var options = StoreOptions(schemaVersion: 2)
/// options.migration = Migration(steps: [splitsNames])
/// let store = try Store(at: folder, models: [Author.self], options: options)
/// ```
public struct Migration: Sendable {
  /// The steps of all versions, in ascending order.
  ///
  /// Those after the version of the store are applied.
  public var steps: [MigrationStep]
  /// Whether the file before the migration is kept, so that ``Store/rollBackMigration(at:)`` can
  /// restore it.
  public var keepsPrevious: Bool
  /// Whether objects that steps convert when they are read are also converted in the background.
  ///
  /// Programs that end soon need not begin with it: the next one that does continues.
  public var convertsInBackground = true
  /// Called after each batch of objects of a migration at open.
  public var progress: (@Sendable (MigrationProgress) -> Void)?
  /// The maximum number of objects that a transaction migrates or converts.
  package var batchCount = 16_384
  /// Called after each change of a file of the store.
  package var didWrite: (@Sendable () -> Void)?
  /// The models of the migrated store that the program does not declare, as the first line of an
  /// export; `nil` for those that the steps result in.
  package var resultHeader: [UInt8]?
  /// Whether the steps are of a file, whose author has the store, but not its program.
  ///
  /// Each operation must then name a model and a field that the store has, and no object may wait
  /// for a step of the program.
  package var isFromFile = false

  /// Creates a migration.
  ///
  /// - Precondition: The versions of the steps ascend.
  public init(
    steps: [MigrationStep],
    keepsPrevious: Bool = true,
    progress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) {
    precondition(
      zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version },
      "the versions of the steps of a migration must ascend"
    )
    self.steps = steps
    self.keepsPrevious = keepsPrevious
    self.progress = progress
  }

  /// The steps that lead a store from one version to another.
  func steps(after stored: UInt32, upTo own: UInt32) -> [MigrationStep] {
    steps.filter { $0.version > stored && $0.version <= own }
  }
}

/// The progress of a migration.
public struct MigrationProgress: Sendable, Hashable {
  /// The number of objects that are migrated.
  public let objectCount: Int
  /// The number of objects in the store before the migration.
  public let totalObjectCount: Int
}

/// The reason why an object cannot be migrated.
///
/// The cause of a ``StoreError`` with ``StoreError/Code/migrationFailed``.
public struct MigrationFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the model in the store before the migration.
  public let model: String
  /// The id of the object in the store before the migration.
  public let objectID: UInt64
  /// The primary key of the object before the migration; `nil` if it cannot be decoded.
  ///
  /// After the migration, if the failure is a reference to an object that does not exist.
  public let primaryKey: StoredValue?
  /// The summary of the step that failed; `nil` if the result of all steps cannot be stored.
  public let step: String?
  /// What failed.
  public let reason: String

  /// The failure in words.
  public var description: String {
    let key = primaryKey.map { " (primary key \($0))" } ?? ""
    return "object \(objectID) of \(model)\(key): \(step.map { "\($0): " } ?? "")\(reason)"
  }
}
