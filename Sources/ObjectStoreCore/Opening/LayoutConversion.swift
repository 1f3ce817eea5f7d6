internal import LMDB
internal import SystemInterface

/// The conversion of a model to another storage layout, in transactions of bounded size.
///
/// The objects are copied to the tables of the other layout. Each transaction also advances a cursor
/// in the store, so that the next program that opens the store for writing continues after a kill.
/// Until the last transaction, readers see the tables of the previous layout, which do not change:
/// a program must finish the conversion before it writes, and earlier schema versions may not write.
/// The last transaction describes the model in its new layout, and empties the previous tables.
struct LayoutConversion: Sendable, Hashable {
  let model: String
  let target: StorageLayout
  /// The least id that is not copied yet.
  var next: UInt64 = 0

  /// The maximum number of objects, and of bytes of their records, that a transaction copies.
  static let batchCount = 4_096
  static let batchSize = 4 << 20

  private static let codingVersion: UInt8 = 1

  /// The entry that the store keeps during the conversion.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(RecordLayout.codingVersion(target))
    writer.write(next)
    return writer.bytes
  }

  init(model: String, target: StorageLayout) {
    self.model = model
    self.target = target
  }

  init(model: String, encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    let version = try reader.read(UInt8.self)
    let storage = StorageLayout.allCases.first { RecordLayout.codingVersion($0) == version }
    guard let storage else { throw RecordError(.unknownCoding) }
    self.model = model
    target = storage
    next = try reader.read()
  }

  /// Prepares the conversion of a model in the transaction that raises the schema version.
  func begin(
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    try metadata.set(encoded, for: MetadataKey.conversion(model), in: &transaction)
    let names = ModelTableNames(model, target)
    for name in [names.records, names.hot, names.keys] {
      try transaction.removeAll(in: try transaction.createDatabase(name, keys: .integers))
    }
    for index in try metadata.indexes(of: model, in: transaction) {
      try transaction.removeAll(in: try transaction.createDatabase(names.index(index.id)))
    }
  }

  /// The result of a step.
  enum Step {
    /// No conversion was pending.
    case nothing
    /// A batch was copied; more objects may follow.
    case copied
    /// The conversion of a model is complete.
    case completed
  }

  /// Copies a batch of objects in a transaction of its own; the last one completes the conversion.
  static func step(in environment: Environment) throws -> Step {
    try StoreOpening.databaseOpeningLock.withLock { _ in
      var transaction = try environment.beginWrite()
      let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
      guard var conversion = try metadata.conversions(in: transaction).first else {
        return .nothing
      }
      var copy = try ConversionBatch(conversion, metadata, in: &transaction)
      if let next = try copy.run(in: &transaction) {
        conversion.next = next
        let key = MetadataKey.conversion(conversion.model)
        try metadata.set(conversion.encoded, for: key, in: &transaction)
        try transaction.commit(.ordered)
        return .copied
      }
      try copy.finish(in: &transaction)
      try transaction.commit()
      return .completed
    }
  }
}

/// One transaction of a conversion.
private struct ConversionBatch {
  private let conversion: LayoutConversion
  private let metadata: Metadata
  private let layouts: [RecordLayout]
  /// The tables for reading and for writing records in each layout: layout n at n - 1.
  private var sources: [ModelTables] = []
  private var targets: [ModelTables] = []
  private let sourceIndexes: [Database]

  /// An object to copy.
  private struct Entry {
    var id: UInt64
    /// The position in the target.
    var order: UInt64
  }

