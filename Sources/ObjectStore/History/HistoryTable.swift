internal import LMDB

/// The table `store/history`: the number of a commit to what it changed, oldest first.
struct HistoryTable: Sendable {
  let database: Database

  /// The entry of key 0: the history is complete for the commits after this one.
  struct Floor: Equatable {
    /// The greatest number while a program writes without a history.
    var number: UInt64
    var nonce: UInt32
    /// ``HistoryEntry/byteSum`` as of that commit.
    var byteSum: UInt64

    var isOff: Bool { number == .max }
    var token: HistoryToken { HistoryToken(number: number, nonce: nonce) }
  }

  /// What the end of the table says.
  struct End: Equatable {
    var token: HistoryToken
    var byteSum: UInt64
  }

  // MARK: Reading

  func floor(in transaction: borrowing some Transaction & ~Copyable) throws -> Floor {
    guard let value = unsafe try value(at: 0, in: transaction) else {
      throw StoreError(.damaged, "the history of the store has no beginning")
    }
    return unsafe try decode(value, 0) { reader throws(RecordError) in
      Floor(number: try reader.read(), nonce: try reader.read(), byteSum: try reader.read())
    }
  }

  func end(in transaction: borrowing some Transaction & ~Copyable) throws -> End {
    let cursor = unsafe try transaction.cursor(on: database)
    guard let last = unsafe try cursor.last(), case let number = unsafe try Self.number(last.key),
      number > 0
    else {
      let floor = try floor(in: transaction)
      return End(token: floor.token, byteSum: floor.byteSum)
    }
    let header = unsafe try decode(last.value, number) { reader throws(RecordError) in
      try HistoryEntry(header: &reader)
    }
    return End(
      token: HistoryToken(number: number, nonce: header.nonce),
      byteSum: header.byteSum
    )
  }

  /// Whether everything that happened after the token is in the table.
  func reaches(
    _ token: HistoryToken,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let floor = try floor(in: transaction)
    guard !floor.isOff, token.number >= floor.number else { return false }
    guard token.number > floor.number else { return token == floor.token }
    guard let value = unsafe try value(at: token.number, in: transaction) else { return false }
    let header = unsafe try decode(value, token.number) { reader throws(RecordError) in
      try HistoryEntry(header: &reader)
    }
    return header.nonce == token.nonce
  }

  /// Calls `body` with each entry after `number`, with what it did to one model.
  func forEach(
    after number: UInt64,
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (HistoryEntry) throws -> Void
  ) throws {
    guard number < .max else { return }
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = try unsafe withUnsafeBytes(of: number + 1) {
      unsafe try cursor.first(atOrAfter: $0)
    }
    while let found = unsafe entry {
      let number = unsafe try Self.number(found.key)
      try body(
        unsafe decode(found.value, number) { reader throws(RecordError) in
          try HistoryEntry(from: &reader, of: model)
        }
      )
      unsafe entry = unsafe try cursor.next()
    }
  }

  // MARK: Writing

  /// Makes the table in a store that has none.
  static func make(in transaction: inout WriteTransaction) throws {
    let table = HistoryTable(
      database: try transaction.makeDatabase(TableName.history, keys: .integers)
    )
    if try transaction.count(of: table.database) == 0 { try table.restart(in: &transaction) }
  }

  /// Begins the history anew: it is complete for the commits after the transaction's.
  func restart(in transaction: inout WriteTransaction) throws {
    try restart(after: transaction.id, in: &transaction)
  }

  /// Notes that commits go by unwritten from here on.
  func stop(in transaction: inout WriteTransaction) throws {
    guard try !floor(in: transaction).isOff else { return }
    try restart(after: .max, in: &transaction)
  }

