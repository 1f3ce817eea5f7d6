package import LMDB
internal import SystemInterface

/// The table `store/history`, which maps commit numbers to the changes of each commit.
///
/// An entry is split into pieces that fit in a page. LMDB would store a longer value in consecutive
/// overflow pages: to find them it loads the list of all free pages, and from then on writes that
/// list with every commit. After large random writes this doubled the time of a commit.
package struct HistoryTable: Sendable {
  let database: Database

  /// The entry with key 0: the last commit before the start of the history.
  ///
  /// The history is complete for all later commits.
  package struct Floor: Equatable {
    /// The number of the commit; `UInt64.max` while commits are written without history.
    package var number: UInt64
    var nonce: UInt32
    /// ``HistoryEntry/commitSum`` as of that commit.
    var commitSum: UInt64
    /// ``HistoryEntry/byteSum`` as of that commit.
    var byteSum: UInt64

    var isOff: Bool { number == .max }
    var token: HistoryToken { HistoryToken(number: number, nonce: nonce) }
  }

  /// The last commit in the table and the totals as of that commit.
  struct End: Equatable {
    var token: HistoryToken
    var commitSum: UInt64
    var byteSum: UInt64
  }

  /// The key of one piece of an entry.
  struct Key {
    static let pieceBits: UInt64 = 12
    /// The maximum number of pieces; a larger commit is recorded as changing all objects.
    static let maximumPieces = 1 << Int(pieceBits)

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

    /// Creates the key of an entry; `nil` for one that is not an integer.
    init(found rawValue: UInt64?) throws {
      guard let rawValue else {
        throw StoreError(.damaged, "an entry of the history has an invalid key")
      }
      self.init(rawValue: rawValue)
    }
  }

  // MARK: Reading

  package func floor(in transaction: borrowing some Transaction & ~Copyable) throws -> Floor {
    let floor = try read(0, in: transaction) { reader throws(RecordError) in
      Floor(
        number: try reader.read(),
        nonce: try reader.read(),
        commitSum: try reader.read(),
        byteSum: try reader.read()
      )
    }
    guard let floor else {
      throw StoreError(.damaged, "the start of the store's history is missing")
    }
    return floor
  }

  func end(in transaction: borrowing some Transaction & ~Copyable) throws -> End {
    guard let last = try transaction.lastKey(in: database),
      case let number = Key(rawValue: last).number, number > 0
    else {
      let floor = try floor(in: transaction)
      return End(token: floor.token, commitSum: floor.commitSum, byteSum: floor.byteSum)
    }
    guard let header = try header(of: number, in: transaction) else {
      throw StoreError(.damaged, "the history entry of commit \(number) has no first piece")
    }
    return End(
      token: HistoryToken(number: number, nonce: header.nonce),
      commitSum: header.commitSum,
      byteSum: header.byteSum
    )
  }

  /// Whether the table has all changes since the token.
  func reaches(
    _ token: HistoryToken,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let floor = try floor(in: transaction)
    guard !floor.isOff, token.number >= floor.number else { return false }
    guard token.number > floor.number else { return token == floor.token }
    return try header(of: token.number, in: transaction)?.nonce == token.nonce
  }

  /// The size of the entries after a token in bytes; `nil` if the table does not have all of them.
  func size(
    after token: HistoryToken,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> UInt64? {
    guard try reaches(token, in: transaction) else { return nil }
    let start =
      try header(of: token.number, in: transaction)?.byteSum
      ?? floor(in: transaction).byteSum
    return try end(in: transaction).byteSum &- start
  }

  private func header(
    of number: UInt64,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> HistoryEntry? {
    try read(number, in: transaction) { reader throws(RecordError) in
      try HistoryEntry(header: &reader)
    }
  }

  /// Calls `body` with the number and the entry of each commit after `number`.
  ///
  /// The entries have only the changes of one model, or of all.
  package func forEach(
    after number: UInt64,
    of model: String? = nil,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, HistoryEntry) throws -> Void
  ) throws {
    // A token that was taken while the history was off.
    guard number < .max else { return }
    try forEachEncoded(from: number + 1, in: transaction) { number, bytes in
      try body(
        number,
        decode(bytes, number) { reader throws(RecordError) in
          try HistoryEntry(from: &reader, of: model)
        }
      )
    }
  }

  /// Calls `body` with the number and the encoded entry of each commit from `first` on.
  private func forEachEncoded(
    from first: UInt64,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, RawSpan) throws -> Void
  ) throws {
    // The pieces of an entry whose last one has not been read.
    var (number, pieces) = (first, [UInt8]())
    try transaction.forEachEntry(from: Key(number: first).rawValue, in: database) { key, value in
      let key = try Key(found: key)
      if key.number != number, !pieces.isEmpty {
        try pieces.withRawSpan { try body(number, $0) }
        pieces = []
      }
      number = key.number
      // All pieces but the last one have the same size.
      if pieces.isEmpty, value.byteCount < HistoryEntry.pieceSize {
        try body(number, value)
      } else {
        pieces.append(copying: value)
      }
      return true
    }
    if !pieces.isEmpty { try pieces.withRawSpan { try body(number, $0) } }
  }

  // MARK: Writing

  /// Creates the table if the store does not have it.
  package static func make(in transaction: inout WriteTransaction) throws {
    let table = HistoryTable(
      database: try transaction.createDatabase(TableName.history, keys: .integers)
    )
    if try transaction.count(of: table.database) == 0 { try table.restart(in: &transaction) }
  }

  /// Clears the history, which starts again with the commit after this transaction.
  package func restart(in transaction: inout WriteTransaction) throws {
    try restart(after: transaction.id, in: &transaction)
  }

  /// Clears the history and marks it as off.
  func stop(in transaction: inout WriteTransaction) throws {
    guard try !floor(in: transaction).isOff else { return }
    try restart(after: .max, in: &transaction)
  }

  /// Appends the changes of the transaction, and removes the oldest commits beyond the limit.
  func append(
    _ models: [HistoryEntry.ModelEntry],
    limit: HistoryLimit,
    in transaction: inout WriteTransaction
  ) throws {
    guard !models.isEmpty else { return }
    let number = transaction.id
    var floor = try floor(in: transaction)
    var end = try end(in: transaction)
    // A compacted backup of the store numbers its commits from 1 again.
    if floor.isOff || end.token.number >= number {
      try restart(after: number &- 1, in: &transaction)
      floor = try self.floor(in: transaction)
      end = End(token: floor.token, commitSum: floor.commitSum, byteSum: floor.byteSum)
    }
    var encoded = HistoryEntry.encode(models)
    let maximumSize = min(limit.byteCount, Key.maximumPieces * HistoryEntry.pieceSize)
    if encoded.count + HistoryEntry.headerSize > maximumSize {
      encoded = HistoryEntry.encode(models.map { $0.coveringAllObjects })
    }
    // Only differences of the sums matter, so those of a damaged entry may wrap around.
    let commitSum = end.commitSum &+ 1
    let byteSum = end.byteSum &+ UInt64(encoded.count + HistoryEntry.headerSize)
    try trim(from: floor, commitSum: commitSum, byteSum: byteSum, limit: limit, in: &transaction)
    let value = HistoryEntry.encode(
      version: HistoryEntry.version(of: models),
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

  /// Removes the oldest entries when the history exceeds the limit.
  ///
  /// It trims the history to seven eighths of the limit, so that most commits remove nothing.
  private func trim(
    from floor: Floor,
    commitSum: UInt64,
    byteSum: UInt64,
    limit: HistoryLimit,
    in transaction: inout WriteTransaction
  ) throws {
    func isWithin(_ commits: Int, _ byteCount: Int, from floor: Floor) -> Bool {
      commitSum &- floor.commitSum <= UInt64(commits)
        && byteSum &- floor.byteSum <= UInt64(byteCount)
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

  /// Removes the oldest entry and returns the floor after that.
  private func removeOldest(in transaction: inout WriteTransaction) throws -> Floor? {
    guard var key = try key(after: 0, in: transaction) else { return nil }
    let number = Key(rawValue: key).number
    guard let header = try header(of: number, in: transaction) else {
      throw StoreError(.damaged, "the history entry of commit \(number) has no first piece")
    }
    while Key(rawValue: key).number == number {
      try transaction.delete(key, in: database)
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
    guard key < .max else { return nil }
    var next: UInt64?
    try transaction.forEachEntry(from: key + 1, in: database) { key, _ in
      next = try Key(found: key).rawValue
      return false
    }
    return next
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
    try transaction.put(value.span, for: key.rawValue, in: database)
  }

  // MARK: Bytes

  /// Decodes the first piece of an entry; returns `nil` if there is none.
  private func read<Value>(
    _ number: UInt64,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (inout ByteReader) throws(RecordError) -> Value
  ) throws -> Value? {
    try transaction.withValue(of: Key(number: number).rawValue, in: database) { value in
      guard let value else { return nil }
      return try decode(value, number, body)
    }
  }

  func decode<Value>(
    _ bytes: RawSpan,
    _ number: UInt64,
    _ body: (inout ByteReader) throws(RecordError) -> Value
  ) throws -> Value {
    do throws(RecordError) {
      return try ByteReader.reading(bytes, body)
    } catch {
      let code: StoreError.Code = error.code == .unknownCoding ? .tooNew : .damaged
      throw StoreError(code, "the history entry of commit \(number) cannot be read", cause: error)
    }
  }
}

extension HistoryEntry.ModelEntry {
  fileprivate var coveringAllObjects: Self {
    var copy = self
    copy.changes.coverAllObjects()
    return copy
  }
}

extension UInt32 {
  fileprivate static func random() -> UInt32 { random(in: .min ... .max) }
}

/// The maximum length of a store's change history.
///
/// When a commit would exceed either bound, it removes the oldest commits from the history.
///
/// ```swift
/// let limit = HistoryLimit(commits: 100_000, byteCount: 64 << 20)
/// let options = StoreOptions(historyLimit: limit)
/// let store = try Store(at: "/var/lib/notes", models: [Note.self], options: options)
/// ```
public struct HistoryLimit: Sendable, Hashable {
  /// The maximum number of commits; 0 turns the history off.
  public var commits: Int
  /// The maximum size of the entries, in bytes; 0 turns the history off.
  ///
  /// A commit that changes one object takes about 30 bytes.
  public var byteCount: Int

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - commits: The maximum number of commits; 0 turns the history off.
  ///   - byteCount: The maximum size of the entries, in bytes; 0 turns the history off.
  public init(commits: Int = 10_000, byteCount: Int = 16 << 20) {
    self.commits = commits
    self.byteCount = byteCount
  }

  /// A limit of 10,000 commits and 16 MiB.
  public static let standard = HistoryLimit()

  /// No history.
  ///
  /// Commits cost slightly less, but finding the changes of other processes means reading all
  /// objects again: ``Store/changes(since:of:)`` returns ``HistoryResult/expired``.
  public static let off = HistoryLimit(commits: 0, byteCount: 0)

  var isOff: Bool { commits <= 0 || byteCount <= 0 }
}

extension StoreSchema {
  /// The history; `nil` in a store opened read-only that has none.
  var history: HistoryTable? { historyTable.map { HistoryTable(database: $0) } }
}
