package import LMDB
internal import SystemInterface

/// The stored schema, limited to the program's models, at one epoch.
package final class StoreSchema: Sendable {
  package let metadata: Metadata
  /// The table of the history; `nil` in a store opened read-only that has none.
  let historyTable: Database?
  package let epoch: UInt64
  /// The hash seed, chosen at random when the store was created.
  let seed: UInt64
  /// The schema version of the store.
  package let version: UInt32
  /// The last commit at which the stored schema was found to have this epoch.
  let checkedCommit = Atomic<UInt64>(.max)
  /// The reference fields of all models.
  let references: ReferenceGraph
  /// The program's models.
  ///
  /// There are few, so a lookup is a linear search.
  private let models: ContiguousArray<Entry>

  struct Entry: Sendable {
    var model: any Model.Type
    /// The tables; `nil` for a model that the store has no tables for.
    var tables: ModelTables?
  }

  init(
    metadata: Metadata,
    historyTable: Database?,
    epoch: UInt64,
    seed: UInt64,
    version: UInt32,
    models: [Entry],
    references: ReferenceGraph
  ) {
    self.metadata = metadata
    self.historyTable = historyTable
    self.epoch = epoch
    self.seed = seed
    self.version = version
    self.references = references
    self.models = ContiguousArray(models)
  }

  /// Returns the tables of a model, or `nil` when the store has none for it.
  ///
  /// - Throws: ``StoreError`` with `unknownModel`.
  func tables<M: Model>(of model: M.Type) throws -> ModelTables? {
    let type = ObjectIdentifier(model)
    for entry in models where ObjectIdentifier(entry.model) == type { return entry.tables }
    throw StoreError(.unknownModel, "the store was not opened with the model \(M.schema.name)")
  }

  /// The models of the program with records that are converted when they are read.
  package var outdatedModels: [(model: any Model.Type, tables: ModelTables)] {
    models.compactMap { entry in
      guard let tables = entry.tables, tables.outdated.isPending else { return nil }
      return (entry.model, tables)
    }
  }

  /// The tables of all models of the program that the store has tables for.
  var tables: [ModelTables] { models.compactMap(\.tables) }
}

