/// Chooses which downloads start.
///
/// Pure: slots are counted anew at each call, never kept.
public struct Scheduler: Sendable, Hashable {
  /// A download as far as its turn is concerned.
  public struct Candidate: Sendable, Hashable {
    /// The record's URL.
    public var url: String
    /// Scheme, host and port.
    public var origin: String
    /// Higher goes first.
    public var priority: Int32
    /// The order of adding, within a priority.
    public var order: Int
    /// Whether the process ended abruptly while a transfer of it was under way.
    public var isSuspect: Bool

    /// Describes a download.
    public init(
      url: String,
      origin: String,
      priority: Int32,
      order: Int,
      isSuspect: Bool = false
    ) {
      self.url = url
      self.origin = origin
      self.priority = priority
      self.order = order
      self.isSuspect = isSuspect
    }
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

  /// Which of `waiting` start now, in the order in which they do, given what runs.
  ///
  /// One suspect starts at a time and nothing starts beside it: if the process ends once more, it is
  /// known whose fault it was. What has shown progress since may go on meanwhile.
  public func starts(waiting: [Candidate], running: [Candidate]) -> [Candidate] {
    guard running.count < maximumRunning, !running.contains(where: \.isSuspect) else { return [] }
    let ordered = waiting.sorted { left, right in
      if left.isSuspect != right.isSuspect { return left.isSuspect }
      if left.priority != right.priority { return left.priority > right.priority }
      return left.order < right.order
    }
    var total = running.count
    var perHost: [String: Int] = [:]
    for candidate in running { perHost[candidate.origin, default: 0] += 1 }
    func hasRoom(_ candidate: Candidate) -> Bool {
      total < maximumRunning && perHost[candidate.origin, default: 0] < maximumPerHost
    }
    if let suspect = ordered.first(where: { $0.isSuspect && hasRoom($0) }) { return [suspect] }
    var starts: [Candidate] = []
    for candidate in ordered where !candidate.isSuspect && hasRoom(candidate) {
      total += 1
      perHost[candidate.origin, default: 0] += 1
      starts.append(candidate)
    }
    return starts
  }
}
