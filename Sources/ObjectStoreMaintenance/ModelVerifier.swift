internal import LMDB
internal import ObjectStoreCore

/// Checks the tables of one model against each other.
///
/// First, each entry that a record requires is looked up and counted. If a table has exactly that
/// many entries, it has no stray ones. If it has more, a second pass searches it for them.
@unsafe
struct ModelVerifier {
  private let transaction: TransactionReference
  private let entry: StoredSchema.Entry
  private let tables: ModelTables
  private let reader: ModelReader
  private let references: [EnforcedReference]
  /// The indexes that are being built, by their ids.
  private let builds: [UInt32: IndexBuild]

  private var counts = VerificationReport.ModelCounts()
  /// Objects whose records cannot be read.
  ///
  /// Their keys and index entries cannot be checked.
  private var damaged: Set<UInt64> = []
  private var foundKeys = 0
  private var foundEntries: [Int]
  private var columns: [ColumnVerifier]
  private var chunk: (number: UInt64, view: HotChunkView?)?

  init(
    _ transaction: TransactionReference,
    _ entry: StoredSchema.Entry,
    _ references: [EnforcedReference],
    _ builds: [IndexBuild]
  ) {
    unsafe self.references = references
    unsafe self.builds = Dictionary(uniqueKeysWithValues: builds.map { ($0.index.id, $0) })
    unsafe self.transaction = unsafe transaction
    unsafe self.entry = entry
    unsafe tables = entry.tables
    unsafe reader = unsafe ModelReader(transaction: transaction, tables: entry.tables)
    unsafe foundEntries = Array(repeating: 0, count: entry.tables.maintainedIndexes.count)
    unsafe columns = unsafe entry.tables.columns.map { unsafe ColumnVerifier($0, transaction) }
  }

  mutating func run(
    _ report: inout VerificationReport,
    progress: (_ objects: Int, _ problems: Int) throws -> Void
  ) throws {
    let cursor = unsafe try transaction.cursor(on: tables.records)
    var found = unsafe try cursor.first()
    while let record = unsafe found {
      if unsafe counts.objects.isMultiple(of: 1_024) {
        try Task.checkCancellation()
        unsafe try progress(counts.objects, report.problemCount)
      }
      unsafe counts.objects += 1
      if let id = unsafe integer(record.key), id > 0 {
        unsafe try verifyObject(id, cold: record.value, &report)
      } else {
        unsafe note(.record, "a record has an invalid id", nil, &report)
      }
      unsafe found = unsafe try cursor.next()
    }
    unsafe try verifyHotTable(&report)
    unsafe try verifyKeysTable(&report)
    for number in unsafe tables.maintainedIndexes.indices {
      unsafe try verifyIndex(number, &report)
    }
    unsafe try verifyColumns(&report)
    unsafe report.models[tables.name] = counts
    unsafe try progress(counts.objects, report.problemCount)
  }

  private func note(
    _ kind: VerificationReport.Problem.Kind,
    _ message: String,
    _ id: UInt64?,
    _ report: inout VerificationReport
  ) {
    unsafe report.note(kind, message, model: tables.name, objectID: id)
  }

  private func integer(_ key: UnsafeRawBufferPointer) -> UInt64? {
    key.count == 8 ? unsafe key.loadUnaligned(as: UInt64.self) : nil
  }

  // MARK: Records

  private mutating func verifyObject(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    _ report: inout VerificationReport
  ) throws {
    var kind = VerificationReport.Problem.Kind.record
    do throws(RecordError) {
      let binding = unsafe try tables.binding(RecordHeader(cold).layoutNumber)
      var part: HotChunk.Part?
      if binding.hasHotFields {
        kind = .hotPart
        unsafe part = unsafe try hotPart(of: id)
        guard unsafe part != nil else { throw RecordError(.missingHotPart) }
        kind = .record
      }
      let record = unsafe try RecordView(
        cold: cold,
        hot: part,
        objectID: id,
        layout: binding.reference
      )
      unsafe try RecordAudit.check(record, names: entry.names)
      unsafe counts.validObjects += 1
      do {
        unsafe try verifyKey(of: record, id, &report)
        for number in unsafe tables.maintainedIndexes.indices {
          unsafe try verifyEntries(of: record, id, number, &report)
        }
        unsafe try verifyReferences(of: record, id, &report)
        for number in unsafe columns.indices {
          let name = unsafe tables.name
          unsafe try columns[number].verify(record, id) { message in
            report.note(.column, message, model: name, objectID: id)
          }
        }
      } catch let error as LMDBError {
        unsafe note(.index, "\(error)", id, &report)
      } catch let error as RecordError {
        throw error
      } catch {
        throw RecordError(.invalidValue)
      }
    } catch {
      unsafe damaged.insert(id)
      unsafe note(kind, "\(error)", id, &report)
    }
  }

