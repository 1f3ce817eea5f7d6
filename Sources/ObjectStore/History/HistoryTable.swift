internal import LMDB

/// The table `store/history`: the number of a commit to what it changed, oldest first.
///
/// An entry lies in pieces that fit into a page. LMDB looks for neighbouring free pages for what is
/// longer, among all that are free, and from then on writes the list of them with every commit: after
/// large writes at random a commit took twice its time.
struct HistoryTable: Sendable {
  let database: Database

  /// The entry of key 0: the history is complete for the commits after this one.
  struct Floor: Equatable {
    /// The greatest number while a program writes without a history.
    var number: UInt64
    var nonce: UInt32
    /// ``HistoryEntry/commitSum`` and ``HistoryEntry/byteSum`` as of that commit.
    var commitSum: UInt64
    var byteSum: UInt64

    var isOff: Bool { number == .max }
    var token: HistoryToken { HistoryToken(number: number, nonce: nonce) }
  }

  /// What the end of the table says.
  struct End: Equatable {
    var token: HistoryToken
    var commitSum: UInt64
    var byteSum: UInt64
  }

  /// The place of a piece of an entry.
  struct Key {
    static let pieceBits: UInt64 = 12
    /// A commit that would take more is remembered as having changed whole models.
    static let mostPieces = 1 << Int(pieceBits)

    var number: UInt64
    var piece: UInt64 = 0

    var rawValue: UInt64 { number << Self.pieceBits | piece }

    init(number: UInt64, piece: Int = 0) {
      self.number = number
      self.piece = UInt64(piece)
    }

    init(rawValue: UInt64) {
      number = rawValue >> Self.pieceBits
      piece = rawValue & (1 << Self.pieceBits - 1)
    }

    init(_ bytes: UnsafeRawBufferPointer) throws {
      guard bytes.count == 8 else {
        throw StoreError(.damaged, "an entry of the history has no number")
      }
      self.init(rawValue: unsafe bytes.loadUnaligned(as: UInt64.self))
    }
  }

  // MARK: Reading

  func floor(in transaction: borrowing some Transaction & ~Copyable) throws -> Floor {
    guard let value = unsafe try value(at: 0, in: transaction) else {
      throw StoreError(.damaged, "the history of the store has no beginning")
    }
    return unsafe try decode(value, 0) { reader throws(RecordError) in
      Floor(
        number: try reader.read(),
        nonce: try reader.read(),
        commitSum: try reader.read(),
        byteSum: try reader.read()
      )
    }
  }

