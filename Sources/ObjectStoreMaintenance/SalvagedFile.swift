internal import LMDB
internal import ObjectStoreCore
internal import SystemInterface

/// The readable contents of a damaged store's file.
///
/// Every page is validated before use.
struct SalvagedFile {
  /// A key and a value of a leaf page.
  struct Entry {
    var key: [UInt8]
    var value: [UInt8]
  }

  private let reader: DataFileReader
  private let trees: [String: DataFileReader.Tree]
  /// The tables in which at least one page is damaged.
  private let damagedTables: Set<String>
  /// The entries of leaf pages that are reachable only through damaged pages.
  let lostEntries: [Entry]
  let damagedPages: [DataFileReader.Damage]
  let damageCount: Int
  private(set) var notes: [String] = []
  /// The number of the last commit, or a higher one if that cannot be read.
  let lastCommit: UInt64
  /// The readable entries of the table `store`, and those that copies of its pages complete.
  ///
  /// The schema version is missing only if it is lost.
  private(set) var description: [String: [UInt8]] = [:]

  init(path: String) throws {
    let file = path + "/data.mdb"
    // The first pass finds damaged pages and the pages that are no longer reachable.
    let survey = try DataFileReader(path: file)
    let trees = survey.trees()
    let areNamesDamaged = survey.damageCount > 0
    var damaged: Set<String> = []
    for (name, tree) in trees.sorted(by: { $0.key < $1.key }) {
      let before = survey.damageCount
      survey.forEachEntry(of: tree, named: name) { _, _ in }
      if survey.damageCount > before { damaged.insert(name) }
    }
    let free = survey.freePages()
    var lost: [Entry] = []
    if let free, areNamesDamaged || !damaged.isEmpty {
      survey.forEachUnreachableEntry(free: free) { _, key, value in
        lost.append(Entry(key: Array(copying: key), value: Array(copying: value)))
      }
    }
    damagedPages = survey.damagedPages
    damageCount = survey.damageCount
    damagedTables = damaged
    lostEntries = lost
    reader = try DataFileReader(path: file)
    // If a meta page is damaged, it may be that of the last commit.
    lastCommit = reader.lastTransaction &+ (reader.hasBothMetaPages ? 0 : 2)
    self.trees = reader.trees()
    if !reader.hasBothMetaPages {
      notes.append(
        "one of the two meta pages is damaged: if it is that of the last commit, its changes are lost"
      )
    }
    if free == nil, areNamesDamaged || !damaged.isEmpty {
      notes.append(
        """
        the list of free pages is damaged, so entries behind damaged pages cannot be distinguished \
        from deleted ones; they were not searched
        """
      )
    }
    readDescription(survey)
  }

  /// Whether entries of the table may be missing.
  func isDamaged(_ table: String) -> Bool {
    damagedTables.contains(table) || trees[table] == nil
  }

  /// The number of entries that the table had at the last commit; `nil` if it cannot be read.
  func entryCount(of table: String) -> UInt64? { trees[table]?.entries }

  /// Whether the table had an entry at the last commit, as far as that can be read.
  func hasEntries(of table: String) -> Bool { (entryCount(of: table) ?? 0) > 0 }

  /// Calls `body` with each readable entry of the table.
  func forEachEntry(
    of table: String,
    _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) rethrows {
    guard let tree = trees[table] else { return }
    try reader.forEachEntry(of: tree, named: table) { key, value in
      try body(Array(copying: key), Array(copying: value))
    }
  }

  private mutating func readDescription(_ survey: DataFileReader) {
    var found: [String: [UInt8]] = [:]
    forEachEntry(of: TableName.store) { key, value in
      found[String(decoding: key, as: UTF8.self)] = value
    }
    if isDamaged(TableName.store) {
      notes.append("the store's metadata is damaged; indexes may be missing")
      var stale = StaleMetadata()
      survey.forEachUnreachableEntry(free: []) { page, key, value in
        stale.add(String(decodingUTF8: key), Array(copying: value), ofPage: page)
      }
      notes += stale.complete(&found)
    } else if found[MetadataKey.format] != nil, found[MetadataKey.schemaVersion] == nil {
      // A store of version 0 has no entry for it.
      found[MetadataKey.schemaVersion] = StaleMetadata.versionZero
    }
    description = found
  }
}

