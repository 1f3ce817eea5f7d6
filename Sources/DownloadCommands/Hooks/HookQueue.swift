internal import DownloadStore

/// Decides which hooks run now, and whether one that failed is repeated.
///
/// Pure: knows neither the store nor a process.
struct HookQueue {
  /// One end of a download, for which a hook is to succeed once.
  struct Entry: Sendable, Hashable {
    /// The id of the record.
    var recordID: String
    /// The key of the end: the same for every run of a hook for it, also after a kill.
    var key: String
    var hook: DownloadHook
  }

  /// The result of a run.
  enum Outcome: Hashable {
    case finished
    /// The hook is repeated after this time.
    case repeated(after: Duration)
    /// The hook has failed too often for this process; its mark stays for the next one.
    case givenUp
  }

  /// The maximum number of hooks that run at the same time.
  static let maximumRunning = 4
  /// The maximum number of runs of one hook for one end in this process.
  static let maximumAttempts = 5
  /// The wait after the first failure; it doubles with each further one.
  static let firstWait = Duration.seconds(1)

  private var waiting: [Entry] = []
  private var delayed: [Entry: ContinuousClock.Instant] = [:]
  private var failures: [Entry: Int] = [:]
  private var running: Set<Entry> = []
  /// The entries that are not run again by this process although the store still has their marks.
  private var settled: Set<Entry> = []
  private(set) var givenUpCount = 0

  /// Whether nothing runs or waits.
  var isIdle: Bool { waiting.isEmpty && delayed.isEmpty && running.isEmpty }

  /// Whether few entries wait, so that more are to be read from the store.
  var needsEntries: Bool { waiting.count < Self.maximumRunning * 4 }

  /// The number of marks to read from the store to find one that is not known.
  var readLimit: Int {
    Self.maximumRunning * 8 + waiting.count + delayed.count + running.count + settled.count
  }

  /// The time at which the next delayed entry is due; `nil` if none is delayed.
  var nextDue: ContinuousClock.Instant? { delayed.values.min() }

  /// Adds entries that are not known yet; the command for an end comes before its webhook.
  mutating func insert(_ entries: [Entry]) {
    var known = running.union(settled).union(delayed.keys).union(waiting)
    for entry in entries where known.insert(entry).inserted { waiting.append(entry) }
  }

  /// Removes and returns the entries whose hooks start now.
  mutating func takeStarts(at now: ContinuousClock.Instant) -> [Entry] {
    let due = delayed.filter { $0.value <= now }.sorted { $0.value < $1.value }.map(\.key)
    for entry in due { delayed[entry] = nil }
    var (starting, left): ([Entry], [Entry]) = ([], [])
    for entry in due + waiting {
      if running.count < Self.maximumRunning, mayStart(entry) {
        running.insert(entry)
        starting.append(entry)
      } else {
        left.append(entry)
      }
    }
    waiting = left
    return starting
  }

  /// Whether no other hook of the download runs, and a webhook does not overtake the first run of the
  /// command for the same end.
  ///
  /// Entries are inserted command first, so only a command that had to be delayed can be overtaken.
  private func mayStart(_ entry: Entry) -> Bool {
    var command = entry
    command.hook = entry.hook.command
    return !running.contains { $0.recordID == entry.recordID }
      && (delayed[command] == nil || failures[command] != nil)
  }

  /// The number of entries that are known.
  var count: Int {
    waiting.count + delayed.count + running.count + settled.count + failures.count
  }

  /// The number of the next run of a hook for its end in this process, from 1.
  func nextAttempt(of entry: Entry) -> Int { failures[entry, default: 0] + 1 }

  /// Notes that a hook could not run yet, which is no failure.
  mutating func delay(_ entry: Entry, at now: ContinuousClock.Instant) {
    running.remove(entry)
    delayed[entry] = now.advanced(by: Self.firstWait)
  }

  /// Notes the end of a run.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - isSuccess: Whether the hook succeeded, or is no longer wanted.
  ///   - isMarked: Whether the store still has the mark, so that it will be read again.
  ///   - now: The current time.
  /// - Returns: Whether the hook is repeated.
  mutating func noteEnd(
    of entry: Entry,
    isSuccess: Bool,
    isMarked: Bool,
    at now: ContinuousClock.Instant
  ) -> Outcome {
    running.remove(entry)
    guard !isSuccess else {
      failures[entry] = nil
      if isMarked { settled.insert(entry) }
      return .finished
    }
    let count = failures[entry, default: 0] + 1
    guard count < Self.maximumAttempts else {
      failures[entry] = nil
      settled.insert(entry)
      givenUpCount += 1
      return .givenUp
    }
    failures[entry] = count
    let wait = Self.firstWait * (1 << (count - 1))
    delayed[entry] = now.advanced(by: wait)
    return .repeated(after: wait)
  }
}
