/// What lies behind damaged pages: entries of which nothing says to which table they belong.
struct LostRecords {
  private(set) var entries: [SalvagedFile.Entry]
  /// How many models may have lost records, or chunks of hot parts.
  private let modelsWithLostRecords: Set<String>
  private let modelsWithLostChunks: Set<String>
  private let layouts: [String: [LayoutBinding]]
  private var claimed: Set<Int> = []

  init(_ file: SalvagedFile, _ description: SalvagedDescription) {
    entries = file.lostEntries.filter { $0.key.count == 8 && !$0.value.isEmpty }
    let names = description.models.map(\.name)
    modelsWithLostRecords = Set(names.filter { file.isDamaged(TableName.records($0)) })
    modelsWithLostChunks = Set(names.filter { file.isDamaged(TableName.hot($0)) })
    layouts = Dictionary(
      uniqueKeysWithValues: description.models.map { model in
        let bindings = model.layouts.enumerated().map { index, layout in
          LayoutBinding(reading: layout, number: UInt16(index + 1), as: layout)
        }
        return (model.name, bindings)
      }
    )
  }

  /// Entries that look like a record or a chunk and that no model has claimed.
  var unclaimedCount: Int {
    entries.indices.count { index in
      !claimed.contains(index) && (isRecordOfAny(index) || isChunkOfAny(index))
    }
  }

  /// The records that are of this model and can be of no other.
  mutating func records(of model: String) -> [(id: UInt64, cold: [UInt8])] {
    let before = self
    return take(modelsWithLostRecords, of: model) { before.isRecord(before.entries[$0], of: $1) }
  }

  /// The chunks of hot parts that are of this model and can be of no other.
  mutating func chunks(of model: String) -> [(id: UInt64, cold: [UInt8])] {
    let before = self
    return take(modelsWithLostChunks, of: model) { before.isChunk(before.entries[$0], of: $1) }
  }

  private mutating func take(
    _ models: Set<String>,
    of model: String,
    _ fits: (Int, String) -> Bool
  ) -> [(id: UInt64, cold: [UInt8])] {
    guard models.contains(model) else { return [] }
    var found: [(id: UInt64, cold: [UInt8])] = []
    var taken: [Int] = []
    for index in entries.indices where !claimed.contains(index) && fits(index, model) {
      guard !models.contains(where: { $0 != model && fits(index, $0) }) else { continue }
      taken.append(index)
      found.append((entries[index].id, entries[index].value))
    }
    claimed.formUnion(taken)
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
        let bindings = layouts[model], unsafe chunk.isWhole
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
  /// The key of an entry with integer keys.
  var id: UInt64 {
    unsafe key.withUnsafeBytes { bytes in
      bytes.count == 8 ? unsafe bytes.loadUnaligned(as: UInt64.self) : 0
    }
  }
}
