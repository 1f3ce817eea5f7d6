internal import ObjectStore

/// Compares the schema of a program with those of its releases.
///
/// Pure.
struct SchemaComparison {
  /// The schema of the newest release, in whose form the stores are.
  let old: SchemaDescription
  let new: SchemaDescription
  /// The schemas of all releases: a store may have objects from each.
  let releases: [SchemaDescription]
  /// By model name, the number of objects in a store; may be empty.
  let objectCounts: [String: Int]

  init(
    from old: SchemaDescription,
    to new: SchemaDescription,
    releases: [SchemaDescription] = [],
    objectCounts: [String: Int] = [:]
  ) {
    self.old = old
    self.new = new
    self.releases = releases.isEmpty ? [old] : releases
    self.objectCounts = objectCounts
  }

  /// The differences, in the order of models, fields and indexes, and that of the version last.
  var changes: [SchemaChange] {
    var changes: [SchemaChange] = []
    for name in Set(old.models.map(\.name) + new.models.map(\.name)).sorted() {
      switch (old.model(name), new.model(name)) {
      case (nil, let model?): changes += reused(in: model) + [added(model)]
      case (let model?, nil): changes.append(removed(model))
      case (let before?, let after?):
        changes += reused(in: after) + modelChanges(before, after)
      case (nil, nil): break
      }
    }
    if new.version > old.version {
      changes.append(
        SchemaChange(
          .versionRaised,
          "version \(new.version)",
          olderProgramsEffect(changes)
        )
      )
    } else if new.version < old.version {
      changes.append(
        SchemaChange(
          .versionLowered,
          "version \(new.version)",
          "version \(old.version) is released: this program would open its stores read-only"
        )
      )
    }
    return changes
  }

  /// The effect of a higher version on programs with the version before.
  private func olderProgramsEffect(_ changes: [SchemaChange]) -> String {
    let models = Set(
      changes.filter { $0.rule == .typeChanged || $0.rule == .primaryKeyChanged }
        .map { $0.subject.prefix { $0 != "." } }
    )
    let effect =
      "programs with version \(old.version) cannot write a store that was opened with this one"
    guard !models.isEmpty else { return effect }
    let names = models.sorted().joined(separator: ", ")
    return "\(effect), and those that use \(names) cannot open it at all once it is migrated"
  }

  // MARK: Models

  private func added(_ model: SchemaDescription.Model) -> SchemaChange {
    SchemaChange(.modelAdded, model.name, "the model is new; older programs ignore its objects")
  }

  private func removed(_ model: SchemaDescription.Model) -> SchemaChange {
    SchemaChange(
      .modelRemoved,
      model.name,
      """
      \(objects(of: model, "its objects")) stay in the store, and no program reads them; if the \
      struct was renamed, write @Model(name: "\(model.name)")
      """
    )
  }

  private func modelChanges(
    _ before: SchemaDescription.Model,
    _ after: SchemaDescription.Model
  ) -> [SchemaChange] {
    var changes: [SchemaChange] = []
    if old.isComplete, before.layout != after.layout {
      changes.append(
        SchemaChange(
          .layoutChanged,
          after.name,
          """
          the first new program copies \(objects(of: after, "the objects")) to the layout \
          \(after.layout.word) when it opens the store
          """
        )
      )
    }
    let primaryKey = before.fields.first(where: \.isPrimaryKey)
    let newKey = after.fields.first(where: \.isPrimaryKey)
    if let primaryKey, let newKey, primaryKey.id != newKey.id {
      changes.append(
        SchemaChange(
          .primaryKeyChanged,
          "\(after.name).\(newKey.name)",
          """
          the primary key is \(primaryKey.name) in the stores, which cannot be opened without a \
          step; it is applied at open, when no older program may have the store open, and older \
          programs cannot open the store at all once it is migrated
          """
        )
      )
    }
    let retired = Set(old.retiredIDs(of: after.name))
    for id in Set(before.fields.map(\.id) + after.fields.map(\.id)).sorted() {
      switch (before.field(id), after.field(id)) {
      case (nil, let field?) where !retired.contains(id) && !field.isPrimaryKey:
        changes.append(added(field, to: after))
      case (let field?, nil): changes.append(removed(field, from: before, after))
      case (let one?, let other?): changes += fieldChanges(one, other, of: after.name)
      default: break
      }
    }
    return changes + indexChanges(before, after)
  }