  private mutating func hotPart(of id: UInt64) throws(RecordError) -> HotChunk.Part? {
    let number = HotChunk.number(of: id)
    if unsafe chunk?.number != number {
      do {
        unsafe chunk = unsafe (number, try reader.uncheckedChunk(number))
      } catch {
        // The pass over the hot table reports the damaged chunk.
        unsafe chunk = (number, nil)
      }
    }
    return unsafe try chunk?.view?.checkedPart(of: id)
  }

  // MARK: Primary keys

  private mutating func verifyKey(
    of record: borrowing RecordView,
    _ id: UInt64,
    _ report: inout VerificationReport
  ) throws {
    guard case .present(let key) = unsafe try record.content(at: tables.primaryKeyPosition) else {
      throw RecordError(.missingField)
    }
    let hash = unsafe XXHash64.hash(key, seed: tables.hashSeed)
    guard unsafe tables.needsKeyEntry(id, withHash: hash) else { return }
    guard let ids = unsafe try? reader.objectIDs(withHash: hash),
      unsafe Self.ids(ids).contains(id)
    else { return unsafe note(.primaryKey, "the key table has no entry for it", id, &report) }
    unsafe foundKeys += 1
  }

  private static func ids(_ bytes: UnsafeRawBufferPointer) -> [UInt64] {
    stride(from: 0, to: bytes.count / 8 * 8, by: 8).map { offset in
      UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  private mutating func verifyKeysTable(_ report: inout VerificationReport) throws {
    let cursor = unsafe try transaction.cursor(on: tables.keys)
    var found = unsafe try cursor.first()
    var listed = 0
    while let item = unsafe found {
      let ids = unsafe Self.ids(item.value)
      let size = unsafe item.value.count
      if unsafe item.key.count != 8 || size == 0 || !size.isMultiple(of: 8) {
        unsafe note(.primaryKey, "an entry of the key table is malformed", nil, &report)
      }
      listed += ids.count
      var sharing = ids
      if unsafe tables.storage == .byKey, let hash = unsafe integer(item.key) {
        // The object under the id of the hash is not listed.
        sharing.append(StorageLayout.homeID(ofHash: hash))
      }
      if sharing.count > 1 { unsafe try verifyDistinctKeys(sharing, &report) }
      unsafe found = unsafe try cursor.next()
    }
    guard unsafe listed != foundKeys else { return }
    // Some entries refer to missing objects, or refer to an object more than once.
    var seen: Set<UInt64> = []
    unsafe found = unsafe try cursor.first()
    while let item = unsafe found {
      for id in unsafe Self.ids(item.value) where unsafe !damaged.contains(id) {
        let isCorrect = unsafe try isKey(of: id, hash: integer(item.key) ?? 0)
        guard !isCorrect || !seen.insert(id).inserted else { continue }
        unsafe note(
          .primaryKey,
          "the key table lists it under another key, or more than once",
          id,
          &report
        )
      }
      unsafe found = unsafe try cursor.next()
    }
  }

  private func isKey(of id: UInt64, hash: UInt64) throws -> Bool {
    guard let record = unsafe try? reader.record(id, parts: .cold),
      case .present(let key) = unsafe try record.content(at: tables.primaryKeyPosition)
    else { return false }
    return unsafe XXHash64.hash(key, seed: tables.hashSeed) == hash
      && tables.needsKeyEntry(id, withHash: hash)
  }

  /// Checks that objects whose keys have the same hash have different keys.
  private func verifyDistinctKeys(_ ids: [UInt64], _ report: inout VerificationReport) throws {
    var keys: Set<[UInt8]> = []
    for id in ids where unsafe !damaged.contains(id) {
      guard let record = unsafe try? reader.record(id, parts: .cold),
        case .present(let key) = unsafe try record.content(at: tables.primaryKeyPosition)
      else { continue }
      if unsafe !keys.insert(Array(key)).inserted {
        unsafe note(.primaryKey, "another object has the same primary key", id, &report)
      }
    }
  }

  // MARK: Indexes

  private mutating func verifyEntries(
    of record: borrowing RecordView,
    _ id: UInt64,
    _ number: Int,
    _ report: inout VerificationReport
  ) throws {
    let index = unsafe tables.maintainedIndexes[number]
    var keys = KeyList()
    try keys.append(record, id, in: index)
    for key in 0..<keys.count {
      if unsafe try transaction.value(for: keys[key], in: index.database) != nil {
        unsafe foundEntries[number] += 1
      } else if unsafe id < builds[index.description.id]?.next ?? .max {
        unsafe note(.index, "its entry in index \(index.description.id) is missing", id, &report)
      }
    }
  }

  private mutating func verifyIndex(_ number: Int, _ report: inout VerificationReport) throws {
    let index = unsafe tables.maintainedIndexes[number]
    let count = unsafe try transaction.count(of: index.database)
    unsafe counts.indexEntries += count
    let hasStrays = unsafe count != foundEntries[number]
    let uniqueness = unsafe UniqueIndex(tables: tables, index: index)
    let cursor = unsafe try transaction.cursor(on: index.database)
    var found = unsafe try cursor.first()
    var last: [UInt8] = []
    while let item = unsafe found {
      let id = unsafe KeyEncoding.objectID(of: item.key)
      if unsafe item.value.count > 0 {
        unsafe note(.index, "an entry of index \(index.description.id) has a value", id, &report)
      }
      if hasStrays, unsafe try !isEntry(item.key, of: id, in: index) {
        unsafe note(
          .index,
          "an entry of index \(index.description.id) does not match the record",
          id,
          &report
        )
      }
      if index.description.isUnique {
        let values = unsafe Array(item.key.dropLast(KeyEncoding.idSize))
        if values == last, unsafe !uniqueness.hasNil(item.key) {
          unsafe note(
            .uniqueness,
            "another object has the same values in index \(index.description.id)",
            id,
            &report
          )
        }
        last = values
      }
      unsafe found = unsafe try cursor.next()
    }
  }

  /// Whether the record of the object requires this entry.
  ///
  /// Returns true if the record is damaged, because its entries cannot be known.
  private func isEntry(
    _ entry: UnsafeRawBufferPointer,
    of id: UInt64?,
    in index: ModelTables.Index
  ) throws -> Bool {
    guard let id else { return false }
    guard unsafe !damaged.contains(id) else { return true }
    guard let record = unsafe try reader.record(id) else { return false }
    var keys = KeyList()
    try keys.append(record, id, in: index)
    return unsafe keys.contains(entry)
  }

  // MARK: Columns

  private func verifyColumns(_ report: inout VerificationReport) throws {
    let (name, reader, tables) = unsafe (tables.name, reader, tables)
    for number in unsafe columns.indices {
      unsafe try columns[number].verifyTable { message, id in
        report.note(.column, message, model: name, objectID: id)
      } exists: { id in
        unsafe try reader.value(of: id, in: tables.records) != nil
      }
    }
  }

  // MARK: References

  private func verifyReferences(
    of record: borrowing RecordView,
    _ id: UInt64,
    _ report: inout VerificationReport
  ) throws {
    for field in unsafe references {
      var missing = 0
      do {
        unsafe try field.forEachMissingKey(of: record, in: transaction) { missing += 1 }
      } catch let error as StoreError where error.code == .damaged {
        // The pass over the target model reports its damage.
      }
      guard missing > 0 else { continue }
      let target = field.target.name
      unsafe note(
        .reference,
        "dangling references in \(field.fieldName) to \(target): \(missing)",
        id,
        &report
      )
    }
  }

  // MARK: Hot parts

  private mutating func verifyHotTable(_ report: inout VerificationReport) throws {
    let cursor = unsafe try transaction.cursor(on: tables.hot)
    var found = unsafe try cursor.first()
    while let item = unsafe found {
      if let number = unsafe integer(item.key) {
        unsafe try verifyChunk(number, item.value, &report)
      } else {
        unsafe note(.hotPart, "a chunk of hot parts has an invalid key", nil, &report)
      }
      unsafe found = unsafe try cursor.next()
    }
  }

  private mutating func verifyChunk(
    _ number: UInt64,
    _ bytes: UnsafeRawBufferPointer,
    _ report: inout VerificationReport
  ) throws {
    do throws(RecordError) {
      let chunk = unsafe try HotChunkView(bytes, number: number)
      guard unsafe chunk.isWellFormed else { throw RecordError(.truncated) }
      for slot in 0..<32 {
        guard let part = unsafe try chunk.part(at: slot) else { continue }
        let id = number << HotChunk.shift + UInt64(slot)
        guard unsafe !damaged.contains(id) else { continue }
        let layout = unsafe layoutNumber(of: id)
        let binding = unsafe try? tables.binding(part.layoutNumber)
        if unsafe layout == part.layoutNumber, binding?.hasHotFields == true {
          unsafe counts.hotParts += 1
        } else {
          unsafe note(.hotPart, "a hot part does not belong to its record", id, &report)
        }
      }
    } catch {
      let first = number << HotChunk.shift
      unsafe note(
        .hotPart,
        "the hot parts of this object and the 31 that follow: \(error)",
        first,
        &report
      )
    }
  }

  private func layoutNumber(of id: UInt64) -> UInt16? {
    guard let cold = unsafe try? reader.value(of: id, in: tables.records) else { return nil }
    return unsafe (try? RecordHeader(cold))?.layoutNumber
  }
}
