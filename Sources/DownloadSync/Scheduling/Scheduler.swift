/// Chooses which downloads start, and which running downloads are preempted for them.
///
/// Pure: the free slots are computed for each decision from the running downloads.
struct Scheduler: Sendable {
  /// The properties of a download that decide when it starts.
  struct Candidate: Sendable, Hashable {
    /// The record's id.
    var recordID: String = ""
    /// The record's URL.
    var url: String
    /// Scheme, host and port.
    var origin: String
    /// Higher starts first.
    var priority: Int32
    /// The order of arrival, within a priority.
    var order: Int
    /// Whether the process crashed while a transfer of this download was running.
    var isSuspect = false
    /// Whether it is a crash suspect beside which no other download may run.
    var runsAlone = false
    /// Whether it gave its slot up because it was slow: any other download starts before it.
    var wasSlow = false
    /// Whether the user asked to start this download before all others, preempting one if
    /// necessary.
    var startsImmediately = false
    /// The volume of its file.
    var volume: UInt64 = 0
    /// The number of missing bytes; `nil` when the size is unknown.
    var missingBytes: Int64?
  }

  /// A download that has a slot.
  struct Running: Sendable, Hashable {
    var candidate: Candidate
    /// When it started, in the same count as ``Candidate/order``.
    var started: Int
    /// Whether its transfer was asked to end, which frees the slot.
    var isEnding = false
    /// The number of its connections; those that were asked to end count until they have ended.
    var connectionCount = 1
    /// Those of them to other servers than the candidate's, by origin.
    var mirrorConnections: [String: Int] = [:]
    /// The number of connections that were asked to end, although the download continues.
    var endingConnectionCount = 0
    /// Whether it is so slow that it gives its slot up when another download waits for one.
    var isSlow = false

    /// The number of its connections to a server.
    func connectionCount(to origin: String) -> Int {
      guard origin == candidate.origin else { return mirrorConnections[origin, default: 0] }
      return connectionCount - mirrorConnections.values.reduce(0, +)
    }

    /// The number of its connections, to a server or to all, that it can do without.
    fileprivate func spareCount(to origin: String?) -> Int {
      guard let origin else { return connectionCount - 1 }
      return connectionCount(to: origin) - (origin == candidate.origin ? 1 : 0)
    }
  }

  /// One decision.
  enum Step: Sendable, Hashable {
    /// Start the download, which has been removed from the queue.
    case start(Candidate)
    /// End the running download with this URL; it is held until the user resumes it. Another
    /// download takes its slot when it has ended.
    case preempt(url: String)
    /// End the running download with this URL, which continues when a slot is free again. Another
    /// download takes its slot when it has ended.
    case suspend(url: String)
    /// A slot is free, but no connection: end one of the running download with this URL.
    ///
    /// - `origin`: The server of the connection; `nil` for any.
    case endConnection(url: String, origin: String?)
    /// A slot is free, but no connection, and one is about to end; or a crash suspect waits for
    /// others to end.
    case awaitConnection
  }

  let limits: ConcurrencyLimits

  /// The next step, given the running downloads; `nil` when there is nothing to do.
  ///
  /// The caller carries out the step, adds it to `running`, and calls again.
  ///
  /// Only one crash suspect starts at a time, and nothing starts beside it: if the process crashes
  /// again, the cause is known. Downloads that are not suspects, and already run, continue, unless
  /// the suspect has to run alone.
  ///
  /// A slow download gives its slot up to one that waits and was not slow itself. So slow servers
  /// cannot hold all slots, and slow downloads do not take turns.
  ///
  /// A download that starts immediately preempts the download that has run longest, if that one
  /// started before the request to start immediately. So downloads that were requested together do
  /// not preempt each other.
  ///
  /// - Parameters:
  ///   - queue: The waiting downloads.
  ///   - running: The downloads that have a slot.
  ///   - mayStart: Whether the first download with a free slot starts; if not, nothing does. Not
  ///     asked about crash suspects.
  /// - Returns: The step.
  /// - Complexity: O(r + h log n) for r running downloads, h hosts without a free slot, and n
  ///   waiting downloads.
  func next(
    _ queue: inout ReadyQueue,
    running: [Running],
    mayStart: (Candidate) -> Bool = { _ in true }
  ) -> Step? {
    guard !running.contains(where: \.candidate.isSuspect) else { return nil }
    let slots = Slots(limits, running)
    if let suspect = queue.firstSuspect(where: { $0.runsAlone || slots.hasFreeSlot(for: $0) }) {
      if suspect.runsAlone, !running.isEmpty {
        let next = running.filter { !$0.isEnding }.min { $0.started < $1.started }
        return next.map { .suspend(url: $0.candidate.url) } ?? .awaitConnection
      }
      if let step = slots.stepToFreeConnection(for: suspect) { return step }
      queue.remove(suspect.url)
      return .start(suspect)
    }
    var passed: [ReadyQueue.Head] = []
    defer { queue.putBack(passed) }
    while let head = queue.popHead(), let candidate = queue[head] {
      if slots.hasFreeSlot(for: candidate) {
        guard mayStart(candidate) else {
          passed.append(head)
          return nil
        }
        if let step = slots.stepToFreeConnection(for: candidate) {
          passed.append(head)
          return step
        }
        queue.take(head)
        return .start(candidate)
      }
      passed.append(head)
      if let url = slots.urlToSuspend(for: candidate) { return .suspend(url: url) }
      if candidate.startsImmediately, let url = slots.urlToPreempt(for: candidate) {
        return .preempt(url: url)
      }
      // Of the following heads, none starts immediately, or none finds more to preempt.
      if slots.isFull, !candidate.startsImmediately || passed.count > running.count { return nil }
    }
    return nil
  }
}

