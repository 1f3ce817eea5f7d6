public import DownloadStore
internal import ObjectStore

/// The records of some downloads as an engine runs them, in this or in another process.
///
/// The first element contains the records as they are; each further element follows a commit that has
/// changed one of them. Records that do not exist are left out. The bytes of a running download are
/// those of its last checkpoint, so they follow at least once per second.
///
/// The sequence ends when each download has ended or is paused, when no engine runs on the store, and
/// when the reading task is cancelled. Its last element contains the final records in the first two
/// cases. It does not start an engine: if some downloads have not ended, the engine that ran them has,
/// and the reader may start its own.
///
/// ```swift
/// for try await records in store.updates(of: [url]) {
///   for record in records { print(record.filename, record.state, record.received) }
/// }
/// ```
///
/// Notifications of the store wake the reader: after a commit, and when the engine ends. Reading one
/// element costs a lookup for each download. The store is read only after a commit, and at most a tenth
/// of the time.
public struct DownloadUpdates: AsyncSequence, Sendable {
  let store: RecordStore
  let urls: [String]
  let interval: Duration

  /// Starts following the downloads.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, urls: urls, interval: interval)
  }

  /// Reads the records after commits.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: RecordStore
    private let interval: Duration
    private var records: PacedRecords
    private var wakes: FollowWakes?
    /// When the store may be read again.
    private var earliest = ContinuousClock.now
    private var hasEnded = false

    fileprivate init(store: RecordStore, urls: [String], interval: Duration) {
      (self.store, self.interval) = (store, interval)
      records = PacedRecords(store, urls)
    }

    /// Returns the current records at the first call, and then waits for a change; `nil` at the end.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    public mutating func next() async throws -> [DownloadRecord]? {
      while !hasEnded {
        if let wakes {
          // A cancelled sleep ends the sequence.
          let start = Swift.max(earliest, records.earliest)
          do { try await Task.sleep(until: start, clock: .continuous) } catch { return nil }
          await wakes.next()
          if Task.isCancelled { return nil }
        } else {
          // The first look at the lock follows, so its holder cannot end unnoticed.
          wakes = FollowWakes(store)
        }
        earliest = .now + interval
        // In this order, the last commits of an engine that has ended are read.
        let isRunning = EngineLock.holder(storePath: store.path) != nil
        let isChanged = try await records.read()
        hasEnded = !isRunning || records.last.allSatisfy(\.needsCommand)
        if isChanged { return records.last }
      }
      return nil
    }
  }
}

extension DownloadRecord {
  /// Whether nothing more happens to the download without a command.
  package var needsCommand: Bool {
    switch state {
    case .completed, .failedPermanent, .paused, .cancelled, .removed: true
    case .waiting: isHeld
    case .running, .failedRetryable, .finalizing: false
    }
  }
}

extension RecordStore {
  /// Follows downloads that an engine runs, in this or in another process.
  ///
  /// For a program that never downloads itself;
  /// `RecordStore.downloads(_:transport:options:every:)` also runs an engine if no other process does.
  ///
  /// ```swift
  /// for try await records in store.updates(of: urls) { show(records) }
  /// ```
  ///
  /// - Parameters:
  ///   - urls: The URLs of the downloads.
  ///   - interval: The minimum time between two looks at the store.
  /// - Returns: A sequence that ends when the downloads or the engine have ended; see
  ///   ``DownloadUpdates``.
  public func updates(
    of urls: [String],
    every interval: Duration = .milliseconds(200)
  ) -> DownloadUpdates {
    DownloadUpdates(store: self, urls: urls, interval: interval)
  }
}
