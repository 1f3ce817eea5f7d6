package import LMDB
internal import SystemInterface

extension HistoryTable {
  /// Reads every entry and reports damage to `note`.
  ///
  /// - Throws: ``StoreError`` with `tooNew` when a later version of the library wrote an entry;
  ///   `CancellationError` when the task is cancelled.
  /// - Complexity: O(n) in the size of the history in bytes.
  package func verify(
    in transaction: borrowing some Transaction & ~Copyable,
    note: (String) -> Void
  ) throws {
    guard let floor = try notingDamage(note, { try floor(in: transaction) }) else { return }
    var audit = Audit(floor)
    var pieces = Pieces(number: 0)
    try transaction.forEachEntry(from: 0, in: database) { key, value in
      try Task.checkCancellation()
      guard let key = try notingDamage(note, { try Key(found: key) }) else { return true }
      if key.number != pieces.number {
        try finish(pieces, &audit, note)
        pieces = Pieces(number: key.number)
      }
      if key.piece != pieces.count || pieces.bytes.count % HistoryEntry.pieceSize != 0 {
        note("the history entry of commit \(key.number) is incomplete")
      }
      pieces.count = key.piece + 1
      pieces.bytes.append(copying: value)
      return true
    }
    try finish(pieces, &audit, note)
  }

  /// The pieces of an entry that were read.
  private struct Pieces {
    var number: UInt64
    var count: UInt64 = 0
    var bytes: [UInt8] = []
  }

  private func finish(_ pieces: Pieces, _ audit: inout Audit, _ note: (String) -> Void) throws {
    let number = pieces.number
    guard number > 0 else { return }
    let read = try notingDamage(note) {
      try pieces.bytes.withRawSpan { bytes in
        try decode(bytes, number) { reader throws(RecordError) in try HistoryEntry(from: &reader) }
      }
    }
    audit.add(read, of: number, size: pieces.bytes.count, note)
  }

  /// A check of the running totals of the entries.
  private struct Audit {
    private let floor: Floor
    /// The possible totals as of the previous entry.
    ///
    /// After an entry with unexpected totals there are two: the stored and the expected ones. After
    /// an entry that cannot be read there are none, and the next entry is not checked.
    private var sums: Set<Sums>

    private struct Sums: Hashable {
      var commits: UInt64
      var bytes: UInt64
    }

    init(_ floor: Floor) {
      self.floor = floor
      sums = [Sums(commits: floor.commitSum, bytes: floor.byteSum)]
    }

    mutating func add(
      _ entry: HistoryEntry?,
      of number: UInt64,
      size: Int,
      _ note: (String) -> Void
    ) {
      if floor.isOff || number <= floor.number {
        note("the history has an entry of commit \(number), which is before its start")
      }
      guard let entry else {
        sums = []
        return
      }
      let stored = Sums(commits: entry.commitSum, bytes: entry.byteSum)
      let expected = sums.map {
        Sums(commits: $0.commits &+ 1, bytes: $0.bytes &+ UInt64(size))
      }
      sums = [stored]
      if !expected.isEmpty, !expected.contains(stored) {
        note("the totals in the history entry of commit \(number) do not match the entries")
        sums.formUnion(expected)
      }
    }
  }

  /// Returns the result of `body`, or reports damage that it finds and returns `nil`.
  private func notingDamage<R>(_ note: (String) -> Void, _ body: () throws -> R) throws -> R? {
    do {
      return try body()
    } catch let error as StoreError where error.code == .damaged {
      note("\(error)")
      return nil
    }
  }
}
