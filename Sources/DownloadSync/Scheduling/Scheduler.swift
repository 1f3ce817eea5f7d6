/// Chooses which downloads start, and which make room.
///
/// Pure: slots are counted anew at each decision from what runs, never kept.
public struct Scheduler: Sendable, Hashable {
  /// A download as far as its turn is concerned.
  public struct Candidate: Sendable, Hashable {
    /// The record's id.
    public var recordID: String
    /// The record's URL.
    public var url: String
    /// Scheme, host and port.
    public var origin: String
    /// Higher goes first.
    public var priority: Int32
    /// The order of arrival, within a priority.
    public var order: Int
    /// Whether the process ended abruptly while a transfer of it was under way.
    public var isSuspect: Bool
    /// Whether somebody asked that it start before all others, in the place of one if need be.
    public var startsAtOnce: Bool
    /// The volume that its file goes to.
    public var volume: UInt64
    /// How many bytes are missing; `nil` when the size is not known.
    public var missingBytes: Int64?

    /// Describes a download.
    public init(
      recordID: String = "",
      url: String,
      origin: String,
      priority: Int32,
      order: Int,
      isSuspect: Bool = false,
      startsAtOnce: Bool = false,
      volume: UInt64 = 0,
      missingBytes: Int64? = nil
    ) {
      self.recordID = recordID
      self.url = url
      self.origin = origin
      self.priority = priority
      self.order = order
      self.isSuspect = isSuspect
      self.startsAtOnce = startsAtOnce
      self.volume = volume
      self.missingBytes = missingBytes
    }
  }

  /// A download that has a slot.
  struct Running: Sendable, Hashable {
    var candidate: Candidate
    /// When it started, in the same count as the orders of candidates.
    var started: Int
    /// Whether it was told to end, and is about to free its slot.
    var isEnding = false
  }

  /// One decision.
  enum Step: Sendable, Hashable {
    /// The download starts; it is not in the queue any more.
    case start(Candidate)
    /// The running download of that URL ends and waits until somebody resumes it: another one
    /// takes its place as soon as it has ended.
    case makeRoom(url: String)
  }

  /// The most that run at one time.
  public var maximumRunning: Int
  /// The most that run at one time from one scheme, host and port.
  public var maximumPerHost: Int

  /// Describes the limits.
  ///
  /// - Precondition: Both are at least one.
  public init(maximumRunning: Int = 4, maximumPerHost: Int = 4) {
    precondition(maximumRunning >= 1 && maximumPerHost >= 1, "a limit of no download at all")
    self.maximumRunning = maximumRunning
    self.maximumPerHost = maximumPerHost
  }

  /// What is to be done next, given what runs; `nil` when nothing is.
  ///
  /// Whoever asks does it, adds it to what runs, and asks again.
  ///
  /// One suspect starts at a time and nothing starts beside it: if the process ends once more, it is
  /// known whose fault it was. What has shown progress since may go on meanwhile. A download that
  /// is to start at once makes the one end that has run longest, among those that run since before
  /// it was asked for: so of many that were asked for together none takes the place of another.
  ///
  /// - Complexity: O(r + h log n) for r that run, h hosts without a free slot, and n that wait.
  func next(_ queue: inout TurnQueue, running: [Running]) -> Step? {
    guard !running.contains(where: \.candidate.isSuspect) else { return nil }
    let slots = Slots(self, running)
    if let suspect = queue.firstSuspect(where: { slots.hasRoom($0) }) {
      queue.remove(suspect.url)
      return .start(suspect)
    }
    var passed: [TurnQueue.Head] = []
    defer { queue.putBack(passed) }
    while let head = queue.popHead(), let candidate = queue[head] {
      if slots.hasRoom(candidate) {
        queue.take(head)
        return .start(candidate)
      }
      passed.append(head)
      if candidate.startsAtOnce, let url = slots.oldest(inPlaceFor: candidate) {
        return .makeRoom(url: url)
      }
      // Those after it are not asked for at once, or can be helped no more than those before.
      if slots.isFull, !candidate.startsAtOnce || passed.count > running.count { return nil }
    }
    return nil
  }
}

/// How the slots are taken at one moment.
private struct Slots {
  let limits: Scheduler
  let running: [Scheduler.Running]
  let perHost: [String: Int]

  init(_ limits: Scheduler, _ running: [Scheduler.Running]) {
    self.limits = limits
    self.running = running
    perHost = running.reduce(into: [:]) { $0[$1.candidate.origin, default: 0] += 1 }
  }

  var isFull: Bool { running.count >= limits.maximumRunning }

  func hasRoom(_ candidate: Scheduler.Candidate) -> Bool {
    !isFull && perHost[candidate.origin, default: 0] < limits.maximumPerHost
  }

  /// The one that has run longest of those in whose place the candidate may start; `nil` when there
  /// is none, or when one is about to end anyway.
  func oldest(inPlaceFor candidate: Scheduler.Candidate) -> String? {
    let isHostFull = perHost[candidate.origin, default: 0] >= limits.maximumPerHost
    let others = running.filter { !isHostFull || $0.candidate.origin == candidate.origin }
    let limit = isHostFull ? limits.maximumPerHost : limits.maximumRunning
    guard others.count(where: { !$0.isEnding }) >= limit else { return nil }
    return others.filter { !$0.isEnding && $0.started < candidate.order }
      .min { $0.started < $1.started }?.candidate.url
  }
}
