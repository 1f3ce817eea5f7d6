package import LMDB

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
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      try Task.checkCancellation()
      guard let key = try notingDamage(note, { unsafe try Key(found.key) }) else {
        unsafe entry = unsafe try cursor.next()
        continue
      }
      var bytes: [UInt8] = []
      var pieces: UInt64 = 0
      while let piece = unsafe entry, let next = unsafe try? Key(piece.key),
        next.number == key.number
      {
        if next.piece != pieces || bytes.count % HistoryEntry.pieceSize != 0 {
          note("the history entry of commit \(key.number) is incomplete")
        }
        pieces = next.piece + 1
        unsafe bytes.append(contentsOf: piece.value)
        unsafe entry = unsafe try cursor.next()
      }
      guard key.number > 0 else { continue }
      let read = try notingDamage(note) {
        try unsafe bytes.withUnsafeBytes { bytes in
          unsafe try decode(bytes, key.number) { reader throws(RecordError) in
            try HistoryEntry(from: &reader)
          }
        }
      }
      audit.add(read, of: key.number, size: bytes.count, note)
    }
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
