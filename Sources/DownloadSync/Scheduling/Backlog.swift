internal import DownloadStore

/// How many waiting downloads an engine keeps in memory.
///
/// The others stay in the store until a slot needs them.
package struct QueueBounds: Sendable, Hashable {
  /// The downloads of one host and volume, and those deferred on one full volume.
  package var perHost: Int
  /// The downloads that wait for a time.
  package var delayed: Int
  /// The records that are read from the store at a time.
  package var page: Int
  /// The pages that are read before the engine handles its other inputs.
  package var pagesPerTurn: Int

  /// Creates bounds.
  ///
  /// - Precondition: All are at least 1.
  package init(perHost: Int = 256, delayed: Int = 1_024, page: Int = 256, pagesPerTurn: Int = 16) {
    precondition(min(perHost, delayed, page, pagesPerTurn) >= 1, "a bound of a queue is at least 1")
    self.perHost = perHost
    self.delayed = delayed
    self.page = page
    self.pagesPerTurn = pagesPerTurn
  }

  /// Bounds for downloads that are all in memory.
  static let unlimited = Self(perHost: .max, delayed: .max)
}

/// Knows which waiting downloads of the store are not in memory.
///
/// A download that may start is in memory, or the frontier or the cursor of its host is before it, or
/// its volume or its time is noted. The frontier reads the downloads of all hosts in starting order.
/// A host of which enough downloads are in memory gets a cursor of its own, so that the frontier can
/// go on to the downloads of other hosts.
///
/// Pure: it names the positions to read, and the caller passes what it has read to ``StartQueue``.
struct Backlog: Sendable {
  /// What to read next.
  enum Need: Sendable, Hashable {
    case frontier(QueuePosition)
    case host(HostQueueKey, QueuePosition)

    var position: QueuePosition {
      switch self {
      case .frontier(let position), .host(_, let position): position
      }
    }
  }

  /// Where the downloads of all hosts are read on; `nil` if all were read.
  private(set) var frontier: QueuePosition?
  /// Where the downloads of one host are read on.
  private(set) var cursors: [HostQueueKey: QueuePosition] = [:]
  /// The volumes to which downloads were skipped, because they are full.
  private(set) var skippedVolumes: Set<UInt64> = []
  /// When the first download may start that waits for a time and is not in memory.
  private(set) var due: ContinuousClock.Instant?
  /// Whether downloads that wait for a time stay in the store because enough are in memory.
  private var leavesDelayed = false

  /// Whether every download that may start is in memory.
  var isEmpty: Bool { waitsOnlyForDiskSpace && skippedVolumes.isEmpty }

  /// Whether the downloads that are not in memory, if there are any, wait for disk space.
  var waitsOnlyForDiskSpace: Bool { frontier == nil && cursors.isEmpty && due == nil }

  /// Whether a download that is not in memory may come before one of another host.
  func mayPrecede(_ candidate: Scheduler.Candidate) -> Bool {
    guard let frontier else { return false }
    return frontier.lane.map { $0.isBefore(candidate) } ?? true
  }

  /// Whether the frontier will read a record that is not in memory.
  ///
  /// - Parameters:
  ///   - record: A record that may start.
  ///   - isNew: Whether it was inserted after all others.
  /// - Returns: Whether it will; otherwise the record must be inserted or left explicitly.
  func willRead(_ record: DownloadRecord, isNew: Bool) -> Bool {
    guard let frontier else { return false }
    guard let next = frontier.lane else { return true }
    let lane = QueueLane(record)
    if lane != next { return lane > next }
    return !frontier.isAfterLane && !frontier.isTimed && isNew && record.notBefore == nil
  }

  /// Reads all downloads again, except those in memory.
  mutating func rewind() {
    frontier = .start
    due = nil
    leavesDelayed = false
  }

  /// Reads all downloads again when a time has come, or few of those that wait are left in memory.
  mutating func advance(to now: ContinuousClock.Instant, areFewDelayed: Bool) {
    if let due, due <= now || (areFewDelayed && leavesDelayed) { rewind() }
  }

  /// Leaves a download of a host in the store, to be read from a position on.
  mutating func leave(_ host: HostQueueKey, at position: QueuePosition) {
    cursors[host] = cursors[host].map { min($0, position) } ?? position
  }

  /// Leaves a download in the store that must not start before an instant.
  ///
  /// - Parameters:
  ///   - instant: The instant.
  ///   - areManyDelayed: Whether it stays there because enough such downloads are in memory.
  mutating func leave(until instant: ContinuousClock.Instant, areManyDelayed: Bool) {
    due = due.map { min($0, instant) } ?? instant
    if areManyDelayed { leavesDelayed = true }
  }

  /// Leaves downloads in the store until a volume has free space.
  mutating func skip(volume: UInt64) {
    skippedVolumes.insert(volume)
    for host in cursors.keys where host.volume == volume { cursors[host] = nil }
  }

  /// Leaves the downloads to a full volume in the store, if there are any.
  mutating func block(volume: UInt64) {
    if cursors.keys.contains(where: { $0.volume == volume }) { skip(volume: volume) }
  }

  /// Reads the skipped downloads to a volume again.
  mutating func unblock(volume: UInt64) {
    if skippedVolumes.remove(volume) != nil { rewind() }
  }

  /// Notes that a need was read up to a position.
  mutating func note(_ need: Need, readUpTo next: QueuePosition?) {
    switch need {
    case .frontier: frontier = next
    case .host(let host, _): cursors[host] = next
    }
  }
}
