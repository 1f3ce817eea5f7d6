internal import Foundation

/// When the engine looks for refreshes that are due, and which ones these are.
///
/// Pure: the store has the times of the refreshes, so nothing is lost when the engine ends.
struct RefreshSchedule: Sendable {
  /// The most refreshes that one commit requests.
  static let page = 256
  /// The time between two looks, of which each costs one short read transaction.
  private static let interval = Duration.seconds(1)

  /// The latest time of a refresh that the run does; `nil` for every one whose time comes.
  ///
  /// A run that ends does what is due at its start: short periods would keep it from ending.
  private var last: Date?
  private var lastLook: ContinuousClock.Instant?
  /// Whether more refreshes are due than the last commit has requested.
  private(set) var hasMore = false

  /// Begins with a run.
  ///
  /// - Parameters:
  ///   - goal: The goal of the run.
  ///   - moment: The time of its start.
  mutating func begin(_ goal: RunGoal, at moment: Date) {
    if goal != .stopped { last = moment }
  }

  /// Returns the time up to which refreshes are to be requested now; `nil` if it is too early to look,
  /// or nothing is left to look for.
  mutating func cutoff(at moment: Date, _ now: ContinuousClock.Instant) -> Date? {
    if let lastLook, !hasMore {
      guard last == nil, lastLook.duration(to: now) >= Self.interval else { return nil }
    }
    lastLook = now
    return min(last ?? moment, moment)
  }

  /// Notes the number of due refreshes that were found.
  mutating func noteFound(_ count: Int) {
    hasMore = count >= Self.page
  }
}
