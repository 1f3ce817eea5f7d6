internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// Reads how many downloads of an engine remain, for the summary of its progress.
///
/// It reads the store only after a commit, and spends at most a hundredth of the time on it: to
/// count a million index entries takes tens of milliseconds. In between, a download that ends
/// remains no more, so that the numbers of a summary always add up to the same total.
struct QueueCounts {
  /// Remaining downloads up to this number are read for their sizes; of more, only the number is known.
  static let maximumRead = 1000

  private let store: RecordStore
  /// The URLs of the engine's downloads, each once; `nil` for all.
  private let scope: [String]?
  private let scopeSet: URLSet?
  private var commit: UInt64?
  private var earliest: ContinuousClock.Instant?
  /// The remaining downloads and those that have ended: the last two that were read.
  private var totals = (previous: 0, last: 0)
  private var waitingBytes: Int64? = 0

  init(store: RecordStore, scope: [String]?) {
    self.store = store
    self.scope = scope
    scopeSet = scope.map { URLSet($0) }
  }

  /// Counts the downloads that have not ended and are not paused.
  ///
  /// If the store cannot be read, the previous counts are used: the engine reports the error.
  ///
  /// - Parameters:
  ///   - ended: The number of downloads that have ended since the engine was started.
  ///   - now: The time.
  /// - Returns: Their number, and the bytes that those of them that wait have still to receive; `nil`
  ///   bytes if a size is unknown.
  mutating func remaining(
    ended: Int,
    at now: ContinuousClock.Instant = .now
  ) -> (count: Int, waitingBytes: Int64?) {
    if earliest.map({ now >= $0 }) ?? true, let number = try? store.objects.commitNumber(),
      number != commit,
      let counts = try? read(DownloadState.proceeding, bytesOf: DownloadState.awaitingStart)
    {
      totals = (totals.last, counts.count + ended)
      waitingBytes = counts.bytes
      // An end is reported a moment after its commit, so a lower total has to be read twice.
      commit = totals.last < totals.previous ? nil : number
      let cost = now.duration(to: .now)
      earliest = .now + max(.milliseconds(200), cost * 99)
    }
    return (max(0, max(totals.previous, totals.last) - ended), waitingBytes)
  }

  /// Returns the number of downloads that have not ended and are not paused, and their missing bytes;
  /// `nil` bytes if a size is unknown, and `nil` if the store cannot be read.
  ///
  /// It always reads the store: for the end of a run.
  func unfinished() -> (count: Int, bytes: Int64?)? {
    try? read(DownloadState.proceeding, bytesOf: DownloadState.proceeding)
  }

  private func read(
    _ states: [DownloadState],
    bytesOf counted: [DownloadState]
  ) throws -> (count: Int, bytes: Int64?) {
    let isMeant = DownloadRecord.columns.state.isIn(states)
    return try store.objects.read { tx in
      let records: [DownloadRecord]
      if let scope, scope.count <= Self.maximumRead {
        // The index of a store with a million downloads is not counted for a few of them.
        records = try scope.compactMap { try tx.find(DownloadRecord.self, key: $0) }
          .filter { states.contains($0.state) }
      } else if let scope, let scopeSet {
        // Those of the scope are found among the records with the states, or the other way round.
        let stored = try tx.count(Query(isMeant))
        guard stored <= Self.maximumRead else {
          guard scope.count <= stored else {
            let isOfScope = try tx.fetch(Query(isMeant)) { view in
              scopeSet.contains(try view.url)
            }
            return (isOfScope.count { $0 }, nil)
          }
          var count = 0
          for url in scope {
            guard let record = try tx.find(DownloadRecord.self, key: url) else { continue }
            if states.contains(record.state) { count += 1 }
          }
          return (count, nil)
        }
        records = try tx.fetch(Query(isMeant)).filter { scopeSet.contains($0.url) }
      } else {
        let stored = try tx.count(Query(isMeant))
        guard stored <= Self.maximumRead else { return (stored, nil) }
        records = try tx.fetch(Query(isMeant))
      }
      let bytes = records.lazy.filter { counted.contains($0.state) }
        .reduce(Int64?(0)) { sum, record in
          let estimate = ProgressEstimate(received: record.received, expected: record.expected)
          let left = estimate.fraction == nil ? nil : record.expected.map { $0 - record.received }
          return ProgressSummary.sum(sum, left)
        }
      return (records.count, bytes)
    }
  }
}