  init(
    _ conversion: LayoutConversion,
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    self.conversion = conversion
    self.metadata = metadata
    let model = conversion.model
    layouts = try metadata.layouts(of: model, in: transaction)
    guard let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction),
      let source = layouts.storage
    else { throw StoreError(.damaged, "the description of \(model) is incomplete") }
    let indexes = try metadata.indexes(of: model, in: transaction)
    sourceIndexes = try indexes.map { index in
      try transaction.createDatabase(ModelTableNames(model, source).index(index.id))
    }
    let defaults = try metadata.defaults(of: model, in: transaction)
    sources = try Self.tables(model, layouts, defaults, [], seed: seed, in: &transaction)
    let converted = layouts.map { RecordLayout(fields: $0.fields, storage: conversion.target) }
    targets = try Self.tables(model, converted, defaults, indexes, seed: seed, in: &transaction)
  }

  private static func tables(
    _ model: String,
    _ layouts: [RecordLayout],
    _ defaults: StoredDefaults,
    _ indexes: [IndexDescription],
    seed: UInt64,
    in transaction: inout WriteTransaction
  ) throws -> [ModelTables] {
    let names = ModelTableNames(model, layouts.storage ?? .sequential)
    let records = try transaction.createDatabase(names.records, keys: .integers)
    let hot = try transaction.createDatabase(names.hot, keys: .integers)
    let keys = try transaction.createDatabase(names.keys, keys: .integers)
    let open = try indexes.map { ($0, try transaction.createDatabase(names.index($0.id))) }
    return layouts.map { layout in
      ModelTables(
        model,
        own: layout,
        records: records,
        hot: hot,
        keys: keys,
        indexes: open,
        layouts: layouts,
        defaults: defaults,
        hashSeed: seed
      )
    }
  }

  /// Copies the objects of the batch.
  ///
  /// - Returns: The id to continue with, or `nil` after the last object.
  mutating func run(in transaction: inout WriteTransaction) throws -> UInt64? {
    let (entries, next) = try entries(in: transaction)
    var writers: (layout: Int, writer: ModelWriter)?
    for entry in entries {
      let layout = try layout(of: entry.id, in: transaction)
      // The next writer must see everything that the previous one has deferred.
      if let last = writers, last.layout != layout {
        try Self.flush(last.writer, in: &transaction)
        writers = nil
      }
      let writer = try writers?.writer ?? makeWriter(layout)
      writers = (layout, writer)
      try copy(entry.id, layout, writer, in: &transaction)
    }
    if let last = writers { try Self.flush(last.writer, in: &transaction) }
    return next
  }

  /// Returns the objects of the batch in the order of the target, and the id after them.
  private func entries(
    in transaction: borrowing WriteTransaction
  ) throws -> (entries: [Entry], next: UInt64?) {
    var entries: [Entry] = []
    var size = 0
    var next: UInt64?
    let source = sources[0]
    try source.forEachRecord(in: transaction, parts: .cold, from: conversion.next) { id, record in
      guard entries.count < LayoutConversion.batchCount, size < LayoutConversion.batchSize else {
        next = id
        return false
      }
      let hash = try record.withBytes(at: source.primaryKeyPosition) { key throws(RecordError) in
        XXHash64.hash(key, seed: source.hashSeed)
      }
      guard let hash else { throw RecordError(.missingField) }
      size += record.byteCount
      entries.append(
        Entry(id: id, order: conversion.target == .byKey ? StorageLayout.homeID(ofHash: hash) : id)
      )
      return true
    }
    entries.sort { ($0.order, $0.id) < ($1.order, $1.id) }
    return (entries, next)
  }

  /// Returns the position in `layouts` of the layout of a record.
  private func layout(of id: UInt64, in transaction: borrowing WriteTransaction) throws -> Int {
    do {
      let number = try transaction.withValue(of: id, in: sources[0].records) { cold in
        guard let cold else { throw RecordError(.truncated) }
        return Int(try RecordHeader(cold).layoutNumber)
      }
      guard layouts.indices.contains(number - 1) else { throw RecordError(.unknownLayout) }
      return number - 1
    } catch let error as RecordError {
      throw StoreError(error, model: conversion.model, objectID: id)
    }
  }

  private func makeWriter(_ layout: Int) throws -> ModelWriter {
    guard let current = targets[layout].current else {
      throw StoreError(.damaged, "a layout of \(conversion.model) is missing")
    }
    return ModelWriter(targets[layout], current: current, metadata: metadata)
  }

  private static func flush(
    _ writer: ModelWriter,
    in transaction: inout WriteTransaction
  ) throws {
    writer.endBatch()
    try writer.flush(in: &transaction)
  }

  private func copy(
    _ id: UInt64,
    _ layout: Int,
    _ writer: ModelWriter,
    in transaction: inout WriteTransaction
  ) throws {
    writer.encoder.start()
    let extras = try sources[layout].withRecord(id, in: transaction) { record in
      try writer.translating(id) { () throws(RecordError) in
        for position in layouts[layout].fields.indices {
          // A stored `nil` stays one, also if it is read as the default.
          let isNil: Void? = try record.withStoredBytes(at: position) { bytes throws(RecordError) in
            writer.encoder.encode(stored: bytes)
          }
          if isNil == nil { writer.encoder.encodeNil() }
        }
        return try record.encodedUnknownFields()
      }
    }
    guard let extras else {
      throw StoreError(.damaged, "object \(id) of \(conversion.model) has no record")
    }
    let hash = try writer.encodedHash
    guard try writer.findEncoded(in: transaction) == nil else {
      throw StoreError(
        .damaged,
        "two objects of \(conversion.model) have the same primary key: repair the store"
      )
    }
    try writer.add(keyHash: hash, extras: extras, in: &transaction)
  }

  /// Describes the model in its new layout, and empties the tables of the previous one.
  func finish(in transaction: inout WriteTransaction) throws {
    let model = conversion.model
    for (index, layout) in layouts.enumerated() {
      let converted = RecordLayout(fields: layout.fields, storage: conversion.target)
      let key = MetadataKey.layout(model, index + 1)
      try metadata.set(converted.encoded, for: key, in: &transaction)
    }
    let key = Array(MetadataKey.conversion(model).utf8)
    try transaction.delete(key.span, in: metadata.database)
    var outdated = try metadata.outdatedLayouts(of: model, in: transaction)
    if outdated.isPending {
      // Its position is an id that no longer exists.
      outdated.next = 0
      outdated.objectCount = 0
      let key = MetadataKey.outdatedLayouts(model)
      try metadata.set(outdated.encoded, for: key, in: &transaction)
    }
    for table in [sources[0].records, sources[0].hot, sources[0].keys] + sourceIndexes {
      try transaction.removeAll(in: table)
    }
    // The history refers to objects by ids that no longer exist.
    let history = HistoryTable(
      database: try transaction.createDatabase(TableName.history, keys: .integers)
    )
    try history.restart(in: &transaction)
    try metadata.advanceEpoch(in: &transaction)
  }
}

extension Metadata {
  /// Returns the conversions that are not complete, in the order of the models' names.
  func conversions(
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> [LayoutConversion] {
    let prefix = Array(MetadataKey.conversion("").utf8)
    var conversions: [LayoutConversion] = []
    try transaction.forEachEntry(withPrefix: prefix, in: database) { key, value in
      let model = String(decodingUTF8: key.extracting(droppingFirst: prefix.count))
      conversions.append(
        try decode([UInt8](copying: value), "the conversion of \(model)") {
          reader throws(RecordError) in
          try LayoutConversion(model: model, encoded: &reader)
        }
      )
    }
    return conversions
  }
}
