internal import DownloadStore

/// What a process does next that waits for downloads of a store.
///
/// Pure.
enum WaitStep: Sendable, Hashable, CaseIterable {
  /// Runs an engine for the downloads.
  case lead
  /// Waits for the engine of another process.
  case follow
  /// Ends: nothing more happens to the downloads without a command.
  case end

  /// What has happened since the last step.
  enum Event: Sendable, Hashable, CaseIterable {
    /// Nothing yet, or a commit, or a change of the engine lock.
    case woken
    /// Another process has taken the engine lock first.
    case lockRefused
    /// The engine of this process has reached its goal.
    case ran
  }

  /// Decides what to do next.
  ///
  /// - Parameters:
  ///   - event: What has happened since the last step.
  ///   - haveEnded: Whether each download has ended or is paused.
  ///   - engineRuns: Whether the engine of another process runs, read before the downloads.
  /// - Returns: The next step.
  static func next(after event: Event, haveEnded: Bool, engineRuns: Bool) -> Self {
    switch event {
    case _ where haveEnded: .end
    // All had ended. If a command has restarted one since, the caller decides whether to go on.
    case .ran: .end
    case .lockRefused: .follow
    case .woken: engineRuns ? .follow : .lead
    }
  }
}

/// Whether the downloads that a run is for have ended.
///
/// Looks at one of them as long as it has not ended, so that the cost of a look does not depend on
/// their number.
struct FinishGoal: Sendable {
  private let urls: [String]
  private let set: URLSet
  private var next = 0

  init(_ urls: [String]) {
    self.urls = urls
    set = URLSet(urls)
  }

  func contains(_ url: String) -> Bool { set.contains(url) }

  /// Whether each download has ended or is paused, or does not exist.
  ///
  /// - Parameter find: Returns the record with a URL.
  /// - Returns: Whether the run may end.
  mutating func isReached(_ find: (String) throws -> DownloadRecord?) rethrows -> Bool {
    for _ in urls.indices {
      if let record = try find(urls[next]), !record.needsCommand { return false }
      next = (next + 1) % urls.count
    }
    return true
  }
}