  func end(in transaction: borrowing some Transaction & ~Copyable) throws -> End {
    let cursor = unsafe try transaction.cursor(on: database)
    guard let last = unsafe try cursor.last(), case let number = unsafe try Key(last.key).number,
      number > 0
    else {
      let floor = try floor(in: transaction)
      return End(token: floor.token, commitSum: floor.commitSum, byteSum: floor.byteSum)
    }
    guard let header = try header(of: number, in: transaction) else {
      throw StoreError(.damaged, "the entry of commit \(number) in the history has no beginning")
    }
    return End(
      token: HistoryToken(number: number, nonce: header.nonce),
      commitSum: header.commitSum,
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
    return try header(of: token.number, in: transaction)?.nonce == token.nonce
  }

  private func header(
    of number: UInt64,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> HistoryEntry? {
    guard let value = unsafe try value(at: number, in: transaction) else { return nil }
    return unsafe try decode(value, number) { reader throws(RecordError) in
      try HistoryEntry(header: &reader)
    }
  }

  /// Calls `body` with the number and the entry of each commit after `number`, with what it did to
  /// one model.
  func forEach(
    after number: UInt64,
    of model: String,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, HistoryEntry) throws -> Void
  ) throws {
    // The floor of a history that was stopped.
    guard number < .max else { return }
    unsafe try forEachEncoded(from: number + 1, in: transaction) { number, bytes in
      try body(
        number,
        unsafe decode(bytes, number) { reader throws(RecordError) in
          try HistoryEntry(from: &reader, of: model)
        }
      )
    }
  }

  /// Calls `body` with the number of each commit from one on, and with the bytes of its entry.
  func forEachEncoded(
    from first: UInt64,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = try unsafe withUnsafeBytes(of: Key(number: first).rawValue) {
      unsafe try cursor.first(atOrAfter: $0)
    }
    while let found = unsafe entry {
      let number = unsafe try Key(found.key).number
      unsafe entry = unsafe try cursor.next()
      guard let next = unsafe entry, unsafe try Key(next.key).number == number else {
        unsafe try body(number, found.value)
        continue
      }
      var whole = unsafe Array(found.value)
      while let piece = unsafe entry, unsafe try Key(piece.key).number == number {
        unsafe whole.append(contentsOf: piece.value)
        unsafe entry = unsafe try cursor.next()
      }
      try unsafe whole.withUnsafeBytes { unsafe try body(number, $0) }
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
      end = End(token: floor.token, commitSum: floor.commitSum, byteSum: floor.byteSum)
    }
    var encoded = HistoryEntry.encode(models)
    let longest = min(limit.byteCount, Key.mostPieces * HistoryEntry.pieceSize)
    if encoded.count + HistoryEntry.headerSize > longest {
      encoded = HistoryEntry.encode(models.map { $0.asWhole })
    }
    let commitSum = end.commitSum + 1
    let byteSum = end.byteSum + UInt64(encoded.count + HistoryEntry.headerSize)
    try trim(from: floor, commitSum: commitSum, byteSum: byteSum, limit: limit, in: &transaction)
    let value = HistoryEntry.encode(
      nonce: .random(),
      commitSum: commitSum,
      byteSum: byteSum,
      models: encoded
    )
    for (piece, start) in stride(from: 0, to: value.count, by: HistoryEntry.pieceSize).enumerated()
    {
      let end = min(start + HistoryEntry.pieceSize, value.count)
      try put(value[start..<end], at: Key(number: number, piece: piece), in: &transaction)
    }
  }

  /// Removes the oldest entries when there are too many; some more than must be, so that most
  /// commits need not.
  private func trim(
    from floor: Floor,
    commitSum: UInt64,
    byteSum: UInt64,
    limit: HistoryLimit,
    in transaction: inout WriteTransaction
  ) throws {
    func isWithin(_ commits: Int, _ byteCount: Int, from floor: Floor) -> Bool {
      commitSum &- min(floor.commitSum, commitSum) <= UInt64(commits)
        && byteSum &- min(floor.byteSum, byteSum) <= UInt64(byteCount)
    }
    guard !isWithin(limit.commits, limit.byteCount, from: floor) else { return }
    let fewest = limit.commits - limit.commits / 8
    let leastBytes = limit.byteCount - limit.byteCount / 8
    var floor = floor
    while !isWithin(fewest, leastBytes, from: floor) {
      guard let oldest = try removeOldest(in: &transaction) else { break }
      floor = oldest
    }
    try put(floor, in: &transaction)
  }

  /// Removes the oldest entry; returns the floor that it leaves.
  private func removeOldest(in transaction: inout WriteTransaction) throws -> Floor? {
    guard var key = try key(after: 0, in: transaction) else { return nil }
    let number = Key(rawValue: key).number
    guard let header = try header(of: number, in: transaction) else {
      throw StoreError(.damaged, "the entry of commit \(number) in the history has no beginning")
    }
    while Key(rawValue: key).number == number {
      _ = try unsafe withUnsafeBytes(of: key) {
        unsafe try transaction.delete($0, in: database)
      }
      guard let next = try self.key(after: key, in: transaction) else { break }
      key = next
    }
    return Floor(
      number: number,
      nonce: header.nonce,
      commitSum: header.commitSum,
      byteSum: header.byteSum
    )
  }

  private func key(
    after key: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> UInt64? {
    let cursor = unsafe try transaction.cursor(on: database)
    let entry = try unsafe withUnsafeBytes(of: key + 1) { unsafe try cursor.first(atOrAfter: $0) }
    return unsafe try entry.map { unsafe try Key($0.key).rawValue }
  }

  private func restart(after number: UInt64, in transaction: inout WriteTransaction) throws {
    try transaction.removeAll(in: database)
    let floor = Floor(number: number, nonce: .random(), commitSum: 0, byteSum: 0)
    try put(floor, in: &transaction)
  }

  private func put(_ floor: Floor, in transaction: inout WriteTransaction) throws {
    var writer = ByteWriter()
    writer.write(floor.number)
    writer.write(floor.nonce)
    writer.write(floor.commitSum)
    writer.write(floor.byteSum)
    try put(writer.bytes[...], at: Key(number: 0), in: &transaction)
  }

  private func put(
    _ value: ArraySlice<UInt8>,
    at key: Key,
    in transaction: inout WriteTransaction
  ) throws {
    try unsafe withUnsafeBytes(of: key.rawValue) { key in
      try unsafe value.withUnsafeBytes { unsafe try transaction.put($0, for: key, in: database) }
    }
  }

  // MARK: Bytes

  private func value(
    at number: UInt64,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> UnsafeRawBufferPointer? {
    try unsafe withUnsafeBytes(of: Key(number: number).rawValue) {
      unsafe try transaction.value(for: $0, in: database)
    }
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