/// The databases, indexes and record layouts of one model at one epoch.
@safe  // It keeps the bindings alive to which its references point.
@usableFromInline
package final class ModelTables: Sendable {
  /// An index of the model, which this or another program declares.
  package final class Index: Sendable {
    /// One field of an index.
    struct Part: Sendable {
      let fieldID: UInt32
      /// The field's position in the program's schema; `nil` when the program does not declare it.
      let position: Int?
      /// Whether the entries have the values that the program reads.
      ///
      /// False if records lack the field, and the store does not have the program's default yet.
      /// Queries then do not use the index.
      let isExact: Bool
      /// The type of the field, or of an element for a collection.
      let elementType: FieldType
      let form: KeyEncoding.Form
      let width: Int?

      func content(in record: borrowing RecordView) throws(RecordError) -> RecordView.Content {
        if let position, isExact { return unsafe try record.content(at: position) }
        return unsafe try record.indexedContent(ofID: fieldID)
      }
    }

    package let description: IndexDescription
    package let database: Database
    let parts: [Part]
    /// The position of the part that is a collection, which has one entry per element.
    let collectionPart: Int?
    let maximumContentSize: Int

    init(
      _ description: IndexDescription,
      database: Database,
      own: RecordLayout,
      defaults: FieldDefaults,
      layouts: [RecordLayout]
    ) {
      self.description = description
      self.database = database
      parts = description.parts.map { part in
        let position = own.position(ofID: part.fieldID)
        return Part(
          fieldID: part.fieldID,
          position: position,
          isExact: position.map { defaults.isIndexed(at: $0, own.fields[$0], layouts) } ?? false,
          elementType: part.elementType,
          form: part.elementType.keyForm,
          width: part.elementType.width
        )
      }
      collectionPart = description.parts.firstIndex { $0.type.indexedElement != nil }
      maximumContentSize = description.maximumContentSize
    }

    /// Returns whether a change of fields, as a ``ChangeLog/Change/fields`` bit set, can change
    /// entries.
    ///
    /// The program cannot change a field that it does not declare.
    func depends(on fields: UInt64) -> Bool {
      parts.contains { part in
        part.position.map { fields & FieldBit.ofField(at: $0) != 0 } ?? false
      }
    }
  }

  package let name: String
  /// The storage layout, which all record layouts share.
  package let storage: StorageLayout
  /// Object ID (integer) to the cold part of the record.
  package let records: Database
  /// Object ID / 32 (integer) to the hot parts of 32 objects; see ``HotChunk``.
  package let hot: Database
  /// Hash of the primary key (integer) to the IDs of the objects with that hash, eight bytes each.
  ///
  /// In a model that is stored by key, only those objects whose ID does not follow from the hash.
  package let keys: Database
  /// All indexes of the model, including those that the program does not declare.
  package let indexes: [Index]
  /// The indexes that are being built: writes maintain them, and reads do not use them.
  let buildingIndexes: [Index]
  /// The indexes that writes maintain.
  package let maintainedIndexes: [Index]
  /// All columns of the model, including those that the program does not declare.
  package let columns: [Column]
  /// The positions of the program's fields that have a column with the values that the program reads.
  let columnPositions: Set<Int>
  /// The layouts whose records are converted when they are read.
  package let outdated: OutdatedLayouts
  /// Whether there are such layouts.
  let hasOutdatedLayouts: Bool
  /// The bindings for reading the stored layouts: layout n at n - 1.
  private let bindings: ContiguousArray<LayoutBinding>
  private let references: ContiguousArray<LayoutReference>
  /// The layout in which the program writes; `nil` in a store opened read-only that lacks it.
  package let current: LayoutBinding?
  /// Whether any layout has a hot part.
  let hasHotFields: Bool
  package let primaryKeyPosition: Int
  package let hashSeed: UInt64
  /// Receives reports of large scans.
  let log: StoreLog?

  convenience init(
    _ schema: ModelSchema,
    records: Database,
    hot: Database,
    keys: Database,
    indexes: [(IndexDescription, Database)],
    buildingIndexes: [(IndexDescription, Database)] = [],
    columns: [(ColumnDescription, Database)] = [],
    layouts: [RecordLayout],
    defaults: StoredDefaults,
    outdated: OutdatedLayouts = OutdatedLayouts(),
    conversions: [UInt16: RecordConversion] = [:],
    hashSeed: UInt64,
    log: StoreLog? = nil
  ) {
    self.init(
      schema.name,
      own: RecordLayout(schema, storage: layouts.storage),
      declaredDefaults: schema.defaults,
      records: records,
      hot: hot,
      keys: keys,
      indexes: indexes,
      buildingIndexes: buildingIndexes,
      columns: columns,
      layouts: layouts,
      defaults: defaults,
      outdated: outdated,
      conversions: conversions,
      hashSeed: hashSeed,
      log: log
    )
  }

  /// Creates the tables for reading and writing records in the layout `own`.
  ///
  /// Without conversions, records of outdated layouts are read as they are stored. Without declared
  /// defaults, fields are read as the store describes them.
  package init(
    _ name: String,
    own: RecordLayout,
    declaredDefaults: [UInt32: [UInt8]]? = nil,
    records: Database,
    hot: Database,
    keys: Database,
    indexes: [(IndexDescription, Database)],
    buildingIndexes: [(IndexDescription, Database)] = [],
    columns: [(ColumnDescription, Database)] = [],
    layouts: [RecordLayout],
    defaults stored: StoredDefaults,
    outdated: OutdatedLayouts = OutdatedLayouts(),
    conversions: [UInt16: RecordConversion] = [:],
    hashSeed: UInt64,
    log: StoreLog? = nil
  ) {
    let defaults = FieldDefaults(own: own, declared: declaredDefaults, stored: stored)
    self.name = name
    self.outdated = outdated
    hasOutdatedLayouts = outdated.isPending
    storage = own.storage
    self.records = records
    self.hot = hot
    self.keys = keys
    func open(_ index: (IndexDescription, Database)) -> Index {
      Index(index.0, database: index.1, own: own, defaults: defaults, layouts: layouts)
    }
    self.indexes = indexes.map(open)
    self.buildingIndexes = buildingIndexes.map(open)
    maintainedIndexes = self.indexes + self.buildingIndexes
    self.columns = columns.map {
      Column($0.0, of: name, $0.1, own: own, defaults: defaults, layouts: layouts)
    }
    columnPositions = Set(self.columns.filter(\.isExact).compactMap(\.position))
    // The steps say which values the changed fields of outdated records have.
    let unchanged =
      outdated.isPending
      ? FieldDefaults(
        own: own,
        declared: declaredDefaults?.filter { !outdated.changedFields.contains($0.key) },
        stored: stored.filter { !outdated.changedFields.contains($0.key) }
      ) : defaults
    bindings = ContiguousArray(
      layouts.enumerated().map { index, layout in
        let number = UInt16(index + 1)
        return LayoutBinding(
          reading: layout,
          number: number,
          as: own,
          conversion: conversions[number],
          defaults: outdated.version(ofLayout: number) == nil ? defaults : unchanged
        )
      }
    )
    unsafe references = unsafe ContiguousArray(bindings.map { unsafe $0.reference })
    current = bindings.first { $0.layout == own }
    hasHotFields = bindings.contains(where: \.hasHotFields)
    primaryKeyPosition = own.fields.firstIndex(where: \.isPrimaryKey) ?? 0
    self.hashSeed = hashSeed
    self.log = log
  }

  /// Returns the binding of a layout for reading records; valid as long as the tables.
  @unsafe
  @inline(__always)
  func reference(_ number: UInt16) throws(RecordError) -> LayoutReference {
    let index = Int(number) - 1
    guard index >= 0, unsafe index < references.count else { throw RecordError(.unknownLayout) }
    return unsafe references[index]
  }

  /// Whether outdated records lack the program's field at a position until they are converted.
  func isChangedByStep(fieldAt position: Int) -> Bool {
    guard let current else { return false }
    return outdated.changedFields.contains(current.fields[position].id)
  }

  /// Whether the table of keys lists an object with this id and hash of its primary key.
  package func needsKeyEntry(_ id: UInt64, withHash hash: UInt64) -> Bool {
    storage == .sequential || id != StorageLayout.homeID(ofHash: hash)
  }

  package func binding(_ number: UInt16) throws(RecordError) -> LayoutBinding {
    let index = Int(number) - 1
    guard bindings.indices.contains(index) else { throw RecordError(.unknownLayout) }
    return bindings[index]
  }

  /// Maps a bit set of a layout's fields to the program's fields, both as
  /// ``ChangeLog/Change/fields``.
  ///
  /// Returns all fields when the layout is unknown or outdated.
  func ownFields(_ fields: UInt64, ofLayout number: UInt16) -> UInt64 {
    if fields == .max || number == current?.number { return fields }
    let index = Int(number) - 1
    guard bindings.indices.contains(index) else { return .max }
    let binding = bindings[index]
    // The steps of a migration may have derived any field from one that has changed.
    guard !OutdatedLayouts.isMarked(binding.layout) else { return .max }
    var own: UInt64 = 0
    for (position, field) in binding.fields.enumerated() {
      guard let place = binding.layout.position(ofID: field.id) else { continue }
      if fields & FieldBit.ofField(at: place) != 0 { own |= FieldBit.ofField(at: position) }
    }
    return own
  }

  /// Returns the record parts that contain the fields at the given positions, in any stored layout.
  func parts(ofFieldsAt positions: some Sequence<Int>) -> RecordParts {
    var parts: RecordParts = []
    for position in positions {
      for binding in bindings {
        let place = unsafe binding.places[position]
        // A field that the layout lacks may be among the extra fields, which are in the cold part.
        parts.insert(place.exists && place.isHot ? .hot : .cold)
      }
    }
    return parts
  }

  /// Returns the parts to read in a scan that needs at least some parts.
  ///
  /// A scan of hot parts alone skips the objects of layouts without hot fields.
  func parts(ofScanNeeding needed: RecordParts) -> RecordParts {
    needed == .hot && !bindings.allSatisfy(\.hasHotFields) ? .all : needed
  }
}

extension [RecordLayout] {
  /// The storage layout that a model's layouts share; `nil` if there are none.
  package var storage: StorageLayout? { first?.storage }
}

/// The names of the databases.
package enum TableName {
  package static let store = "store"
  static let history = "store/history"
  static func column(_ model: String, _ field: UInt32) -> String { "\(model)/column/\(field)" }
}

/// The names of a model's databases in one storage layout, without those of its columns.
package struct ModelTableNames {
  /// The database of the records; the start of the other names.
  package let records: String

  package init(_ model: String, _ storage: StorageLayout) {
    switch storage {
    case .sequential: records = model
    case .byKey: records = "\(model)/keyed"
    }
  }

  package var hot: String { "\(records)/hot" }
  package var keys: String { "\(records)/keys" }
  package func index(_ id: UInt32) -> String { "\(records)/index/\(id)" }
}
