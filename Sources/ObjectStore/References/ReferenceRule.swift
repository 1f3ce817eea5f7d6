/// What the store keeps of a field that refers to objects.
struct ReferenceRule: Sendable, Hashable {
  /// The model that has the field.
  var model: String
  var fieldID: UInt32
  /// The model to which it refers.
  var target: String
  var onDelete: DeleteRule

  /// Whether both are about one field.
  func isOfField(of other: ReferenceRule) -> Bool {
    model == other.model && fieldID == other.fieldID
  }
}

extension ReferenceRule {
  /// The models, each after those to which its objects refer, and otherwise as they were.
  ///
  /// Of models that refer to each other, one comes before what it refers to.
  static func targetsFirst(_ models: [String], _ rules: [ReferenceRule]) -> [String] {
    let targets = Dictionary(grouping: rules, by: \.model).mapValues { $0.map(\.target) }
    let known = Set(models)
    var ordered: [String] = []
    var met: Set<String> = []
    // As deep as there are models, which are as many as LMDB has open databases at most.
    func append(_ model: String) {
      guard known.contains(model), met.insert(model).inserted else { return }
      for target in (targets[model] ?? []).sorted() { append(target) }
      ordered.append(model)
    }
    models.forEach(append)
    return ordered
  }
}

extension ModelSchema {
  /// The rules of the fields that refer to objects.
  var references: [ReferenceRule] {
    fields.compactMap { field in
      field.reference.map { reference in
        ReferenceRule(
          model: name,
          fieldID: field.id,
          target: reference.target.schema.name,
          onDelete: reference.onDelete
        )
      }
    }
  }

  /// The models with all those to which they refer, directly or not.
  ///
  /// A program must be able to look for what its objects refer to.
  static func withTargets(_ models: [any Model.Type]) -> [any Model.Type] {
    var all = models
    var names = Set(models.map { $0.schema.name })
    var next = 0
    while next < all.count {
      for target in all[next].schema.fields.compactMap(\.reference?.target)
      where names.insert(target.schema.name).inserted {
        all.append(target)
      }
      next += 1
    }
    return all
  }
}

// MARK: On disk

extension ReferenceRule {
  private static let codingVersion: UInt8 = 1

  /// The description as the store keeps it under ``MetadataKey/reference(_:_:)``.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(onDelete.rawValue)
    writer.writeSized(target)
    return writer.bytes
  }

  init(
    model: String,
    fieldID: UInt32,
    encoded reader: inout ByteReader
  ) throws(RecordError) {
    guard
      try reader.read(UInt8.self) == Self.codingVersion,
      let rule = DeleteRule(rawValue: try reader.read())
    else { throw RecordError(.unknownCoding) }
    self.model = model
    self.fieldID = fieldID
    onDelete = rule
    target = try reader.readSized()
  }
}
