internal import DownloadStore

// What the scheduler and the engine ask about one transfer. Nothing here changes it.

extension ActiveTransfer {
  /// The running tasks.
  var tasks: [TaskID] {
    (task.map { [$0] } ?? []) + parts.sorted { $0.key < $1.key }.compactMap(\.value.task)
  }

  /// Whether it may use more than one task, at a time or one after another.
  var mayHaveParts: Bool {
    guard connections.ramp.limit > 1 || transfer.isSplit else { return false }
    // The first response decides whether the bytes on disk are kept.
    guard preparation == nil, transfer.hasProgressed || task == nil else { return false }
    return !isEnding && connections.outcome == nil && request != nil
  }

  /// Whether its file has, or may have, bytes of different servers or versions.
  var hasMixedServers: Bool { connections.hasUsedMirrors || transfer.isMixed }

  /// How far its connections are.
  var connectionProgress: Connections.Progress {
    Connections.Progress(
      received: transfer.received,
      isSplit: transfer.isSplit,
      runningCount: (task != nil && transfer.hasProgressed ? 1 : 0)
        + parts.values.count { $0.sink.hasProgressed },
      positions: transfer.positions,
      hasIdle: transfer.hasIdle
    )
  }

  /// What is known about its file.
  func reading(
    _ trust: ServerTrust.Level,
    within limits: ConnectionLimits,
    minimumLength: Int64,
    deliversRanges: Bool
  ) -> Connections.Reading {
    let entity = transfer.entity
    let ranges = openRanges
    return Connections.Reading(
      claims: ranges?.claims ?? [],
      missing: ranges?.missing,
      spare: transfer.spare,
      rangeCount: transfer.file.written.ranges.count,
      requestURL: request?.url,
      head: transfer.head,
      validator: entity.validator,
      hasProgressed: transfer.hasProgressed,
      hasRequiredDigest: transfer.hasRequiredDigest,
      deliversRanges: deliversRanges,
      minimumLength: minimumLength,
      trust: trust,
      limits: limits
    )
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
      connectionCount: connections.count,
      mirrorConnections: connections.mirrorCounts,
      endingConnectionCount: connections.endingCount,
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
