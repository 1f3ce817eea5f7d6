internal import ObjectStore

/// The objects of a store, independent of their ids, their order and their layouts.
struct StoreContents: Equatable {
  /// By the names of the models, each object in words, sorted.
  ///
  /// In bytes: a migration that writes a text with other Unicode scalars has another result.
  private var objects: [String: [[UInt8]]] = [:]

  /// Reads a store without its models.
  init(ofStoreAt path: String) throws {
    let store = try Store(at: path, models: [], options: StoreOptions(access: .readOnly))
    for model in try store.storedModels() where model.objectCount > 0 {
      var lines: [[UInt8]] = []
      try store.forEachStoredObject(of: model.name) { object in
        let fields = object.fields.filter { !$0.value.isNull }.sorted { $0.name < $1.name }
        lines.append(Array(fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ").utf8))
        return true
      }
      objects[model.name] = lines.sorted { $0.lexicographicallyPrecedes($1) }
    }
  }

  /// The first difference in words; `nil` if there is none.
  func difference(from other: StoreContents) -> String? {
    for model in Set(objects.keys).union(other.objects.keys).sorted() {
      let (own, others) = (objects[model] ?? [], other.objects[model] ?? [])
      if own == others { continue }
      guard own.count == others.count else {
        return "\(model) has \(own.count) objects instead of \(others.count)"
      }
      guard let pair = zip(own, others).first(where: { $0 != $1 }) else { continue }
      let one = String(decoding: pair.0, as: UTF8.self)
      let other = String(decoding: pair.1, as: UTF8.self)
      let spelling = one == other ? ", with other Unicode scalars" : ""
      return "\(model) has (\(one)) instead of (\(other))\(spelling)"
    }
    return nil
  }

  /// Throws if programs of a release cannot read an object of a store.
  static func requireReadable(
    _ store: Store,
    by schema: SchemaDescription,
    _ release: Int
  ) throws {
    for model in schema.models {
      let required = model.fields.filter { !$0.isOptional && !$0.hasDefault }
      try store.forEachStoredObject(of: model.name) { object in
        for field in model.fields {
          let found = object.fields.first { $0.id == field.id }
          if let found, found.type.description != field.type {
            throw MigrationTestFailure(
              "release \(release) cannot read \(model.name).\(field.name): it is of type \(found.type)"
            )
          }
          if found?.value.isNull != false, required.contains(field) {
            throw MigrationTestFailure(
              "release \(release) cannot read \(model.name).\(field.name): it has no value"
            )
          }
        }
        return true
      }
    }
  }
}
