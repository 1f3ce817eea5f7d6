internal import DownloadStore
internal import ObjectStore

/// Reads how many downloads of an engine wait, for the summary of its progress.
///
/// It reads the store only after a commit, and spends at most a hundredth of the time on it: to
/// count a million index entries takes tens of milliseconds.
struct QueueCounts {
  /// Waiting downloads up to this number are read for their sizes; of more, only the number is.
  static let maximumRead = 1000

  private let store: RecordStore
  /// The URLs of the engine's downloads; `nil` for all.
  private let scope: Set<String>?
  private var commit: UInt64?
  private var earliest: ContinuousClock.Instant?
  private var last = (count: 0, bytes: Int64?(0))

  init(store: RecordStore, scope: Set<String>?) {
    self.store = store
    self.scope = scope
  }

  /// Returns the number of waiting downloads, and the bytes that they have still to receive; `nil`
  /// bytes if a size is unknown.
  ///
  /// If the store cannot be read, the previous counts are returned: the engine reports the error.
  mutating func read(at now: ContinuousClock.Instant = .now) -> (count: Int, bytes: Int64?) {
    if let earliest, now < earliest { return last }
    guard let number = try? store.objects.commitNumber(), number != commit,
      let counts = try? read(from: store)
    else { return last }
    commit = number
    last = counts
    let cost = now.duration(to: .now)
    earliest = .now + max(.milliseconds(200), cost * 99)
    return last
  }

  private func read(from store: RecordStore) throws -> (count: Int, bytes: Int64?) {
    try read(DownloadState.awaitingStart, from: store)
  }

  /// Returns the number of downloads that have not ended and are not paused, and their missing bytes
  /// as in ``read(at:)``; `nil` if the store cannot be read.
  ///
  /// It always reads the store: for the end of a run.
  func unfinished() -> (count: Int, bytes: Int64?)? {
    try? read(DownloadState.proceeding, from: store)
  }

  private func read(
    _ states: [DownloadState],
    from store: RecordStore
  ) throws -> (count: Int, bytes: Int64?) {
    let isWaiting = DownloadRecord.columns.state.isIn(states)
    return try store.objects.read { tx in
      let records: [DownloadRecord]
      if let scope, scope.count <= Self.maximumRead {
        records = try scope.compactMap { try tx.find(DownloadRecord.self, key: $0) }
          .filter { states.contains($0.state) }
      } else {
        let count = try tx.count(Query(isWaiting))
        guard count <= Self.maximumRead else { return (count, nil) }
        records = try tx.fetch(Query(isWaiting))
      }
      let bytes = records.reduce(Int64?(0)) { sum, record in
        let estimate = ProgressEstimate(received: record.received, expected: record.expected)
        let left = estimate.fraction == nil ? nil : record.expected.map { $0 - record.received }
        return ProgressSummary.sum(sum, left)
      }
      return (records.count, bytes)
    }
  }
}
