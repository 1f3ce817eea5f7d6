internal import LMDB
internal import Synchronization

/// Counts what one store value does, for ``StoreStatistics/transactions``.
final class TransactionMetrics: Sendable {
  /// A clock reading costs more than the rest of a read, so reads are counted alone.
  private let reads = Atomic<Int>(0)
  /// Held while a time is added, never while it is taken.
  private let timings = Guarded(StoreStatistics.Transactions())

  /// Everything so far.
  var transactions: StoreStatistics.Transactions {
    var transactions = timings.withLock { $0 }
    transactions.reads = reads.load(ordering: .relaxed)
    return transactions
  }

  @inline(__always)
  func countRead() {
    reads.wrappingAdd(1, ordering: .relaxed)
  }

  /// What takes its time.
  enum Span {
    case writeWait
    case write
    case commit
  }

  /// Adds the time since `start`.
  func add(_ span: Span, since start: ContinuousClock.Instant) {
    let duration = start.duration(to: .now)
    timings.withLock { timings in
      switch span {
      case .writeWait: timings.writeWaits.add(duration)
      case .write: timings.writes.add(duration)
      case .commit: timings.commits.add(duration)
      }
    }
  }
}

extension StoreStatistics.Timing {
  mutating func add(_ duration: Duration) {
    shortest = count == 0 ? duration : min(shortest, duration)
    longest = max(longest, duration)
    last = duration
    total += duration
    count += 1
  }
}
