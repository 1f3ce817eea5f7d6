internal import ObjectStore

/// The number of the records in one state, and the bytes that they have on disk.
package struct StateTotals: Sendable, Hashable {
  /// The name of the state, one of ``DownloadState/words``.
  package var word: String
  /// The number of records.
  package var recordCount: Int
  /// The sum of the committed byte counts, clamped to `Int64.max`.
  package var byteCount: Int64

  /// Creates totals.
  package init(word: String, recordCount: Int, byteCount: Int64) {
    self.word = word
    self.recordCount = recordCount
    self.byteCount = byteCount
  }
}

extension RecordStore {
  /// Returns the totals of each visible state, in the order in which a download passes through
  /// them.
  ///
  /// - Parameter engineRuns: Whether an engine runs on the store; see
  ///   ``DownloadState/word(engineRuns:)``.
  /// - Returns: The totals.
  /// - Throws: `StoreError`.
  /// - Complexity: O(n) in the records, of which it reads only the index on the state and the hot
  ///   parts.
  package func totals(engineRuns: Bool) throws -> [StateTotals] {
    try objects.read { tx in
      try DownloadState.words.map { word in
        var totals = StateTotals(word: word, recordCount: 0, byteCount: 0)
        for state in DownloadState.states(named: word, engineRuns: engineRuns) {
          let records = DownloadRecord.where { $0.state == state }
          let count = try tx.count(records)
          totals.recordCount += count
          guard count > 0 else { continue }
          totals.byteCount.add(try tx.receivedBytes(of: records))
        }
        return totals
      }
    }
  }
}

extension ObjectReader where Self: ~Copyable {
  fileprivate func receivedBytes(of records: Query<DownloadRecord>) throws -> Int64 {
    do {
      return try sum(records, of: \.received)
    } catch let error as StoreError where error.code == .overflow {
      return .max
    }
  }
}

extension Int64 {
  /// Adds a number of bytes, clamped to `Int64.max`.
  fileprivate mutating func add(_ count: Int64) {
    let (sum, overflow) = addingReportingOverflow(count)
    self = overflow ? .max : sum
  }
}