  /// Returns the fields of a model whose ids a release has retired.
  private func reused(in model: SchemaDescription.Model) -> [SchemaChange] {
    let retired = Set(old.retiredIDs(of: model.name))
    return model.fields.filter { retired.contains($0.id) }.map { field in
      SchemaChange(
        .retiredIDReused,
        "\(model.name).\(field.name)",
        """
        the id \(field.id) was that of a dropped field, whose values are still in the stores: give \
        the field another name, or another id with @Field(id:)
        """
      )
    }
  }

  // MARK: Fields

  private func added(
    _ field: SchemaDescription.Field,
    to model: SchemaDescription.Model
  ) -> SchemaChange {
    let subject = "\(model.name).\(field.name)"
    guard field.mayBeMissing else {
      return SchemaChange(
        .requiredFieldAdded,
        subject,
        """
        \(objects(of: model, "older objects")) cannot be read without the field: give it a default \
        value, or make it optional
        """
      )
    }
    let value = field.hasDefault ? "its default value" : "nil"
    return SchemaChange(.fieldAdded, subject, "the field is new, and \(value) in older objects")
  }

  private func removed(
    _ field: SchemaDescription.Field,
    from model: SchemaDescription.Model,
    _ after: SchemaDescription.Model
  ) -> SchemaChange {
    var effect = "the values of the field stay in the store, and no program reads them"
    if !field.mayBeMissing { effect += "; older programs cannot read new objects" }
    // A renamed field without its id looks like a dropped field and a new one.
    let similar = after.fields.filter { other in
      other.type == field.type && !other.isPrimaryKey && model.field(other.id) == nil
    }
    if !similar.isEmpty {
      let names = similar.map(\.name).joined(separator: " or ")
      effect += "; if it is \(names) now, write \(attribute(keeping: field, of: model.name))"
    }
    return SchemaChange(
      field.mayBeMissing ? .fieldRemoved : .requiredFieldRemoved,
      "\(model.name).\(field.name)",
      effect
    )
  }

  /// The attribute with which a property has the id of a field of the newest release.
  private func attribute(keeping field: SchemaDescription.Field, of model: String) -> String {
    // The id follows from the first name of the field, which an earlier release may have.
    let names = [field.name] + releases.compactMap { $0.model(model)?.field(field.id)?.name }
    guard let name = names.first(where: { FieldSchema.id(forName: $0) == field.id }) else {
      return "@Field(id: \(field.id))"
    }
    return "@Field(renamedFrom: \"\(name)\")"
  }

  private func fieldChanges(
    _ before: SchemaDescription.Field,
    _ after: SchemaDescription.Field,
    of model: String
  ) -> [SchemaChange] {
    let subject = "\(model).\(after.name)"
    var changes: [SchemaChange] = []
    func add(_ rule: SchemaRule, _ effect: String) {
      changes.append(SchemaChange(rule, subject, effect))
    }
    if before.name != after.name {
      let kept = before.type == after.type ? ", and keeps its values" : ""
      add(.fieldRenamed, "the field was renamed from \(before.name)\(kept)")
    }
    if before.type != after.type {
      add(
        .typeChanged,
        """
        the field is \(before.type) in the stores and \(after.type) here: they cannot be opened \
        without a step that changes the values; older programs cannot open the store at all once it \
        is migrated: they must end before a step at open, and with a step when read they fail as \
        soon as a new program has opened the store
        """
      )
    }
    if let rule = presenceRule(before, after, of: model) { add(rule, presenceEffect(rule)) }
    if before.isHot != after.isHot {
      add(.fieldMoved, "an object moves the field when it is next written")
    }
    guard old.isComplete else { return changes }
    if !before.isColumnar, after.isColumnar {
      let objects = objects(of: new.model(model), "the objects")
      add(.columnAdded, "the first new program reads \(objects) when it opens the store")
    } else if before.isColumnar, !after.isColumnar {
      add(.columnRemoved, "the column is kept until the schema version is raised")
    }
    switch (before.reference, after.reference) {
    case (nil, let reference?):
      add(.referenceAdded, "existing values may refer to no \(reference.target)")
    case (let one?, let other) where one != other:
      add(.referenceChanged, "older programs apply the rules for deletions of the store")
    default: break
    }
    return changes
  }

  /// The rule for a change of what happens when the field has no value.
  private func presenceRule(
    _ before: SchemaDescription.Field,
    _ after: SchemaDescription.Field,
    of model: String
  ) -> SchemaRule? {
    switch (before.isOptional, after.isOptional) {
    case (false, true): before.hasDefault ? .fieldMadeOptional : .requiredFieldMadeOptional
    case (true, false): after.hasDefault ? .fieldMadeRequired : .fieldMadeRequiredWithoutDefault
    case _ where !old.isComplete || before.hasDefault == after.hasDefault: nil
    case (true, true): .defaultChanged
    case (false, false):
      after.hasDefault || isInEveryRelease(after.id, of: model)
        ? .defaultChanged : .neededDefaultRemoved
    }
  }

