internal import Foundation

/// Decides whether a worker hangs, also on a machine that gives it little time.
struct HangWatch {
  /// The processor time that a worker may need for an input.
  let limit: Duration
  private var count: UInt64 = 0
  private var lastChange: ContinuousClock.Instant
  private var timeAtChange: Duration?

  /// Begins to watch.
  init(limit: Duration, at instant: ContinuousClock.Instant) {
    self.limit = limit
    lastChange = instant
  }

  /// Looks at the worker.
  ///
  /// One that computes does after the limit of processor time, and one that waits after six times the
  /// limit: until then it may have got no time.
  ///
  /// - Parameters:
  ///   - count: The number of inputs that the worker has begun.
  ///   - time: The processor time of the worker; `nil` if the system does not tell, and then the time
  ///     that has passed stands for it.
  ///   - instant: The time.
  /// - Returns: Whether it hangs.
  mutating func hangs(
    count: UInt64,
    processorTime time: Duration?,
    at instant: ContinuousClock.Instant
  ) -> Bool {
    if count != self.count || (time != nil) != (timeAtChange != nil) {
      (self.count, lastChange, timeAtChange) = (count, instant, time)
      return false
    }
    let passed = instant - lastChange
    guard let time, let timeAtChange else { return passed > limit }
    return time - timeAtChange > limit || passed > limit * 6
  }

  /// Returns the processor time that all threads of a process have used; `nil` if it is not known.
  static func processorTime(of process: pid_t) -> Duration? {
    // The name of the process, in parentheses, may itself contain spaces and parentheses.
    guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = line.lastIndex(of: ")")
    else { return nil }
    let fields = line[name...].split(separator: " ")
    // The fields 14 and 15 of proc(5), in ticks of 10 ms.
    guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
      return nil
    }
    return .milliseconds(10) * (user + system)
  }
}
