internal import LMDB

extension HistoryTable {
  /// Reads every entry, and tells of those that are not what they must be.
  ///
  /// - Throws: ``StoreError`` with `tooNew`; `CancellationError` when the task is cancelled.
  /// - Complexity: O(n) in the bytes of the history.
  func verify(
    in transaction: borrowing some Transaction & ~Copyable,
    note: (String) -> Void
  ) throws {
    guard let floor = try sound(note, { try floor(in: transaction) }) else { return }
    var audit = Audit(floor)
    let cursor = unsafe try transaction.cursor(on: database)
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      try Task.checkCancellation()
      guard let key = try sound(note, { unsafe try Key(found.key) }) else {
        unsafe entry = unsafe try cursor.next()
        continue
      }
      var bytes: [UInt8] = []
      var pieces: UInt64 = 0
      while let piece = unsafe entry, let next = unsafe try? Key(piece.key),
        next.number == key.number
      {
        if next.piece != pieces || bytes.count % HistoryEntry.pieceSize != 0 {
          note("the entry of commit \(key.number) in the history is not whole")
        }
        pieces = next.piece + 1
        unsafe bytes.append(contentsOf: piece.value)
        unsafe entry = unsafe try cursor.next()
      }
      guard key.number > 0 else { continue }
      let read = try sound(note) {
        try unsafe bytes.withUnsafeBytes { bytes in
          unsafe try decode(bytes, key.number) { reader throws(RecordError) in
            try HistoryEntry(from: &reader)
          }
        }
      }
      audit.add(read, of: key.number, size: bytes.count, note)
    }
  }

  /// Adds up what the entries say of those before them.
  private struct Audit {
    private let floor: Floor
    /// The sums so far; two when an entry has not those that it should have, none when an entry cannot
    /// be read.
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
        note("the history has commit \(number), which lies before its beginning")
      }
      guard let entry else {
        sums = []
        return
      }
      let said = Sums(commits: entry.commitSum, bytes: entry.byteSum)
      let expected = sums.map {
        Sums(commits: $0.commits &+ 1, bytes: $0.bytes &+ UInt64(size))
      }
      sums = [said]
      if !expected.isEmpty, !expected.contains(said) {
        note("what commit \(number) changed has another size than the history counts")
        sums.formUnion(expected)
      }
    }
  }

  /// What `body` gives; `nil` when it finds damage, which is told of.
  private func sound<R>(_ note: (String) -> Void, _ body: () throws -> R) throws -> R? {
    do {
      return try body()
    } catch let error as StoreError where error.code == .damaged {
      note("\(error)")
      return nil
    }
  }
}
