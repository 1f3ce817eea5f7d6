public import DownloadStore
internal import SystemInterface

/// The state of downloads that several processes may wait for.
///
/// ```swift
/// for try await progress in store.downloads(.all, transport: transport) {
///   for case .completed(let record) in progress.events { print(record.filename, "is complete") }
///   print(progress.received, "of", progress.expected ?? 0, "bytes")
/// }
/// ```
public struct SharedProgress: Sendable, Hashable {
  /// The records of the downloads, in the order of the selection, without those that were removed.
  ///
  /// Their bytes are those of the last checkpoint. They are read at most a tenth of the time, so an
  /// event may be newer. Those of the last element are current.
  public var records: [DownloadRecord]
  /// The transfers that are running.
  ///
  /// With the bytes that have arrived so far if ``isLeading``, else with those of the last checkpoint.
  public var transfers: [DownloadProgress]
  /// The events of the downloads since the previous element, in order.
  ///
  /// The first element has an event for each download that has ended before. If the engine of another
  /// process runs the downloads, the events are derived from its commits: only the last of several
  /// attempts between two looks is reported.
  public var events: [DownloadEvent] = []
  /// Whether the engine of this process runs the downloads.
  public var isLeading: Bool
  /// The other process whose engine runs, such as `process 4711`; `nil` if there is none.
  public var leader: String?
  /// The counts of downloads that are newer than their records, by the id of the record.
  var live: [String: GroupTally.Member] = [:]

  /// The number of bytes received of all downloads.
  ///
  /// Decreases only if bytes are dropped, for example because a download restarts.
  public var received: Int64 {
    let sum = records.reduce(Int128(0)) { $0 + Int128(live[$1.id]?.received ?? $1.received) }
    return Int64(clamping: sum)
  }

  /// The number of bytes of all downloads; `nil` while the size of one is unknown.
  public var expected: Int64? {
    // Sizes come from servers, so their sum may overflow.
    var sum: Int128 = 0
    for record in records {
      guard let size = live[record.id]?.expected ?? record.expected else { return nil }
      sum += Int128(size)
    }
    return Int64(clamping: sum)
  }

  /// The speed of all transfers in bytes per second; `nil` before it can be measured.
  public var bytesPerSecond: Double? {
    let speeds = transfers.compactMap(\.bytesPerSecond)
    return speeds.isEmpty ? nil : speeds.reduce(0, +)
  }

  /// The fraction received, the speed and the remaining time.
  ///
  /// ```swift
  /// for try await progress in store.downloads(.all, transport: transport) {
  ///   if let percentage = progress.estimate.percentage { print(percentage, "%") }
  /// }
  /// ```
  public var estimate: ProgressEstimate {
    ProgressEstimate(received: received, expected: expected, bytesPerSecond: bytesPerSecond)
  }
}

/// Passes the state of shared downloads from the run to its consumer.
///
/// A slow consumer gets the latest state, with all events since the previous one, up to the capacity
/// of an ``EventBuffer``.
final class SharedOutput: Sendable {
  /// The next thing for the consumer.
  enum Next {
    case element(SharedProgress)
    case end(Result<Void, any Error>)
    /// Nothing yet: call ``wait()``.
    case nothing
  }

  private struct State {
    var latest: SharedProgress?
    var isNew = false
    var events = EventBuffer(capacity: 1_024)
    var end: Result<Void, any Error>?
  }

  // Held only while a state is stored or taken.
  private let state = Mutex(State())
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init() {
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Stores a state, with the events that led to it.
  func report(_ progress: SharedProgress, _ events: [DownloadEvent] = []) {
    state.withLock { state in
      state.latest = progress
      state.isNew = true
      for event in events { state.events.append(event) }
    }
    signal.yield()
  }

  /// Adds an event of the engine of this process to the latest state.
  func note(_ event: DownloadEvent) {
    state.withLock { state in
      state.events.append(event)
      state.isNew = state.latest != nil
      if event.endsTransfer { state.latest?.transfers.removeAll { $0.url == event.url } }
    }
    signal.yield()
  }

  /// Ends the sequence, after the latest state.
  func end(_ result: Result<Void, any Error>) {
    state.withLock { $0.end = result }
    signal.yield()
  }

  /// Returns the latest state once, and then the end.
  func next() -> Next {
    state.withLock { state in
      if state.isNew, var latest = state.latest {
        state.isNew = false
        while let event = state.events.next() { latest.events.append(event) }
        return .element(latest)
      }
      defer { if state.end != nil { state.end = .success(()) } }
      return state.end.map { .end($0) } ?? .nothing
    }
  }

  /// Waits for a change; returns early if the task is cancelled.
  func wait() async {
    for await _ in signals { return }
  }
}

extension DownloadEvent {
  /// Whether the download of the event has no transfer any more.
  fileprivate var endsTransfer: Bool {
    switch self {
    case .completed, .unchanged, .retrying, .failed, .waitingForDiskSpace, .released: true
    case .started, .copying, .rolledBack, .interceptorFailed, .missed: false
    }
  }
}
