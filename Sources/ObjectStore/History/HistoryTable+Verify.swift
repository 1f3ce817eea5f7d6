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
    let cursor = unsafe try transaction.cursor(on: database)
    // The sum so far; two when an entry has not the one that it should have, none when an entry
    // cannot be read.
    var byteSums: Set = [floor.byteSum]
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      try Task.checkCancellation()
      let size = unsafe found.value.count
      if let number = try sound(note, { unsafe try Self.number(found.key) }), number > 0 {
        if floor.isOff || number <= floor.number {
          note("the history has commit \(number), which lies before its beginning")
        }
        let read = try sound(note) {
          unsafe try decode(found.value, number) { reader throws(RecordError) in
            try HistoryEntry(from: &reader)
          }
        }
        byteSums = Set(byteSums.map { $0 &+ UInt64(size) })
        if let read, byteSums.isEmpty || byteSums.contains(read.byteSum) {
          byteSums = [read.byteSum]
        } else if let read {
          note("what commit \(number) changed has another size than the history counts")
          byteSums.insert(read.byteSum)
        } else {
          byteSums = []
        }
      }
      unsafe entry = unsafe try cursor.next()
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
