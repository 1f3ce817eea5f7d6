internal import LMDB
internal import SystemInterface

/// The transactions of one ``Store`` value since it was opened.
///
/// Other values that have the same store open, in this process or another, count their own.
/// Writes that wait at the same time can share a commit, so there can be fewer commits than
/// writes.
public struct TransactionStatistics: Sendable, Hashable {
  /// The count and the durations of one kind of operation.
  public struct Timing: Sendable, Hashable {
    /// The number of operations.
    public var count = 0
    /// The sum of all durations.
    public var total = Duration.zero
    /// The shortest duration; zero before the first operation.
    public var shortest = Duration.zero
    /// The longest duration; zero before the first operation.
    public var longest = Duration.zero
    /// The duration of the last operation to end; zero before the first operation.
    public var last = Duration.zero

    /// The mean duration; zero before the first operation.
    public var mean: Duration { count == 0 ? .zero : total / count }

    /// Creates a timing of no operations.
    package init() {}
  }

  /// The number of snapshots taken by reads, observations and ``Store/snapshot()``.
  public var reads = 0
  /// The waits for write transactions of other threads and processes, one per transaction.
  public var writeWaits = Timing()
  /// The runs of the closures of writes, including closures that threw.
  public var writes = Timing()
  /// The commits that changed something, including the time to sync.
  public var commits = Timing()

  /// Creates counts of no transactions.
  package init() {}
}

/// A reader, in any process, that has a snapshot open.
public struct SnapshotReader: Sendable, Hashable {
  /// The id of the process.
  public var processID: Int32
  /// The number of commits after the snapshot.
  ///
  /// Pages that those commits freed cannot be reused until the snapshot is closed.
  public var ageInCommits: UInt64
}

extension Environment {
  /// The open snapshots of all processes, oldest first; `last` is the commit that ages count from.
  package func snapshotReaders(asOf last: UInt64) -> [SnapshotReader] {
    let readers = readers().compactMap { reader in
      reader.transactionID.map { commit in
        SnapshotReader(
          processID: reader.processID,
          ageInCommits: last - min(commit, last)
        )
      }
    }
    return readers.sorted { $0.ageInCommits > $1.ageInCommits }
  }
}

/// The counters behind ``StoreStatistics/transactions``.
package final class TransactionMetrics: Sendable {
  /// Reads are counted but not timed: reading the clock costs more than opening a snapshot.
  private let reads = Atomic<Int>(0)
  private let timings = Mutex(TransactionStatistics())

  /// A copy of all counters.
  package var transactions: TransactionStatistics {
    var transactions = timings.withLock { $0 }
    transactions.reads = reads.load(ordering: .relaxed)
    return transactions
  }

  @inline(__always)
  func countRead() {
    reads.wrappingAdd(1, ordering: .relaxed)
  }

  /// A timed phase of a write.
  enum Phase {
    case writeWait
    case write
    case commit
  }

  /// Adds the time from `start` until now to the timing of the phase.
  func add(_ phase: Phase, since start: ContinuousClock.Instant) {
    let duration = start.duration(to: .now)
    timings.withLock { timings in
      switch phase {
      case .writeWait: timings.writeWaits.add(duration)
      case .write: timings.writes.add(duration)
      case .commit: timings.commits.add(duration)
      }
    }
  }
}

extension TransactionStatistics.Timing {
  mutating func add(_ duration: Duration) {
    shortest = count == 0 ? duration : min(shortest, duration)
    longest = max(longest, duration)
    last = duration
    total += duration
    count += 1
  }
}
