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
/// Reading one element costs a lookup for each download. The store is read only after a commit, and at
/// most a tenth of the time.
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
    /// How often the engine lock is examined, which takes a few system calls.
    private static let lockInterval = Duration.milliseconds(500)

    private let store: RecordStore
    private let urls: [String]
    private let interval: Duration
    /// The number of the commit that ``last`` contains.
    private var commit: UInt64?
    private var last: [DownloadRecord]?
    /// When the store may be read again.
    private var earliest = ContinuousClock.now
    private var lockTime = ContinuousClock.now
    private var hasEnded = false

    fileprivate init(store: RecordStore, urls: [String], interval: Duration) {
      (self.store, self.urls, self.interval) = (store, urls, interval)
    }

    /// Returns the current records at the first call, and then waits for a change; `nil` at the end.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    public mutating func next() async throws -> [DownloadRecord]? {
      while !hasEnded {
        if last != nil {
          // A cancelled sleep ends the sequence.
          do { try await Task.sleep(for: interval) } catch { return nil }
        }
        // In this order, the last commits of an engine that has ended are read.
        let isRunning = examineLock()
        let isChanged = try await read(now: !isRunning)
        hasEnded = !isRunning || last?.allSatisfy(\.needsCommand) == true
        if isChanged { return last }
      }
      return nil
    }

    /// Whether an engine runs on the store, as of the last examination.
    private mutating func examineLock() -> Bool {
      guard last == nil || ContinuousClock.now >= lockTime else { return true }
      lockTime = .now + Self.lockInterval
      return EngineLock.holder(storePath: store.path) != nil
    }

    /// Reads the records after a commit, and returns whether they have changed.
    ///
    /// Unless they are needed now, many records are read at most a tenth of the time.
    private mutating func read(now isNeeded: Bool) async throws -> Bool {
      let number = try store.objects.commitNumber()
      let start = ContinuousClock.now
      guard number != commit, isNeeded || start >= earliest else { return false }
      let urls = urls
      let records = try await store.objects.read { tx in
        try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }
      }
      earliest = .now + start.duration(to: .now) * 9
      commit = number
      guard records != last else { return false }
      last = records
      return true
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
  ///   - interval: The time between two looks at the store.
  /// - Returns: A sequence that ends when the downloads or the engine have ended; see
  ///   ``DownloadUpdates``.
  public func updates(
    of urls: [String],
    every interval: Duration = .milliseconds(200)
  ) -> DownloadUpdates {
    DownloadUpdates(store: self, urls: urls, interval: interval)
  }
}
