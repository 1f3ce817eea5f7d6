/// What one commit has done, as the table `store/history` keeps it.
struct HistoryEntry: Sendable, Hashable {
  struct ModelEntry: Sendable, Hashable {
    var model: String
    /// The layout in whose order the fields are counted.
    var layoutNumber: UInt16
    var changes: CoalescedChanges
  }

  /// Tells the commit from one of the same number in a copy of the store that went another way.
  var nonce: UInt32
  /// How many entries there were up to this one, and their bytes, so that both are known without
  /// reading them.
  var commitSum: UInt64
  var byteSum: UInt64
  var models: [ModelEntry]

  static let codingVersion: UInt8 = 1
  /// What comes before the models.
  static let headerSize = 21
  /// Two pieces of so many bytes fit into a page of 4 KiB.
  static let pieceSize = 1_984

  /// The bytes of the models.
  static func encode(_ models: [ModelEntry]) -> [UInt8] {
    var writer = ByteWriter()
    for entry in models {
      writer.writeVarint(UInt64(entry.model.utf8.count))
      writer.write(entry.model.utf8)
      writer.writeVarint(UInt64(entry.layoutNumber))
      // One more than the number of objects; 0 is all of them.
      guard !entry.changes.isWhole else {
        writer.writeVarint(0)
        continue
      }
      let objects = entry.changes.objects.sorted { $0.key < $1.key }
      writer.writeVarint(UInt64(objects.count) + 1)
      var last: UInt64 = 0
      for (id, change) in objects {
        writer.write(change.kind.rawValue)
        writer.writeVarint(id - last)
        last = id
        switch change.kind {
        case .inserted: break
        case .updated: writer.writeVarint(change.fields)
        case .deleted:
          writer.writeVarint(UInt64(change.key.count))
          writer.write(change.key)
        }
      }
    }
    return writer.bytes
  }

  /// The whole entry, with models that were encoded before.
  static func encode(
    nonce: UInt32,
    commitSum: UInt64,
    byteSum: UInt64,
    models: [UInt8]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(codingVersion)
    writer.write(nonce)
    writer.write(commitSum)
    writer.write(byteSum)
    writer.write(models)
    return writer.bytes
  }
}

extension HistoryEntry {
  /// Reads the header, and stops before the models.
  init(header reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    nonce = try reader.read()
    commitSum = try reader.read()
    byteSum = try reader.read()
    models = []
  }

  /// Reads an entry; of other models than the one asked for, nothing is kept.
  init(
    from reader: inout ByteReader,
    of model: String? = nil
  ) throws(RecordError) {
    try self.init(header: &reader)
    while reader.remaining > 0 {
      let name = try Self.text(&reader)
      guard let layoutNumber = UInt16(exactly: try reader.readVarint()) else {
        throw RecordError(.invalidValue)
      }
      let changes = try Self.changes(&reader, isWanted: model == nil || model == name)
      guard let changes else { continue }
      models.append(ModelEntry(model: name, layoutNumber: layoutNumber, changes: changes))
    }
  }

  private static func text(_ reader: inout ByteReader) throws(RecordError) -> String {
    var text = unsafe ByteReader(try reader.take(count(&reader)))
    return try text.readString()
  }

  private static func count(_ reader: inout ByteReader) throws(RecordError) -> Int {
    guard let count = Int(exactly: try reader.readVarint()) else { throw RecordError(.truncated) }
    return count
  }

  private static func changes(
    _ reader: inout ByteReader,
    isWanted: Bool
  ) throws(RecordError) -> CoalescedChanges? {
    var changes = CoalescedChanges()
    let countAndOne = try reader.readVarint()
    guard countAndOne > 0 else {
      changes.addWhole()
      return isWanted ? changes : nil
    }
    var id: UInt64 = 0
    // Each takes two bytes at least, so a count that lies ends the bytes first.
    for _ in 0..<countAndOne - 1 {
      guard let kind = ChangeLog.Change.Kind(rawValue: try reader.read()) else {
        throw RecordError(.invalidValue)
      }
      let (next, overflow) = id.addingReportingOverflow(try reader.readVarint())
      guard !overflow else { throw RecordError(.invalidValue) }
      id = next
      var change = ObjectChange(kind: kind, fields: .max)
      switch kind {
      case .inserted: break
      case .updated: change.fields = try reader.readVarint()
      case .deleted:
        let key = unsafe try reader.take(count(&reader))
        if isWanted { change.key = unsafe Array(key) }
      }
      if isWanted { changes.add(change, to: id) }
    }
    return isWanted ? changes : nil
  }
}