extension Scheduler {
  /// Whether another download from any host may start.
  func hasFreeSlot(beside running: [Running]) -> Bool {
    running.count < limits.maximumRunning && !running.contains(where: \.candidate.isSuspect)
  }

  /// Whether another download from an origin may start.
  func hasFreeSlot(for origin: String, beside running: [Running]) -> Bool {
    hasFreeSlot(beside: running)
      && running.count { $0.candidate.origin == origin } < limits.maximumPerHost
  }
}

/// The use of the slots at one moment.
private struct Slots {
  let limits: ConcurrencyLimits
  let running: [Scheduler.Running]
  let perHost: [String: Int]

  init(_ limits: ConcurrencyLimits, _ running: [Scheduler.Running]) {
    self.limits = limits
    self.running = running
    perHost = running.reduce(into: [:]) { $0[$1.candidate.origin, default: 0] += 1 }
  }

  var isFull: Bool { running.count >= limits.maximumRunning }

  func hasFreeSlot(for candidate: Scheduler.Candidate) -> Bool {
    !isFull && perHost[candidate.origin, default: 0] < limits.maximumPerHost
  }

  /// The step that lets a download with a free slot connect; `nil` if it may.
  ///
  /// Additional connections of a download are within the limits, and give way to other downloads.
  func stepToFreeConnection(for candidate: Scheduler.Candidate) -> Scheduler.Step? {
    let sameOrigin = running.filter { $0.connectionCount(to: candidate.origin) > 0 }
    let hostCount = sameOrigin.reduce(0) { $0 + $1.connectionCount(to: candidate.origin) }
    let isHostFull = hostCount >= limits.maximumPerHost
    let count = running.reduce(0) { $0 + $1.connectionCount }
    guard isHostFull || count >= limits.maximumRunning else { return nil }
    let others = isHostFull ? sameOrigin : running
    if others.contains(where: { $0.isEnding || $0.endingConnectionCount > 0 }) {
      return .awaitConnection
    }
    let origin = isHostFull ? candidate.origin : nil
    let widest = others.filter { $0.spareCount(to: origin) > 0 }
      .max { ($0.connectionCount, $0.started) < ($1.connectionCount, $1.started) }
    return widest.map { .endConnection(url: $0.candidate.url, origin: origin) }
  }

  /// The download that has run longest of those that the candidate may preempt.
  ///
  /// `nil` when there is none, or when a slot is about to become free anyway.
  func urlToPreempt(for candidate: Scheduler.Candidate) -> String? {
    rivals(of: candidate).filter { $0.started < candidate.order }
      .min { $0.started < $1.started }?.candidate.url
  }

  /// The slow download that has run longest of those that give their slot up to the candidate.
  ///
  /// `nil` when there is none, or when a slot is about to become free anyway.
  func urlToSuspend(for candidate: Scheduler.Candidate) -> String? {
    guard !candidate.wasSlow else { return nil }
    return rivals(of: candidate).filter(\.isSlow)
      .min { $0.started < $1.started }?.candidate.url
  }

  /// The downloads of which one has to end before the candidate gets a slot; none if one is ending.
  private func rivals(of candidate: Scheduler.Candidate) -> [Scheduler.Running] {
    let isHostFull = perHost[candidate.origin, default: 0] >= limits.maximumPerHost
    let others = running.filter { !isHostFull || $0.candidate.origin == candidate.origin }
    let limit = isHostFull ? limits.maximumPerHost : limits.maximumRunning
    let rivals = others.filter { !$0.isEnding }
    return rivals.count >= limit ? rivals : []
  }
}

/// The limits on the number of downloads that run at the same time.
///
/// ```swift
/// var options = EngineOptions()
/// options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 2)
/// ```
public struct ConcurrencyLimits: Sendable, Hashable {
  /// The largest number of downloads that run at the same time.
  public var maximumRunning: Int
  /// The largest number of downloads that run at the same time from one scheme, host and port.
  public var maximumPerHost: Int

  /// Creates limits.
  ///
  /// - Precondition: Both limits are at least 1.
  public init(maximumRunning: Int = 4, maximumPerHost: Int = 4) {
    precondition(maximumRunning >= 1 && maximumPerHost >= 1, "a concurrency limit is at least 1")
    self.maximumRunning = maximumRunning
    self.maximumPerHost = maximumPerHost
  }
}
