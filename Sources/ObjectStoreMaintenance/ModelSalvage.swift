internal import LMDB
internal import ObjectStoreCore

/// Copies the readable records of one model into a new store and rebuilds its primary keys and
/// indexes.
struct ModelSalvage {
  private let file: SalvagedFile
  private let model: SalvagedDescription.Model
  private let tables: ModelTables
  private let metadata: Metadata
  private let hot: HotCache
  private let names: [UInt32: String]

  private var hotParts: [UInt64: HotPart] = [:]
  private var saved: Set<UInt64> = []
  private var skippedObjects: Set<UInt64> = []
  /// Every id of this model that occurs in the file: in records, keys, indexes or hot parts.
  private var known: Set<UInt64> = []

  private struct HotPart {
    var layoutNumber: UInt16
    var bytes: [UInt8]
  }

  init(
    file: SalvagedFile,
    model: SalvagedDescription.Model,
    tables: ModelTables,
    metadata: Metadata
  ) {
    self.file = file
    self.model = model
    self.tables = tables
    self.metadata = metadata
    hot = HotCache(tables)
    names = Dictionary(model.fields.map { ($0.id, $0.name) }) { first, _ in first }
  }

  mutating func run(
    in environment: Environment,
    _ lost: inout LostRecords,
    _ report: inout RepairReport
  ) throws -> RepairReport.ModelReport {
    readHotParts(&lost)
    var transaction = try environment.beginWrite()
    var own = RepairReport.ModelReport()
    var readCount = 0
    try file.forEachEntry(of: model.tableNames.records) { key, value in
      readCount += 1
      let entry = SalvagedFile.Entry(key: key, value: value)
      guard entry.id > 0 else { return }
      known.insert(entry.id)
      try add(entry.id, value, &own, &report, in: &transaction)
    }
    for (id, cold) in lost.records(of: model.name) where !saved.contains(id) && id > 0 {
      known.insert(id)
      try add(id, cold, &own, &report, in: &transaction)
    }
    try hot.flush(in: &transaction)
    for column in tables.columns {
      try ColumnBuilder(tables: tables, column: column).run(in: &transaction)
    }
    readKnownIDs()
    own.saved = saved.count
    own.withoutHotFields.sort()
    own.lost = known.subtracting(saved).subtracting(skippedObjects).sorted()
    own.lostCount = lostCount(ofRead: readCount, mentioned: own.lost.count)
    // Sequential ids are never reused, not even those of lost objects.
    if model.storage == .sequential, let greatest = known.max(),
      greatest > max(saved.max() ?? 0, model.floor)
    {
      try metadata.set(greatest, for: MetadataKey.floor(model.name), in: &transaction)
    }
    try transaction.commit(.deferred)
    return own
  }

  /// Returns the number of objects that were not saved; `nil` if it is not known.
  ///
  /// A damaged id is not that of an object, so the number does not follow from the ids.
  ///
  /// - Parameters:
  ///   - read: The number of readable entries in the table of records.
  ///   - mentioned: The number of ids that occur in the file and have no object.
  /// - Returns: The number.
  private func lostCount(ofRead read: Int, mentioned: Int) -> Int? {
    let names = model.tableNames
    var stored = read
    if file.isDamaged(names.records) {
      guard let count = file.entryCount(of: names.records), count < 1 << 40 else { return nil }
      stored = Int(count)
    }
    let lost = max(0, stored - saved.count - skippedObjects.count)
    // Every object with a sequential id is in the table of primary keys.
    let areAllMentioned = model.storage == .sequential && !file.isDamaged(names.keys)
    return areAllMentioned ? min(lost, mentioned) : lost
  }

  // MARK: Reading the damaged file

  private mutating func readHotParts(_ lost: inout LostRecords) {
    var chunks: [(number: UInt64, bytes: [UInt8])] = []
    file.forEachEntry(of: model.tableNames.hot) { key, value in
      chunks.append((SalvagedFile.Entry(key: key, value: []).id, value))
    }
    chunks += lost.chunks(of: model.name).map { ($0.id, $0.cold) }
    for (number, bytes) in chunks {
      unsafe bytes.withUnsafeBytes { bytes in
        // If the chunk's checksum is wrong, parts whose own checksums match are still good.
        guard let chunk = unsafe try? HotChunkView(measured: bytes) else { return }
        for slot in 0..<32 {
          let id = number << HotChunk.shift + UInt64(slot)
          guard let part = unsafe try? chunk.checkedPart(of: id) else { continue }
          hotParts[id] = unsafe HotPart(
            layoutNumber: part.layoutNumber,
            bytes: Array(part.bytes)
          )
        }
      }
    }
  }

