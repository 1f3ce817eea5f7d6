internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The number of a store's downloads by state.
///
/// The index on the state has one entry per download, so the most frequent state, as of the previous
/// count, is not counted but follows from the number of all downloads. Counting takes at most a
/// twentieth of the time.
struct StateCounts: Sendable {
  /// The numbers.
  private(set) var counts: [DownloadState: Int] = [:]
  /// The state that had the most downloads; `nil` before the first count.
  private var largest: DownloadState?
  private var earliest: ContinuousClock.Instant?

  /// Whether the numbers may be counted again.
  func isDue(at now: ContinuousClock.Instant) -> Bool { earliest.map { $0 <= now } ?? true }

  /// Counts the downloads in a snapshot.
  ///
  /// - Throws: `StoreError`.
  mutating func update(in tx: inout Snapshot) throws {
    let start = ContinuousClock.now
    var found: [DownloadState: Int] = [:]
    for state in DownloadState.allCases where state != largest {
      found[state] = try tx.count(DownloadRecord.where { $0.state == state })
    }
    if let largest {
      found[largest] = try tx.count(DownloadRecord.all) - found.values.reduce(0, +)
    }
    counts = found
    largest = found.max { $0.value < $1.value }?.key
    let now = ContinuousClock.now
    earliest = now + start.duration(to: now) * 19
  }

  /// The numbers by the words of the states.
  func words(engineRuns: Bool) -> [String: Int] {
    var words: [String: Int] = [:]
    for (state, count) in counts where state != .removed {
      words[state.word(engineRuns: engineRuns), default: 0] += count
    }
    return words
  }
}
