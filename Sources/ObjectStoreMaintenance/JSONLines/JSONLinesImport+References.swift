internal import LMDB
internal import ObjectStoreCore

/// The fields of written objects whose references had no target when they were written.
struct DanglingReferences {
  private struct Field: Hashable {
    var object: UnresolvedReferences.Key
    var id: UInt32
  }

  private struct Open {
    var line: Int
    var model: String
    var field: EnforcedReference
    /// The missing targets of the field.
    var targets: [UnresolvedReferences.Key]
  }

  /// The open references by field, because a later line may change the field again.
  private var open: [Field: Open] = [:]

  /// The maximum length of the list in the report.
  static let maximumListLength = 100

  /// An object and its line.
  struct Written {
    var object: StoredObject
    var key: UnresolvedReferences.Key
    var line: Int
  }

  /// Records the references of `objects` whose targets are missing.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func add(
    _ objects: [Written],
    _ references: EnforcedReferences,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    for written in objects {
      let model = written.object.model
      for field in references.fields[model] ?? [] {
        guard let value = written.object.fields.first(where: { $0.id == field.fieldID })?.value
        else { continue }
        var targets: [UnresolvedReferences.Key] = []
        for key in Self.keys(value, field) where try !Self.exists(key, field, in: transaction) {
          targets.append(UnresolvedReferences.Key(model: field.target.name, bytes: key))
        }
        open[Field(object: written.key, id: field.fieldID)] =
          targets.isEmpty
          ? nil : Open(line: written.line, model: model, field: field, targets: targets)
      }
    }
  }

  /// Returns the number of fields whose targets are still missing, and the first of them by line.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func remaining(
    _ references: EnforcedReferences,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> (count: Int, list: [ImportReport.DanglingReference]) {
    var count = 0
    var list: [ImportReport.DanglingReference] = []
    // Caches lookups, because many fields may refer to the same object.
    var known: [UnresolvedReferences.Key: Bool] = [:]
    let inOrder = open.values.sorted { ($0.line, $0.field.fieldID) < ($1.line, $1.field.fieldID) }
    for item in inOrder {
      let field = references.fields[item.model]?.first { $0.fieldID == item.field.fieldID }
      guard let field else { continue }
      let missing = try item.targets.first { target in
        if let exists = known[target] { return !exists }
        let exists = try Self.exists(target.bytes, field, in: transaction)
        known[target] = exists
        return !exists
      }
      guard let missing else { continue }
      count += 1
      guard list.count < Self.maximumListLength else { continue }
      list.append(
        ImportReport.DanglingReference(
          line: item.line,
          model: item.model,
          field: field.fieldName,
          target: missing.model,
          key: StoredReferences.text(of: missing.bytes, type: field.keyType)
        )
      )
    }
    return (count, list)
  }

  /// Returns the targets of the object's references, each with its field.
  static func targets(
    of object: StoredObject,
    _ references: EnforcedReferences
  ) -> [(key: UnresolvedReferences.Key, field: EnforcedReference)] {
    (references.fields[object.model] ?? []).flatMap { field in
      let value = object.fields.first { $0.id == field.fieldID }?.value
      return (value.map { keys($0, field) } ?? []).map { bytes in
        (UnresolvedReferences.Key(model: field.target.name, bytes: bytes), field)
      }
    }
  }

  /// Returns the keys in a field.
  ///
  /// Ignores values that are not of the key's type. The writer rejects them.
  static func keys(_ value: StoredValue, _ field: EnforcedReference) -> [[UInt8]] {
    let elements: [StoredValue]
    switch value {
    case .array(let own) where field.isCollection: elements = own
    case .set(let own) where field.isCollection: elements = own
    default: elements = [value]
    }
    return elements.compactMap { element in
      (try? element.bytes(as: field.keyType)).flatMap { $0 }
    }
  }

  /// Whether the target model has an object with this primary key.
  static func exists(
    _ key: [UInt8],
    _ field: EnforcedReference,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    try field.target.hasObject(withKey: key, in: transaction)
  }
}

/// The references in unwritten lines of an import whose targets have not been found yet.
struct UnresolvedReferences {
  /// The target of a reference.
  struct Key: Hashable {
    var model: String
    /// The bytes of the primary key.
    var bytes: [UInt8]
  }

  /// The objects that the lines contain.
  private var provided: Set<Key> = []
  private var missing: Set<Key> = []

  /// Whether every reference has a target in the store or in the lines.
  var isEmpty: Bool { missing.isEmpty }

  /// Adds a line with an object and its references.
  ///
  /// `isStored` is called with the position in `references` of each target that no line contains.
  mutating func add(
    _ object: Key,
    references: [Key],
    isStored: (Int) throws -> Bool
  ) rethrows {
    provided.insert(object)
    missing.remove(object)
    for (position, key) in references.enumerated()
    where !provided.contains(key) && !missing.contains(key) {
      if try !isStored(position) { missing.insert(key) }
    }
  }

  mutating func removeAll() {
    self = UnresolvedReferences()
  }
}

/// The reference fields of a store, cached for one schema epoch.
struct CachedReferences {
  let epoch: UInt64
  let references: EnforcedReferences
  private let metadata: Metadata

  init(_ environment: Environment) throws {
    self = try Store.readStored(environment) { transaction, schema in
      CachedReferences(
        epoch: schema.epoch,
        references: try EnforcedReferences(schema, in: transaction),
        metadata: schema.metadata
      )
    }
  }

  private init(epoch: UInt64, references: EnforcedReferences, metadata: Metadata) {
    (self.epoch, self.references, self.metadata) = (epoch, references, metadata)
  }

  /// Whether the store's schema has not changed since.
  func isCurrent(in transaction: borrowing ReadTransaction) throws -> Bool {
    try metadata.integer(MetadataKey.epoch, in: transaction) == epoch
  }
}