  private mutating func readKnownIDs() {
    file.forEachEntry(of: model.tableNames.keys) { _, value in
      for offset in stride(from: 0, to: value.count / 8 * 8, by: 8) {
        let bytes = value[offset..<offset + 8]
        known.insert(bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
      }
    }
    for index in model.indexes {
      file.forEachEntry(of: model.tableNames.index(index.id)) { key, _ in
        guard let id = unsafe key.withUnsafeBytes({ unsafe KeyEncoding.objectID(of: $0) }) else {
          return
        }
        known.insert(id)
      }
    }
    known.formUnion(hotParts.keys)
    known.remove(0)
  }

  // MARK: Writing a record

  private mutating func add(
    _ id: UInt64,
    _ cold: [UInt8],
    _ own: inout RepairReport.ModelReport,
    _ report: inout RepairReport,
    in transaction: inout WriteTransaction
  ) throws {
    guard !saved.contains(id), let part = hotPart(of: id, cold) else { return }
    let reason: String?
    do {
      reason = try write(id, cold, part.bytes, in: &transaction)
    } catch is RecordError {
      // The id is in `known` but not in `saved`, so it is reported as lost.
      return
    }
    if let reason {
      skippedObjects.insert(id)
      if let object = object(id, cold, part.bytes) {
        report.skippedObjects.append(RepairReport.SkippedObject(object: object, reason: reason))
      }
      return
    }
    saved.insert(id)
    if part.isReplaced { own.withoutHotFields.append(id) }
  }

  /// Returns the hot part of a record, or `nil` if the record cannot be used.
  ///
  /// A lost hot part is replaced by default values. The bytes are empty if the layout has no hot
  /// fields.
  private func hotPart(
    of id: UInt64,
    _ cold: [UInt8]
  ) -> (bytes: [UInt8], isReplaced: Bool)? {
    let header = unsafe cold.withUnsafeBytes { unsafe try? RecordHeader($0) }
    guard let header, let binding = try? tables.binding(header.layoutNumber) else { return nil }
    guard binding.hasHotFields else { return ([], false) }
    if let part = hotParts[id], part.layoutNumber == header.layoutNumber {
      return (part.bytes, false)
    }
    return Self.emptyHotPart(binding.layout).map { ($0, true) }
  }

  private static func emptyHotPart(_ layout: RecordLayout) -> [UInt8]? {
    var encoder = RecordEncoder(LayoutBinding(reading: layout, number: 1, as: layout))
    encoder.start()
    for field in layout.fields {
      if !field.isHot || field.isOptional {
        encoder.encode(stored: nil)
      } else if let zero = field.type.zeroBytes {
        encoder.encode(stored: zero)
      } else {
        return nil
      }
    }
    return encoder.hot.bytes
  }

  /// Assembles a record from its parts, checks it, and passes it to `body`.
  private func withRecord<R>(
    _ id: UInt64,
    _ cold: [UInt8],
    _ hot: [UInt8],
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R {
    try unsafe cold.withUnsafeBytes { cold in
      try unsafe hot.withUnsafeBytes { hot in
        let binding = unsafe try tables.binding(RecordHeader(cold).layoutNumber)
        let part = unsafe HotChunk.Part(layoutNumber: binding.number, bytes: hot)
        let record = unsafe try RecordView(
          cold: cold,
          hot: binding.hasHotFields ? part : nil,
          objectID: id,
          layout: binding.reference
        )
        try RecordAudit.check(record, names: names)
        return try body(record)
      }
    }
  }

  private func object(_ id: UInt64, _ cold: [UInt8], _ hot: [UInt8]) -> StoredObject? {
    try? withRecord(id, cold, hot) { record in
      try StoredObject(record, id: id, model: model.name, names: names)
    }
  }

  /// Writes the record, its primary key and its index entries.
  ///
  /// - Returns: `nil`, or the reason if the record conflicts with one that was already written.
  private func write(
    _ id: UInt64,
    _ cold: [UInt8],
    _ hotBytes: [UInt8],
    in transaction: inout WriteTransaction
  ) throws -> String? {
    try withRecord(id, cold, hotBytes) { record in
      guard case .present(let key) = unsafe try record.content(at: tables.primaryKeyPosition) else {
        throw RecordError(.missingField)
      }
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: tables,
        changedChunks: hot
      )
      if let other = unsafe try reader.find(key, parts: .cold) {
        return "object \(other.id) has the same primary key"
      }
      var entries = IndexEntries()
      for (number, index) in tables.indexes.enumerated() {
        try entries.add(record, id, in: index, number)
      }
      for number in 0..<entries.added.count {
        let index = tables.indexes[entries.indexOfAdded(number)]
        guard index.description.isUnique else { continue }
        do {
          unsafe try UniqueIndex(tables: tables, index: index)
            .check(entries.added[number], in: transaction)
        } catch let error as StoreError where error.code == .duplicateKey {
          return error.message
        }
      }
      let hash = unsafe XXHash64.hash(key, seed: tables.hashSeed)
      if tables.needsKeyEntry(id, withHash: hash) {
        let others = unsafe try reader.objectIDs(withHash: hash).map { unsafe Array($0) } ?? []
        let own = (0..<8).map { UInt8(truncatingIfNeeded: id >> UInt64(8 * $0)) }
        try put(others + own, hash, in: tables.keys, &transaction)
      }
      try put(cold, id, in: tables.records, &transaction)
      if unsafe record.binding.hasHotFields {
        let number = unsafe record.binding.number
        try unsafe hotBytes.withUnsafeBytes {
          unsafe try hot.set($0, layoutNumber: number, of: id, in: &transaction)
        }
      }
      for number in 0..<entries.added.count {
        let index = tables.indexes[entries.indexOfAdded(number)]
        unsafe try transaction.put(
          UnsafeRawBufferPointer(start: nil, count: 0),
          for: entries.added[number],
          in: index.database
        )
      }
      return nil
    }
  }

  private func put(
    _ value: [UInt8],
    _ key: UInt64,
    in database: Database,
    _ transaction: inout WriteTransaction
  ) throws {
    try unsafe withUnsafeBytes(of: key) { key in
      try unsafe value.withUnsafeBytes { unsafe try transaction.put($0, for: key, in: database) }
    }
  }
}

extension FieldType {
  /// The encoding of zero or of an empty value; `nil` for embedded types, whose encoding the store
  /// does not know.
  fileprivate var zeroBytes: [UInt8]? {
    switch self {
    case .string, .data: []
    case .array, .set, .dictionary: [0, 0, 0, 0]
    case .embedded: nil
    // All zero bytes would be NaN.
    case .decimal: [0x80] + Array(repeating: 0, count: 18)
    default: Array(repeating: 0, count: width ?? 0)
    }
  }
}
