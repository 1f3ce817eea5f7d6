internal import ObjectStoreCore

/// The readable part of a damaged store's schema and metadata.
struct SalvagedDescription {
  struct Model {
    var name: String
    /// The layouts in the order of their numbers, from 1.
    ///
    /// A lost layout is replaced by another one.
    var layouts: [RecordLayout]
    var fields: [RecordLayout.Field]
    var storage: StorageLayout { layouts.storage ?? .sequential }
    var tableNames: ModelTableNames { ModelTableNames(name, storage) }
    var indexes: [IndexDescription] = []
    var columns: [ColumnDescription] = []
    var floor: UInt64 = 0
    var defaults: StoredDefaults = [:]
  }

  var models: [Model] = []
  /// The schema version; `nil` if it is lost.
  var schemaVersion: UInt32?
  /// The hash seed; `nil` if it cannot be read.
  var seed: UInt64?
  /// Metadata entries that are copied unchanged.
  var others: [String: [UInt8]] = [:]
  var notes: [String] = []

  /// Reads the schema from the entries of the table `store`.
  ///
  /// - Throws: ``StoreError`` with `tooNew`, or `damaged` if no model can be found.
  ///
  /// - Parameters:
  ///   - entries: The readable entries of the table.
  ///   - known: The models of the program, for those whose stored description is lost.
  ///   - hasTable: Whether the file has a table with this name and at least one entry.
  init(
    _ entries: [String: [UInt8]],
    knowing known: [ModelSchema],
    hasTable: (String) -> Bool
  ) throws {
    if let format = Self.integer(entries[MetadataKey.format], as: UInt32.self),
      format > MetadataKey.currentFormat
    {
      throw StoreError(
        .tooNew,
        """
        the store has storage format \(format); this program supports up to \
        \(MetadataKey.currentFormat)
        """
      )
    }
    schemaVersion = Self.integer(entries[MetadataKey.schemaVersion], as: UInt32.self)
    seed = Self.integer(entries[MetadataKey.seed], as: UInt64.self)
    var layouts: [String: [Int: RecordLayout]] = [:]
    var indexes: [String: [IndexDescription]] = [:]
    var columns: [String: [ColumnDescription]] = [:]
    var defaults: [String: StoredDefaults] = [:]
    var rules: [(key: String, rule: ReferenceRule)] = []
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
      let parts = key.metadataKeyParts.map(String.init)
      switch (parts.first, parts.count) {
      case ("layout", 3):
        if let number = UInt16(parts[2]), number > 0, let layout = Self.layout(value) {
          layouts[parts[1], default: [:]][Int(number)] = layout
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case ("index", 3):
        // The id of an index is derived from its fields.
        if let id = UInt32(parts[2]), let index = Self.index(id, value),
          IndexDescription(parts: index.parts, isUnique: index.isUnique).id == id
        {
          indexes[parts[1], default: []].append(index)
        } else if let column = Self.column(value), UInt32(parts[2]) == column.id {
          columns[parts[1], default: []].append(column)
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case ("reference", 3):
        if let id = UInt32(parts[2]), let rule = Self.reference(parts[1], id, value) {
          others[key] = value
          rules.append((key, rule))
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case ("outdated", 2):
        if Self.isOutdatedLayouts(value) {
          others[key] = value
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case (MetadataKey.migration, 1):
        if Self.isMigrationRecord(value) {
          others[key] = value
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case ("default", 3):
        if let id = UInt32(parts[2]), let value = Self.fieldDefault(value) {
          defaults[parts[1], default: [:]][id] = value
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      case ("counter", 2):
        if Self.integer(value, as: UInt64.self) != nil {
          others[key] = value
        } else {
          notes.append("the metadata entry '\(key)' is unreadable")
        }
      default: break
      }
    }
    for (name, numbered) in layouts.sorted(by: { $0.key < $1.key }) {
      let numbered = Self.unified(numbered, of: name, hasTable)
      guard var model = Self.model(name, numbered, indexes[name] ?? [], entries) else {
        notes.append("the layouts of \(name) contradict each other; its objects are not saved")
        continue
      }
      if let greatest = numbered.keys.max(), greatest > numbered.count {
        notes.append("a layout of \(name) is lost; records that use it cannot be saved")
      }
      model.columns = (columns[name] ?? []).filter { column in
        model.storage == .sequential
          && model.fields.allSatisfy { $0.id != column.fieldID || $0.type == column.type }
      }
      model.defaults = (defaults[name] ?? [:]).filter { id, value in
        model.fields.allSatisfy { $0.id != id || $0.type == value.type }
      }
      models.append(model)
    }
    for schema in known where layouts[schema.name] == nil {
      guard let model = Self.model(schema, hasTable) else { continue }
      models.append(model)
      notes.append(
        "the description of \(schema.name) is lost; its objects are read as this program stores them"
      )
    }
    guard !models.isEmpty else {
      throw StoreError(.damaged, "no model description is readable, so no record can be decoded")
    }
    for rule in rules where !isValid(rule.rule) {
      others[rule.key] = nil
      notes.append("the metadata entry '\(rule.key)' does not match a field and a primary key")
    }
  }

  /// Whether the field exists and has the type of the target model's primary key.
  private func isValid(_ rule: ReferenceRule) -> Bool {
    guard
      let field = models.first(where: { $0.name == rule.model })?.fields
        .first(where: { $0.id == rule.fieldID }),
      let target = models.first(where: { $0.name == rule.target })
    else { return false }
    let keyType = field.type.indexedElement ?? field.type
    return target.fields.contains { $0.isPrimaryKey && $0.type == keyType }
  }

  /// Returns the layouts with one storage layout.
  ///
  /// Descriptions on pages of earlier commits can have the storage layout before a conversion; then
  /// the records are in the table that has any.
  private static func unified(
    _ numbered: [Int: RecordLayout],
    of name: String,
    _ hasTable: (String) -> Bool
  ) -> [Int: RecordLayout] {
    guard Set(numbered.values.map(\.storage)).count > 1,
      let storage = StorageLayout.allCases.first(where: {
        hasTable(ModelTableNames(name, $0).records)
      })
    else { return numbered }
    return numbered.mapValues { RecordLayout(fields: $0.fields, storage: storage) }
  }

  private static func model(
    _ name: String,
    _ numbered: [Int: RecordLayout],
    _ indexes: [IndexDescription],
    _ entries: [String: [UInt8]]
  ) -> Model? {
    guard let greatest = numbered.keys.max(), let first = numbered[numbered.keys.min() ?? 0] else {
      return nil
    }
    let layouts = (1...greatest).map { numbered[$0] ?? first }
    guard layouts.allSatisfy({ $0.storage == first.storage }) else { return nil }
    guard let fields = try? StoredSchema.mergedFields(of: layouts, model: name) else { return nil }
    // An index whose field now has another type cannot be built.
    let possible = indexes.filter { index in
      index.parts.allSatisfy { part in
        fields.allSatisfy { $0.id != part.fieldID || $0.type == part.type }
      }
    }
    let floor = integer(entries[MetadataKey.floor(name)], as: UInt64.self) ?? 0
    return Model(name: name, layouts: layouts, fields: fields, indexes: possible, floor: floor)
  }

  /// Returns a model as the program stores it; `nil` if the file has no objects of it.
  private static func model(_ schema: ModelSchema, _ hasTable: (String) -> Bool) -> Model? {
    let storages = StorageLayout.allCases
    guard
      let storage = storages.first(where: { hasTable(ModelTableNames(schema.name, $0).records) })
    else { return nil }
    let layout = RecordLayout(schema, storage: storage)
    return Model(
      name: schema.name,
      layouts: [layout],
      fields: layout.fields,
      indexes: schema.indexes,
      columns: storage == .sequential ? schema.columns : []
    )
  }

  private static func integer<Integer: FixedWidthInteger>(
    _ bytes: [UInt8]?,
    as type: Integer.Type
  ) -> Integer? {
    guard let bytes else { return nil }
    return try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try reader.read(type)
    }
  }

  private static func isOutdatedLayouts(_ bytes: [UInt8]) -> Bool {
    (try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try OutdatedLayouts(encoded: &reader)
    }) != nil
  }

  /// Whether an entry can be that of the last migration, whose type is that of another module.
  private static func isMigrationRecord(_ bytes: [UInt8]) -> Bool {
    (try? ByteReader.reading(bytes) { reader throws(RecordError) in
      _ = try reader.read(UInt8.self)
      for _ in 0..<2 { _ = try reader.read(UInt32.self) }
      _ = try reader.read(UInt64.self)
      return try reader.readSized(String.self)
    }) != nil
  }

  private static func fieldDefault(_ bytes: [UInt8]) -> StoredDefault? {
    try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try StoredDefault(encoded: &reader)
    }
  }

  private static func layout(_ bytes: [UInt8]) -> RecordLayout? {
    try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try RecordLayout(encoded: &reader)
    }
  }

  private static func reference(
    _ model: String,
    _ id: UInt32,
    _ bytes: [UInt8]
  ) -> ReferenceRule? {
    try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try ReferenceRule(model: model, fieldID: id, encoded: &reader)
    }
  }

  private static func column(_ bytes: [UInt8]) -> ColumnDescription? {
    try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try ColumnDescription(encoded: &reader)
    }
  }

  private static func index(_ id: UInt32, _ bytes: [UInt8]) -> IndexDescription? {
    try? ByteReader.reading(bytes) { reader throws(RecordError) in
      try IndexDescription(id: id, encoded: &reader)
    }
  }
}
