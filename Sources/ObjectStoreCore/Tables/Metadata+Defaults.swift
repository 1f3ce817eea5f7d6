package import LMDB
internal import SystemInterface

extension StoredDefaults {
  /// The defaults after a change of the schema, and what it means for existing indexes and columns.
  struct Update: Equatable {
    var defaults: StoredDefaults
    /// The fields whose existing index entries and column values must be built again.
    var rebuilt: Set<UInt32> = []
  }

  /// Decides which defaults the store is to have.
  ///
  /// - Parameters:
  ///   - schema: The model of the program; `nil` if only layouts are added.
  ///   - layouts: All layouts of the model.
  ///   - count: The number of the first of these that the store had before.
  /// - Returns: The defaults, and the fields whose indexes and columns they change.
  func updated(
    by schema: ModelSchema?,
    layouts: [RecordLayout],
    storedLayouts count: Int
  ) -> Update {
    let previous = [RecordLayout](layouts[..<count])
    var update = Update(defaults: self)
    for field in schema?.fields ?? [] {
      if let known = update.defaults[field.id], known.type != field.type {
        // A step has changed the type, so no record has the previous one.
        update.defaults[field.id] = nil
      }
      guard let bytes = schema?.defaults[field.id] else { continue }
      var value = update.defaults[field.id] ?? StoredDefault(type: field.type, bytes: bytes)
      if !field.isOptional, layouts.haveOptional(field.id) { value.replacesNil = true }
      update.defaults[field.id] = value
    }
    for (id, value) in update.defaults where value.replacesNil || layouts.lack(id) {
      let known = self[id].flatMap { $0.isUsed && $0.type == value.type ? $0 : nil }
      let changesMissing = known == nil && previous.lack(id)
      let changesNil =
        value.replacesNil != (known?.replacesNil ?? false) && previous.haveOptional(id)
      if changesMissing || changesNil {
        // Only a program with the models builds indexes.
        guard schema != nil else { continue }
        update.rebuilt.insert(id)
      }
      update.defaults[id]?.isUsed = true
    }
    return update
  }
}

extension Metadata {
  /// Returns the defaults that the store has for the fields of a model.
  func defaults(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> StoredDefaults {
    let prefix = Array(MetadataKey.fieldDefaults(model).utf8)
    var defaults: StoredDefaults = [:]
    try transaction.forEachEntry(withPrefix: prefix, in: database) { stored, value in
      let name = String(decodingUTF8: stored.extracting(droppingFirst: prefix.count))
      guard let id = UInt32(name) else {
        throw StoreError(
          .damaged,
          "the store has a default of \(model) with the invalid ID '\(name)'"
        )
      }
      let value = [UInt8](copying: value)
      defaults[id] = try decode(value, "the default of field \(name) of \(model)") {
        reader throws(RecordError) in
        try StoredDefault(encoded: &reader)
      }
    }
    return defaults
  }

  /// Stores the defaults of a model.
  package func set(
    _ defaults: StoredDefaults,
    of model: String,
    in transaction: inout WriteTransaction
  ) throws {
    let stored = try self.defaults(of: model, in: transaction)
    for id in stored.keys where defaults[id] == nil {
      let key = Array(MetadataKey.fieldDefault(model, id).utf8)
      try transaction.delete(key.span, in: database)
    }
    for (id, value) in defaults.sorted(by: { $0.key < $1.key }) where stored[id] != value {
      try set(value.encoded, for: MetadataKey.fieldDefault(model, id), in: &transaction)
    }
  }
}