  /// Adds what the transaction has changed, and forgets the oldest commits beyond the limit.
  func append(
    _ models: [HistoryEntry.ModelEntry],
    limit: HistoryLimit,
    in transaction: inout WriteTransaction
  ) throws {
    guard !models.isEmpty else { return }
    let number = transaction.id
    var floor = try floor(in: transaction)
    var end = try end(in: transaction)
    // A copy without free pages counts its commits from 1 again.
    if floor.isOff || end.token.number >= number {
      try restart(after: number - 1, in: &transaction)
      floor = try self.floor(in: transaction)
      end = End(token: floor.token, byteSum: floor.byteSum)
    }
    var encoded = HistoryEntry.encode(models)
    if encoded.count + HistoryEntry.headerSize > limit.byteCount {
      encoded = HistoryEntry.encode(models.map { $0.asWhole })
    }
    let byteSum = end.byteSum + UInt64(encoded.count + HistoryEntry.headerSize)
    try trim(from: floor, byteSum: byteSum, limit: limit, in: &transaction)
    let value = HistoryEntry.encode(nonce: .random(), byteSum: byteSum, models: encoded)
    try put(value, at: number, in: &transaction)
  }

  /// Removes the oldest entries when there are too many; some more than must be, so that most
  /// commits need not.
  private func trim(
    from floor: Floor,
    byteSum: UInt64,
    limit: HistoryLimit,
    in transaction: inout WriteTransaction
  ) throws {
    // Key 0 is no commit, and one is about to come.
    var commits = try transaction.count(of: database)
    var bytes = byteSum - min(floor.byteSum, byteSum)
    guard commits > limit.commits || bytes > UInt64(limit.byteCount) else { return }
    let fewest = limit.commits - limit.commits / 8
    let leastBytes = UInt64(limit.byteCount - limit.byteCount / 8)
    var floor = floor
    while commits > fewest || bytes > leastBytes {
      guard let oldest = try oldest(in: transaction) else { break }
      floor = oldest
      commits -= 1
      bytes = byteSum - min(oldest.byteSum, byteSum)
      _ = try unsafe withUnsafeBytes(of: oldest.number) {
        unsafe try transaction.delete($0, in: database)
      }
    }
    try put(floor, in: &transaction)
  }

  /// The oldest entry, as the floor that it leaves when it goes.
  private func oldest(in transaction: borrowing WriteTransaction) throws -> Floor? {
    let cursor = unsafe try transaction.cursor(on: database)
    let first = try unsafe withUnsafeBytes(of: 1 as UInt64) {
      unsafe try cursor.first(atOrAfter: $0)
    }
    guard let first = unsafe first else { return nil }
    let number = unsafe try Self.number(first.key)
    let header = unsafe try decode(first.value, number) { reader throws(RecordError) in
      try HistoryEntry(header: &reader)
    }
    return Floor(number: number, nonce: header.nonce, byteSum: header.byteSum)
  }

  private func restart(after number: UInt64, in transaction: inout WriteTransaction) throws {
    try transaction.removeAll(in: database)
    try put(Floor(number: number, nonce: .random(), byteSum: 0), in: &transaction)
  }

  private func put(_ floor: Floor, in transaction: inout WriteTransaction) throws {
    var writer = ByteWriter()
    writer.write(floor.number)
    writer.write(floor.nonce)
    writer.write(floor.byteSum)
    try put(writer.bytes, at: 0, in: &transaction)
  }

  private func put(
    _ value: [UInt8],
    at number: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    try unsafe withUnsafeBytes(of: number) { key in
      try unsafe value.withUnsafeBytes { unsafe try transaction.put($0, for: key, in: database) }
    }
  }

  // MARK: Bytes

  private func value(
    at number: UInt64,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> UnsafeRawBufferPointer? {
    try unsafe withUnsafeBytes(of: number) {
      unsafe try transaction.value(for: $0, in: database)
    }
  }

  static func number(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    guard key.count == 8 else {
      throw StoreError(.damaged, "an entry of the history has no number")
    }
    return unsafe key.loadUnaligned(as: UInt64.self)
  }

  func decode<Value>(
    _ bytes: UnsafeRawBufferPointer,
    _ number: UInt64,
    _ body: (inout ByteReader) throws(RecordError) -> Value
  ) throws -> Value {
    do throws(RecordError) {
      var reader = unsafe ByteReader(bytes)
      return try body(&reader)
    } catch {
      let code: StoreError.Code = error.code == .unknownCoding ? .tooNew : .damaged
      throw StoreError(code, "what commit \(number) changed cannot be read", cause: error)
    }
  }
}

extension HistoryEntry.ModelEntry {
  fileprivate var asWhole: Self {
    var whole = self
    whole.changes.addWhole()
    return whole
  }
}

extension UInt32 {
  fileprivate static func random() -> UInt32 { random(in: .min ... .max) }
}
