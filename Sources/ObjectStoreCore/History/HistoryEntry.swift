/// The changes of one commit, as stored in the table `store/history`.
package struct HistoryEntry: Sendable, Hashable {
  /// The changes of the objects of one model.
  package struct ModelEntry: Sendable, Hashable {
    var model: String
    /// The layout whose field positions the changes refer to.
    var layoutNumber: UInt16
    package var changes: CoalescedChanges
  }

  /// A random number that distinguishes commits with the same number in diverged copies of a store.
  var nonce: UInt32
  /// The running total of entries, including this one.
  ///
  /// The totals make the length of the history known without reading it.
  var commitSum: UInt64
  /// The running total of the size of entries in bytes, including this one.
  var byteSum: UInt64
  package var models: [ModelEntry]

  /// The version of the encoding without replacements.
  static let firstVersion: UInt8 = 1
  /// The version of the encoding with replacements, which older programs do not know.
  static let replacementVersion: UInt8 = 2
  /// The number of bytes before the models.
  static let headerSize = 21
  /// The maximum size of a stored piece, in bytes, such that two pieces fit in a 4 KiB page.
  static let pieceSize = 1_984

  /// Encodes the models, without the header.
  static func encode(_ models: [ModelEntry]) -> [UInt8] {
    var writer = ByteWriter()
    for entry in models {
      writer.writeVarint(UInt64(entry.model.utf8.count))
      writer.write(entry.model.utf8)
      writer.writeVarint(UInt64(entry.layoutNumber))
      // The number of objects plus 1; 0 means that any object may have changed.
      guard !entry.changes.coversAllObjects else {
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
        case .deleted, .replaced:
          writer.writeVarint(UInt64(change.key.count))
          writer.write(change.key)
        }
      }
    }
    return writer.bytes
  }

  /// Returns the first version of the encoding that can represent the changes.
  static func version(of models: [ModelEntry]) -> UInt8 {
    let hasReplacements = models.contains { entry in
      entry.changes.objects.values.contains { $0.kind == .replaced }
    }
    return hasReplacements ? replacementVersion : firstVersion
  }

  /// Encodes the complete entry from already encoded models.
  static func encode(
    version: UInt8 = firstVersion,
    nonce: UInt32,
    commitSum: UInt64,
    byteSum: UInt64,
    models: [UInt8]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(version)
    writer.write(nonce)
    writer.write(commitSum)
    writer.write(byteSum)
    writer.write(models)
    return writer.bytes
  }
}

extension HistoryEntry {
  /// Decodes the header and leaves the reader positioned at the first model.
  init(header reader: inout ByteReader) throws(RecordError) {
    guard try Self.firstVersion...Self.replacementVersion ~= reader.read(UInt8.self) else {
      throw RecordError(.unknownCoding)
    }
    nonce = try reader.read()
    commitSum = try reader.read()
    byteSum = try reader.read()
    models = []
  }

  /// Decodes an entry, optionally only the changes of one model.
  init(
    from reader: inout ByteReader,
    of model: String? = nil
  ) throws(RecordError) {
    try self.init(header: &reader)
    while reader.remaining > 0 {
      let name = try Self.string(&reader)
      guard let layoutNumber = UInt16(exactly: try reader.readVarint()) else {
        throw RecordError(.invalidValue)
      }
      let changes = try Self.changes(&reader, isWanted: model == nil || model == name)
      guard let changes else { continue }
      models.append(ModelEntry(model: name, layoutNumber: layoutNumber, changes: changes))
    }
  }

  private static func string(_ reader: inout ByteReader) throws(RecordError) -> String {
    try reader.readString(count(&reader))
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
    let countPlusOne = try reader.readVarint()
    guard countPlusOne > 0 else {
      changes.coverAllObjects()
      return isWanted ? changes : nil
    }
    var id: UInt64 = 0
    // A change takes at least two bytes, so a damaged count runs into the end of the bytes.
    for _ in 0..<countPlusOne - 1 {
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
      case .deleted, .replaced:
        let count = try count(&reader)
        if isWanted { change.key = try reader.readBytes(count) } else { try reader.skip(count) }
      }
      if isWanted { changes.add(change, to: id) }
    }
    return isWanted ? changes : nil
  }
}

/// The net change of one object over one or more commits.
package struct ObjectChange: Sendable, Hashable {
  package var kind: ChangeLog.Change.Kind
  /// The changed fields as in ``ChangeLog/Change/fields``; all unless it is an update.
  var fields: UInt64
  /// The stored bytes of the primary key of the deleted object, for a deletion or replacement.
  var key: [UInt8] = []

  /// The net change of this one and a later one; `nil` when the object was inserted and deleted.
  func followed(by later: ObjectChange) -> ObjectChange? {
    switch (kind, later.kind) {
    case (.inserted, .deleted): nil
    case (.inserted, _): self
    case (.updated, .updated): ObjectChange(kind: .updated, fields: fields | later.fields)
    case (.updated, _): later
    // The object that existed before both changes is the one that the first of them deleted.
    case (.replaced, .deleted): ObjectChange(kind: .deleted, fields: .max, key: key)
    case (.replaced, _): self
    // A sequential id is never reused; an id that follows from a key is.
    case (.deleted, .inserted), (.deleted, .replaced):
      ObjectChange(kind: .replaced, fields: .max, key: key)
    case (.deleted, _): later
    }
  }
}

/// The net changes of the objects of one model over one or more commits.
package struct CoalescedChanges: Sendable, Hashable {
  /// The changes by object id.
  package private(set) var objects: [UInt64: ObjectChange] = [:]
  /// Whether there were too many changes to record, so that any object may have changed.
  package private(set) var coversAllObjects = false

  var isEmpty: Bool { objects.isEmpty && !coversAllObjects }

  package init() {}

  init(_ log: ChangeLog) {
    guard !log.exceedsLimit else {
      coverAllObjects()
      return
    }
    objects.reserveCapacity(log.changes.count)
    for change in log.changes {
      let key = change.kind == .deleted ? log.removedKeys[change.objectID] ?? [] : []
      add(ObjectChange(kind: change.kind, fields: change.fields, key: key), to: change.objectID)
    }
  }

  mutating func add(_ change: ObjectChange, to id: UInt64) {
    guard !coversAllObjects else { return }
    guard let earlier = objects[id] else {
      objects[id] = change
      return
    }
    objects[id] = earlier.followed(by: change)
  }

  /// Returns the changes of the objects whose id satisfies the predicate.
  func filter(_ isIncluded: (UInt64) -> Bool) -> CoalescedChanges {
    var filtered = self
    filtered.objects = objects.filter { isIncluded($0.key) }
    return filtered
  }

  /// Replaces the changes with the statement that any object may have changed.
  mutating func coverAllObjects() {
    objects = [:]
    coversAllObjects = true
  }

  package mutating func add(_ later: CoalescedChanges) {
    guard !later.coversAllObjects else { return coverAllObjects() }
    for (id, change) in later.objects { add(change, to: id) }
  }
}

// MARK: Variable-length integers

// Unsigned LEB128: seven bits per byte, least significant first; the high bit is set in every byte
// but the last.

extension ByteWriter {
  mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      write(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    write(UInt8(truncatingIfNeeded: rest))
  }
}

extension ByteReader {
  /// - Throws: ``RecordError`` with `truncated`, or `invalidValue` when the value exceeds 64 bits.
  mutating func readVarint() throws(RecordError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      let byte = try read(UInt8.self)
      guard shift < 63 || byte <= 1 else { break }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw RecordError(.invalidValue)
  }
}
