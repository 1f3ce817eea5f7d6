internal import LMDB

/// The databases of one model, and how its records are to be read, as of one epoch.
@safe  // It keeps what its references point to.
@usableFromInline
final class ModelTables: Sendable {
  /// An index that some program keeps over fields of the model.
  final class Index: Sendable {
    /// One field of the index.
    struct Part: Sendable {
      let fieldID: UInt32
      /// The field's position in the program's schema, if it has it.
      let position: Int?
      /// The type of the field; of a collection, that of an element.
      let elementType: FieldType
      let form: KeyEncoding.Form
      let width: Int?

      func content(in record: borrowing RecordView) throws(RecordError) -> RecordView.Content {
        if let position { return unsafe try record.content(at: position) }
        return unsafe try record.content(ofID: fieldID)
      }
    }

    let description: IndexDescription
    let database: Database
    let parts: [Part]
    /// The part that is a collection, of which each element has an entry.
    let collectionPart: Int?
    let longestContent: Int

    init(_ description: IndexDescription, database: Database, own: RecordLayout) {
      self.description = description
      self.database = database
      parts = description.parts.map { part in
        Part(
          fieldID: part.fieldID,
          position: own.position(ofID: part.fieldID),
          elementType: part.elementType,
          form: part.elementType.keyForm,
          width: part.elementType.width
        )
      }
      collectionPart = description.parts.firstIndex { $0.type.indexedElement != nil }
      longestContent = description.longestContent
    }

    /// Whether entries can differ when those fields do, given as ``ChangeLog/Change/fields``.
    ///
    /// A field that the program does not know, it does not change.
    func depends(on fields: UInt64) -> Bool {
      parts.contains { part in
        part.position.map { fields & ChangeLog.bit(ofFieldAt: $0) != 0 } ?? false
      }
    }
  }

  let name: String
  /// Object id (integer) to the cold part of the record.
  let records: Database
  /// Object id / 32 (integer) to the hot parts of 32 objects; see ``HotChunk``.
  let hot: Database
  /// Hash of the primary key (integer) to the ids of the objects with that hash, eight bytes each.
  let keys: Database
  /// All indexes that the store has, also those that this program's schema does not know.
  let indexes: [Index]
  /// How to read each layout that the store has: layout n at n - 1.
  private let bindings: ContiguousArray<LayoutBinding>
  private let references: ContiguousArray<LayoutReference>
  /// The layout in which this program writes; `nil` in a store that is open for reading and has
  /// none.
  let current: LayoutBinding?
  /// Whether records of any layout have a hot part.
  let hasHotFields: Bool
  let primaryKeyPosition: Int
  let hashSeed: UInt64
  /// Is told of queries that look at many objects.
  let log: StoreLog?

  convenience init(
    _ schema: ModelSchema,
    records: Database,
    hot: Database,
    keys: Database,
    indexes: [(IndexDescription, Database)],
    layouts: [RecordLayout],
    hashSeed: UInt64,
    log: StoreLog? = nil
  ) {
    self.init(
      schema.name,
      own: RecordLayout(schema),
      records: records,
      hot: hot,
      keys: keys,
      indexes: indexes,
      layouts: layouts,
      hashSeed: hashSeed,
      log: log
    )
  }

  /// The tables as they are to be read and written in the layout `own`.
  init(
    _ name: String,
    own: RecordLayout,
    records: Database,
    hot: Database,
    keys: Database,
    indexes: [(IndexDescription, Database)],
    layouts: [RecordLayout],
    hashSeed: UInt64,
    log: StoreLog? = nil
  ) {
    self.name = name
    self.records = records
    self.hot = hot
    self.keys = keys
    self.indexes = indexes.map { Index($0.0, database: $0.1, own: own) }
    bindings = ContiguousArray(
      layouts.enumerated().map { index, layout in
        LayoutBinding(reading: layout, number: UInt16(index + 1), as: own)
      }
    )
    unsafe references = unsafe ContiguousArray(bindings.map { unsafe $0.reference })
    current = bindings.first { $0.layout == own }
    hasHotFields = bindings.contains(where: \.hasHotFields)
    primaryKeyPosition = own.fields.firstIndex(where: \.isPrimaryKey) ?? 0
    self.hashSeed = hashSeed
    self.log = log
  }

  /// The binding of that layout, for reading records: valid as long as the tables.
  @unsafe
  @inline(__always)
  func reference(_ number: UInt16) throws(RecordError) -> LayoutReference {
    let index = Int(number) - 1
    guard index >= 0, unsafe index < references.count else { throw RecordError(.unknownLayout) }
    return unsafe references[index]
  }

  func binding(_ number: UInt16) throws(RecordError) -> LayoutBinding {
    let index = Int(number) - 1
    guard bindings.indices.contains(index) else { throw RecordError(.unknownLayout) }
    return bindings[index]
  }

  /// The program's own fields among those of a layout, both as ``ChangeLog/Change/fields``; all
  /// when the layout is not known.
  func ownFields(_ fields: UInt64, ofLayout number: UInt16) -> UInt64 {
    if fields == .max || number == current?.number { return fields }
    let index = Int(number) - 1
    guard bindings.indices.contains(index) else { return .max }
    let binding = bindings[index]
    var own: UInt64 = 0
    for (position, field) in binding.fields.enumerated() {
      guard let place = binding.layout.position(ofID: field.id) else { continue }
      if fields & ChangeLog.bit(ofFieldAt: place) != 0 { own |= ChangeLog.bit(ofFieldAt: position) }
    }
    return own
  }

  /// Which parts of records hold the fields at those positions, in any layout of the store.
  func parts(ofFieldsAt positions: some Sequence<Int>) -> RecordParts {
    var parts: RecordParts = []
    for position in positions {
      for binding in bindings {
        let place = unsafe binding.places[position]
        // A field that the layout does not have may be among the extras, in the cold part.
        parts.insert(place.exists && place.isHot ? .hot : .cold)
      }
    }
    return parts
  }
}

/// The names of a model's databases.
enum TableName {
  static let store = "store"
  static let history = "store/history"
  static func records(_ model: String) -> String { model }
  static func hot(_ model: String) -> String { "\(model)/hot" }
  static func keys(_ model: String) -> String { "\(model)/keys" }
  static func index(_ model: String, _ id: UInt32) -> String { "\(model)/index/\(id)" }
}