  private func presenceEffect(_ rule: SchemaRule) -> String {
    switch rule {
    case .fieldMadeOptional: "older programs read nil as their default value"
    case .requiredFieldMadeOptional: "older programs cannot read an object in which it is nil"
    case .fieldMadeRequired: "nil in older objects is read as the default value"
    case .fieldMadeRequiredWithoutDefault:
      "objects in which it is nil cannot be read: give it a default value, or fill it first"
    case .neededDefaultRemoved:
      "objects older than the field cannot be read: keep the default value, or fill it first"
    default: "no object needs the default value"
    }
  }

  /// Whether each object of each release has a value of the field.
  private func isInEveryRelease(_ id: UInt32, of model: String) -> Bool {
    releases.allSatisfy { release in
      guard let model = release.model(model) else { return true }
      return model.field(id).map { !$0.isOptional } ?? false
    }
  }

  // MARK: Indexes

  private func indexChanges(
    _ before: SchemaDescription.Model,
    _ after: SchemaDescription.Model
  ) -> [SchemaChange] {
    var changes: [SchemaChange] = []
    let ids = Set(before.indexes.map(\.fieldIDs) + after.indexes.map(\.fieldIDs))
    for ids in ids.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let model = after.indexes.contains { $0.fieldIDs == ids } ? after : before
      let names = ids.map { model.field($0)?.name ?? "\($0)" }.joined(separator: ", ")
      let subject = "\(after.name)(\(names))"
      let one = before.indexes.first { $0.fieldIDs == ids }
      let other = after.indexes.first { $0.fieldIDs == ids }
      switch (one?.isUnique, other?.isUnique) {
      // The first form of the files describes only indexes on single fields.
      case (nil, _?) where !old.isComplete && ids.count > 1: break
      case (nil, true?):
        changes.append(addedUniqueIndex(ids, subject, before, after))
      case (nil, false?):
        changes.append(
          SchemaChange(
            .indexAdded,
            subject,
            """
            new programs build the index of \(objects(of: after, "the objects")), in the \
            background if there are many
            """
          )
        )
      case (_?, nil):
        changes.append(
          SchemaChange(.indexRemoved, subject, "the index is kept until the version is raised")
        )
      case (false?, true?) where old.isComplete:
        changes.append(SchemaChange(.indexMadeUnique, subject, Self.uniqueEffect))
      case (true?, false?):
        changes.append(
          SchemaChange(
            .indexMadeNotUnique,
            subject,
            "the store rejects equal values until a program with a higher version has opened it"
          )
        )
      default: break
      }
    }
    return changes
  }

  /// A unique index that is new, of which the fields decide what the objects have that exist.
  private func addedUniqueIndex(
    _ ids: [UInt32],
    _ subject: String,
    _ before: SchemaDescription.Model,
    _ after: SchemaDescription.Model
  ) -> SchemaChange {
    let new = ids.filter { before.field($0) == nil }.compactMap { after.field($0) }
    if new.contains(where: { $0.isOptional && !$0.hasDefault }) {
      // No value is not equal to no value.
      return SchemaChange(
        .indexAdded,
        subject,
        "the objects that exist have no value, and do not conflict"
      )
    }
    guard new.count == ids.count, new.allSatisfy(\.hasDefault) else {
      return SchemaChange(.indexMadeUnique, subject, Self.uniqueEffect)
    }
    return SchemaChange(
      .uniqueFieldAdded,
      subject,
      """
      \(objects(of: after, "all objects")) would have the same value, the default: a store with two \
      of them cannot be opened for writing before a step has given each its own
      """
    )
  }

  private static let uniqueEffect = """
    the store cannot be opened for writing while two objects have the same values: make them \
    distinct first
    """

  /// The number of objects of a model, or `words` if it is not known.
  private func objects(of model: SchemaDescription.Model?, _ words: String) -> String {
    guard let count = model.flatMap({ objectCounts[$0.name] }) else { return words }
    return count == 1 ? "1 object" : "\(count) objects"
  }
}

extension SchemaChange {
  fileprivate init(_ rule: SchemaRule, _ subject: String, _ effect: String) {
    self.init(rule: rule, subject: subject, effect: effect)
  }
}