/// Records and chunks of hot parts found on pages that no tree leads to, because a page above them
/// is damaged.
///
/// Such an entry does not say which table it came from. It is assigned to a model only if exactly
/// one model can decode it.
struct LostRecords {
  private(set) var entries: [SalvagedFile.Entry]
  private let modelsWithLostRecords: Set<String>
  private let modelsWithLostChunks: Set<String>
  private let layouts: [String: [LayoutBinding]]
  private var claimed: Set<Int> = []

  init(_ file: SalvagedFile, _ description: SalvagedDescription) {
    entries = file.lostEntries.filter { $0.key.count == 8 && !$0.value.isEmpty }
    let models = description.models
    modelsWithLostRecords = Set(
      models.filter { file.isDamaged($0.tableNames.records) }.map(\.name)
    )
    modelsWithLostChunks = Set(models.filter { file.isDamaged($0.tableNames.hot) }.map(\.name))
    layouts = Dictionary(
      uniqueKeysWithValues: description.models.map { model in
        let bindings = model.layouts.enumerated().map { index, layout in
          LayoutBinding(reading: layout, number: UInt16(index + 1), as: layout)
        }
        return (model.name, bindings)
      }
    )
  }

  /// The number of entries that decode as a record or a chunk but were not assigned to a model.
  var unclaimedCount: Int {
    entries.indices.count { index in
      !claimed.contains(index) && (isRecordOfAny(index) || isChunkOfAny(index))
    }
  }

  /// Claims and returns the records that only this model can decode.
  mutating func records(of model: String) -> [(id: UInt64, cold: [UInt8])] {
    let before = self
    return claim(modelsWithLostRecords, of: model) { before.isRecord(before.entries[$0], of: $1) }
  }

  /// Claims and returns the chunks of hot parts that only this model can decode.
  mutating func chunks(of model: String) -> [(id: UInt64, cold: [UInt8])] {
    let before = self
    return claim(modelsWithLostChunks, of: model) { before.isChunk(before.entries[$0], of: $1) }
  }

  private mutating func claim(
    _ models: Set<String>,
    of model: String,
    _ fits: (Int, String) -> Bool
  ) -> [(id: UInt64, cold: [UInt8])] {
    guard models.contains(model) else { return [] }
    var found: [(id: UInt64, cold: [UInt8])] = []
    var indexes: [Int] = []
    for index in entries.indices where !claimed.contains(index) && fits(index, model) {
      guard !models.contains(where: { $0 != model && fits(index, $0) }) else { continue }
      indexes.append(index)
      found.append((entries[index].id, entries[index].value))
    }
    claimed.formUnion(indexes)
    return found
  }

  private func isRecordOfAny(_ index: Int) -> Bool {
    modelsWithLostRecords.contains { isRecord(entries[index], of: $0) }
  }

  private func isChunkOfAny(_ index: Int) -> Bool {
    modelsWithLostChunks.contains { isChunk(entries[index], of: $0) }
  }

  private func isRecord(_ entry: SalvagedFile.Entry, of model: String) -> Bool {
    unsafe entry.value.withUnsafeBytes { bytes in
      guard let header = unsafe try? RecordHeader(bytes), let bindings = layouts[model],
        (1...bindings.count).contains(Int(header.layoutNumber))
      else { return false }
      let binding = bindings[Int(header.layoutNumber) - 1]
      guard
        let record = unsafe try? RecordView(
          cold: bytes,
          hot: nil,
          objectID: entry.id,
          layout: binding.reference
        )
      else { return false }
      return (try? RecordAudit.checkColdPart(record)) != nil
    }
  }

  private func isChunk(_ entry: SalvagedFile.Entry, of model: String) -> Bool {
    unsafe entry.value.withUnsafeBytes { bytes in
      guard let chunk = unsafe try? HotChunkView(bytes, number: entry.id),
        let bindings = layouts[model], unsafe chunk.isWellFormed
      else { return false }
      for slot in 0..<32 {
        guard let part = unsafe try? chunk.part(at: slot) else { continue }
        guard unsafe (1...bindings.count).contains(Int(part.layoutNumber)) else { return false }
        let binding = unsafe bindings[Int(part.layoutNumber) - 1]
        guard let record = unsafe try? RecordView(hot: part, layout: binding.reference),
          (try? RecordAudit.checkHotPart(record)) != nil
        else { return false }
      }
      return true
    }
  }
}

extension SalvagedFile.Entry {
  /// The key of an entry in a table with integer keys; 0 if the key is not 8 bytes.
  var id: UInt64 {
    unsafe key.withUnsafeBytes { bytes in
      bytes.count == 8 ? unsafe bytes.loadUnaligned(as: UInt64.self) : 0
    }
  }
}
