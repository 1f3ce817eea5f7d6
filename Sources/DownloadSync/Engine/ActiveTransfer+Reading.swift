internal import DownloadStore

// What the scheduler and the engine ask about one transfer. Nothing here changes it.

extension ActiveTransfer {
  /// The running tasks.
  var tasks: [TaskID] {
    (task.map { [$0] } ?? []) + parts.sorted { $0.key < $1.key }.compactMap(\.value.task)
  }

  /// The number of tasks that are running, or being prepared beside the first one.
  var openCount: Int { (task == nil ? 0 : 1) + parts.count }

  /// The number of connections that may be open: one more while it takes over the bytes of another.
  var allowedCount: Int { ramp.target + (transfer.hasIdle ? 1 : 0) }

  /// The number of connections that it has or is about to open to each other server than the first
  /// one, by origin.
  var mirrorConnections: [String: Int] {
    parts.values.reduce(into: [:]) { counts, part in
      if part.sink.origin != candidate.origin { counts[part.sink.origin, default: 0] += 1 }
    }
  }

  /// The number of connections that it has or is about to open.
  ///
  /// A transfer always has one to its first server, or the right to open one.
  var connectionCount: Int { max(1, ownCount) + mirrorConnections.values.reduce(0, +) }

  /// The number of open connections to the first server.
  var ownCount: Int {
    (task == nil ? 0 : 1) + parts.values.count { $0.sink.origin == candidate.origin }
  }

  /// The sources of the open connections, by index.
  var usedSources: [Int] { (task == nil ? [] : [0]) + parts.values.map(\.sink.source) }

  /// The number of running tasks that have received bytes.
  var progressedCount: Int {
    (task != nil && transfer.hasProgressed ? 1 : 0) + parts.values.count { $0.sink.hasProgressed }
  }

  /// The ranges of the running tasks and the missing bytes; `nil` if the size is unknown.
  ///
  /// The ranges are read first, because the tasks write at the same time: a byte that is written
  /// between the two reads is in a range and not missing. In the other order it would be missing and
  /// in no range, so another connection would fetch it again.
  var openRanges: (claims: [ConnectionPlan.Claim], missing: ByteRanges)? {
    guard let total = transfer.entity.total else { return nil }
    let claims = transfer.claims(ofSize: total)
    return transfer.missing.map { (claims, $0) }
  }

  /// The number of missing bytes; `nil` if the size is unknown.
  var missingBytes: Int64? {
    transfer.entity.total.map { max(0, $0 - transfer.file.byteCount) }
  }

  /// The transfer as the scheduler sees it.
  var running: Scheduler.Running {
    Scheduler.Running(
      candidate: candidate,
      started: started,
      isEnding: isEnding,
      connectionCount: connectionCount,
      mirrorConnections: mirrorConnections,
      endingConnectionCount: endingConnections.count,
      isSlow: slowness.isSlow && mayBeSuspended
    )
  }

  /// Whether the transfer may end and continue later: its bytes can be continued, or are so few that
  /// they cost less than a slot.
  ///
  /// Without a task, the file is complete or its request is being prepared.
  private var mayBeSuspended: Bool {
    guard task != nil else { return false }
    if transfer.file.byteCount <= Self.bytesToRepeat { return true }
    return transfer.entity.validator != nil && transfer.head?["Accept-Ranges"] != "none"
  }

  /// The number of bytes that a slow transfer may drop: 256 KiB.
  private static let bytesToRepeat: Int64 = 256 << 10
}

/// Where more connections are open than allowed.
enum ConnectionExcess: Sendable, Hashable {
  case total
  case origin(String)
}
