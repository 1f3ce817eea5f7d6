internal import DownloadStore
internal import ObjectStore

/// The records of some downloads, which are read only after a commit.
///
/// A caller that waits until ``earliest`` before each read spends at most a tenth of the time on it.
struct PacedRecords: Sendable {
  private let store: RecordStore
  private let urls: [String]
  /// The number of the commit that ``last`` contains.
  private var commit: UInt64?
  /// The records that were read last, without those that do not exist.
  private(set) var last: [DownloadRecord] = []
  /// When the records should be read again at the earliest.
  private(set) var earliest = ContinuousClock.now

  /// Creates a reader, which has read nothing yet.
  init(_ store: RecordStore, _ urls: [String]) {
    (self.store, self.urls) = (store, urls)
  }

  /// Reads the records if the store has a new commit.
  ///
  /// - Returns: Whether this was the first read, or a record has changed.
  /// - Throws: `StoreError`.
  /// - Complexity: O(records) after a commit.
  mutating func read() async throws -> Bool {
    let number = try store.objects.commitNumber()
    guard number != commit else { return false }
    let isFirst = commit == nil
    let start = ContinuousClock.now
    let urls = urls
    let records = try await store.objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }
    }
    earliest = .now + start.duration(to: .now) * 9
    commit = number
    guard isFirst || records != last else { return false }
    last = records
    return true
  }
}
