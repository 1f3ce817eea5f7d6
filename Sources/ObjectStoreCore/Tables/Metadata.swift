package import LMDB
internal import SystemInterface

/// Access to the table that describes the store.
package struct Metadata: Sendable {
  package let database: Database

  package init(database: Database) {
    self.database = database
  }

  package func bytes(
    _ key: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [UInt8]? {
    try key.withUTF8Span { key in
      try transaction.withValue(for: key, in: database) { value in
        guard let value else { return nil }
        return [UInt8](copying: value)
      }
    }
  }

  package func integer<Integer: FixedWidthInteger>(
    _ key: String,
    as type: Integer.Type = Integer.self,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Integer? {
    guard let bytes = try bytes(key, in: transaction) else { return nil }
    guard bytes.count >= MemoryLayout<Integer>.size else {
      throw StoreError(.damaged, "the store's entry '\(key)' is too short")
    }
    return bytes.prefix(MemoryLayout<Integer>.size).reversed().reduce(0) {
      ($0 << 8) | Integer(truncatingIfNeeded: $1)
    }
  }

  package func set(
    _ value: [UInt8],
    for key: String,
    in transaction: inout WriteTransaction
  ) throws {
    try transaction.put(value.span, for: Array(key.utf8).span, in: database)
  }

  package func set<Integer: FixedWidthInteger>(
    _ value: Integer,
    for key: String,
    in transaction: inout WriteTransaction
  ) throws {
    var writer = ByteWriter()
    writer.write(value)
    try set(writer.bytes, for: key, in: &transaction)
  }

  /// Notes that the stored schema has changed, and returns its new epoch.
  ///
  /// Epochs are only compared for equality, and 0 is that of a new store.
  @discardableResult
  package func advanceEpoch(in transaction: inout WriteTransaction) throws -> UInt64 {
    let epoch = try integer(MetadataKey.epoch, as: UInt64.self, in: transaction) ?? 0
    let next = epoch == .max ? 1 : epoch + 1
    try set(next, for: MetadataKey.epoch, in: &transaction)
    return next
  }

  /// Throws if a program with a later schema version has migrated the store.
  ///
  /// - Throws: ``StoreError`` with `tooNew`.
  func requireVersion(
    upTo known: UInt32,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    let version: UInt32? = try integer(MetadataKey.schemaVersion, in: transaction)
    guard version ?? 0 <= known else {
      throw StoreError(
        .tooNew,
        "a program with a later schema version has migrated the store: update this program"
      )
    }
  }

  /// Returns the layouts of a model in the order of their numbers, which start at 1.
  package func layouts(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [RecordLayout] {
    var layouts: [RecordLayout] = []
    while layouts.count < Self.maximumLayoutCount,
      let bytes = try bytes(MetadataKey.layout(model, layouts.count + 1), in: transaction)
    {
      layouts.append(
        try decode(bytes, "layout \(layouts.count + 1) of \(model)") { reader throws(RecordError) in
          try RecordLayout(encoded: &reader)
        }
      )
    }
    guard layouts.allSatisfy({ $0.storage == layouts[0].storage }) else {
      throw StoreError(.damaged, "the layouts of \(model) disagree about how it is stored")
    }
    return layouts
  }

  /// The maximum number of layouts of a model.
  ///
  /// Layout numbers have two bytes, and 0 is reserved.
  static let maximumLayoutCount = 65_534

  /// Returns the indexes that the store keeps for a model.
  package func indexes(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [IndexDescription] {
    try descriptions(of: model, in: transaction).compactMap { id, bytes in
      guard bytes.first != ColumnDescription.codingVersion else { return nil }
      return try decode(bytes, "index \(id) of \(model)") { reader throws(RecordError) in
        try IndexDescription(id: id, encoded: &reader)
      }
    }
  }

  /// Returns the columns that the store keeps for a model.
  package func columns(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [ColumnDescription] {
    try descriptions(of: model, in: transaction).compactMap { id, bytes in
      guard bytes.first == ColumnDescription.codingVersion else { return nil }
      return try decode(bytes, "column \(id) of \(model)") { reader throws(RecordError) in
        let column = try ColumnDescription(encoded: &reader)
        guard column.id == id else { throw RecordError(.invalidValue) }
        return column
      }
    }
  }

  /// Returns the encoded descriptions of a model's indexes and columns, by id.
  private func descriptions(
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [(id: UInt32, bytes: [UInt8])] {
    let prefix = Array("index/\(model)/".utf8)
    var descriptions: [(id: UInt32, bytes: [UInt8])] = []
    try transaction.forEachEntry(withPrefix: prefix, in: database) { stored, value in
      let name = String(decodingUTF8: stored.extracting(droppingFirst: prefix.count))
      guard let id = UInt32(name) else {
        throw StoreError(
          .damaged,
          "the store has an index description of \(model) with the invalid ID '\(name)'"
        )
      }
      descriptions.append((id, [UInt8](copying: value)))
    }
    return descriptions
  }

  /// Opens the tables of a model's indexes.
  func openIndexes(
    of model: String,
    _ names: ModelTableNames,
    in transaction: borrowing ReadTransaction
  ) throws -> [(IndexDescription, Database)] {
    try indexes(of: model, in: transaction)
      .map { try openIndex($0, names, in: transaction) }
  }

  /// Opens the tables of the indexes of a model that are being built.
  func openBuildingIndexes(
    of model: String,
    _ names: ModelTableNames,
    in transaction: borrowing ReadTransaction
  ) throws -> [(IndexDescription, Database)] {
    try indexBuilds(of: model, in: transaction)
      .map { try openIndex($0.index, names, in: transaction) }
  }

  private func openIndex(
    _ index: IndexDescription,
    _ names: ModelTableNames,
    in transaction: borrowing ReadTransaction
  ) throws -> (IndexDescription, Database) {
    let name = names.index(index.id)
    guard let database = try transaction.openDatabase(name) else {
      throw StoreError(.damaged, "the table of the index \(name) is missing")
    }
    return (index, database)
  }

  /// Describes a column in the store and creates its table, which the caller fills.
  package func addColumn(
    _ column: ColumnDescription,
    of model: String,
    in transaction: inout WriteTransaction
  ) throws -> (ColumnDescription, Database) {
    let name = TableName.column(model, column.fieldID)
    let database = try transaction.createDatabase(name, keys: .integers)
    // A dropped column leaves an empty table behind.
    try transaction.removeAll(in: database)
    try set(column.encoded, for: MetadataKey.index(model, column.id), in: &transaction)
    return (column, database)
  }

  /// Opens the tables of a model's columns.
  func openColumns(
    of model: String,
    in transaction: borrowing ReadTransaction
  ) throws -> [(ColumnDescription, Database)] {
    try columns(of: model, in: transaction).map { column in
      let name = TableName.column(model, column.fieldID)
      guard let database = try transaction.openDatabase(name, keys: .integers) else {
        throw StoreError(.damaged, "the table of the column \(name) is missing")
      }
      return (column, database)
    }
  }

  /// Returns the reference rules of all models.
  package func references(
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [ReferenceRule] {
    let prefix = Array("reference/".utf8)
    var rules: [ReferenceRule] = []
    try transaction.forEachEntry(withPrefix: prefix, in: database) { stored, value in
      let name = String(decodingUTF8: stored.extracting(droppingFirst: prefix.count))
      let parts = name.metadataKeyParts
      guard parts.count == 2, let fieldID = UInt32(parts[1]) else {
        throw StoreError(.damaged, "the store has a reference rule with the invalid key '\(name)'")
      }
      let value = [UInt8](copying: value)
      rules.append(
        try decode(value, "reference \(name)") { reader throws(RecordError) in
          try ReferenceRule(model: String(parts[0]), fieldID: fieldID, encoded: &reader)
        }
      )
    }
    return rules
  }

  package func decode<Value>(
    _ bytes: [UInt8],
    _ what: @autoclosure () -> String,
    _ body: (inout ByteReader) throws(RecordError) -> Value
  ) throws -> Value {
    do throws(RecordError) {
      return try ByteReader.reading(bytes, body)
    } catch {
      guard error.code == .unknownCoding else {
        throw StoreError(.damaged, "the metadata of \(what()) is damaged", cause: error)
      }
      throw StoreError(
        .tooNew,
        "the metadata of \(what()) has a later format: update this program",
        cause: error
      )
    }
  }
}

/// The keys of the table `store`, which describes the store.
package enum MetadataKey {
  /// The version of the file format: UInt32.
  package static let format = "format"
  /// The seed of the hash of primary keys: UInt64, chosen at random when the store is created.
  package static let seed = "seed"
  /// The number of schema changes in this table, by which programs notice those of other processes.
  package static let epoch = "epoch"
  /// The version of the application's schema: UInt32.
  ///
  /// Programs with a lower version may not write.
  package static let schemaVersion = "schema version"

  /// The fields of one layout of a model's records; see ``RecordLayout/encoded``.
  package static func layout(_ model: String, _ number: Int) -> String {
    "layout/\(model)/\(number)"
  }
  /// One index or column of a model.
  ///
  /// See ``IndexDescription/encoded`` and ``ColumnDescription/encoded``.
  package static func index(_ model: String, _ id: UInt32) -> String { "index/\(model)/\(id)" }
  /// The reference rule of one field; see ``ReferenceRule/encoded``.
  static func reference(_ model: String, _ field: UInt32) -> String {
    "reference/\(model)/\(field)"
  }
  /// The greatest object ID that has been deleted while it was the last one: IDs are never reused.
  package static func floor(_ model: String) -> String { "floor/\(model)" }
  /// A conversion of the model to another storage layout; see ``LayoutConversion/encoded``.
  static func conversion(_ model: String) -> String { "conversion/\(model)" }
  /// The layouts whose records are converted when they are read; see ``OutdatedLayouts/encoded``.
  package static func outdatedLayouts(_ model: String) -> String { "outdated/\(model)" }
  /// An index of a model that is being built; see ``IndexBuild/encoded``.
  static func indexBuild(_ model: String, _ id: UInt32) -> String { "\(indexBuilds)\(model)/\(id)" }
  static let indexBuilds = "build/"
  /// The default of one field of a model; see ``StoredDefault/encoded``.
  static func fieldDefault(_ model: String, _ field: UInt32) -> String {
    "\(fieldDefaults(model))\(field)"
  }
  static func fieldDefaults(_ model: String) -> String { "default/\(model)/" }
  /// The last number assigned as a primary key: UInt64.
  package static func counter(_ model: String) -> String { "counter/\(model)" }

  /// The last migration with steps; see `MigrationRecord`.
  package static let migration = "migration"

  /// The format of every store; a program refuses a greater one.
  package static let currentFormat: UInt32 = 1
}

extension String {
  /// The parts of a metadata key between its slashes.
  ///
  /// They are found in the bytes: a slash can be one `Character` with the first or last scalar of a
  /// model's name.
  package var metadataKeyParts: [Substring] {
    utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }
}
