internal import DownloadStore
internal import Logging

// The turns of the loop: each handles a batch of inputs.

extension DownloadEngine {
  /// The work that the inputs of one turn of the loop require.
  private struct Turn {
    var ended: [(key: TransferKey, result: TransferResult)] = []
    var hasStoreChanged = false
    var hasTicked = false
    var isCheckpointDue: Bool
  }

  /// Handles a batch of inputs.
  ///
  /// All complete files share two commits. The second one also starts the next downloads.
  func handle(_ batch: [EngineInput]) async throws {
    var turn = Turn(isCheckpointDue: checkpoints.isDue(at: environment.instant()))
    try await note(batch, in: &turn)
    try await advanceFiles(in: &turn)
    let hasChanges = try turn.hasStoreChanged && follower.hasChanges()
    // The changes may concern a record whose file is in place. A background transport keeps the
    // bytes of a task until its end is acknowledged.
    if hasChanges || takesResumeData || isStopping { try await commitCompleted() }
    acknowledgeEnds()
    if turn.isCheckpointDue {
      try await checkpoint()
      checkpoints.noteDone(at: environment.instant())
    }
    if hasChanges { try await applyStoreChanges() }
    guard !isStopping else { return }
    if turn.hasTicked {
      try await retryDeletions()
      try await join()
      try await requestDueRefreshes()
    }
    // Renames that the changes have repeated.
    try await advanceFiles(in: &turn)
    try await startEligible()
    adjustConnections()
  }

  /// Brings the files of ended transfers as far as they get without a commit that completes them.
  ///
  /// Transfers that end during a sync share the commits that follow it. This ends at most when all
  /// transfers have ended, because none starts in the meantime.
  private func advanceFiles(in turn: inout Turn) async throws {
    try await settleEnds(of: &turn)
    repeat {
      while let effect = completion.next() {
        try await perform(effect)
        guard case .synchronize = effect else { continue }
        try await note(inbox.take(), in: &turn)
        try await settleEnds(of: &turn)
      }
      try await settleReplaced()
    } while completion.isReady
  }

  private func settleEnds(of turn: inout Turn) async throws {
    let ended = turn.ended
    turn.ended = []
    try await settle(ended)
  }

  /// Notes what inputs require, and handles those that need no commit of complete files.
  private func note(_ batch: [EngineInput], in turn: inout Turn) async throws {
    for input in batch {
      switch input {
      case .progressed(let key):
        guard let download = active[key] else { continue }
        // The first bytes clear a crash suspect, and the other downloads wait for that.
        if download.candidate.isSuspect { turn.isCheckpointDue = true }
        queue.noteProgress()
      case .bytesDropped(let key, let byteCount, let failure):
        if byteCount > 0, let record = active[key]?.record {
          dispatcher.emit(.rolledBack(url: key.url, from: byteCount, failure), of: record.id)
        }
      case .renamed(let record):
        active.noteName(record, try locations.layout(of: record))
      case .checkpointDue:
        turn.isCheckpointDue = true
      case .taskEnded(let key, let result):
        if let end = endTask(0, of: key, result) { turn.ended.append((key, end)) }
      case .partEnded(let key, let number, let result):
        if let end = endTask(number, of: key, result) { turn.ended.append((key, end)) }
      case .requestMade(let key, let number, let result):
        if let end = send(result, number, for: key) { turn.ended.append((key, end)) }
      case .endNotified:
        dispatcher.noteReturn()
      case .workFinished:
        (isAwaitingWork, isWorkFinished) = (false, true)
        // What the work has committed is applied before the run may end.
        turn.hasStoreChanged = true
      case .digestComputed(let key, let digest, let changed):
        let hadInterference = active[key]?.transfer.file.hadInterference ?? false
        completion.step(
          .digestComputed(key, digest, changed: changed, hadInterference: hadInterference)
        )
      case .partialRead(let url, let number, let result):
        try await noteRead(result, of: url, number: number)
      case .storeChanged:
        turn.hasStoreChanged = true
      case .observationFailed(let error):
        logger?.warning("observing the store failed and will be retried: \(error)")
      case .queueRead:
        break
      case .ticked:
        turn.hasTicked = true
        active.measure(at: .now)
        queue.noteCleared(
          active.endProbation(after: options.probation, at: environment.instant())
        )
        active.noteSpeeds(
          LowestSpeed(
            // A task of a background transport may deliver its bytes only at its end.
            bytesPerSecond: takesResumeData ? 0 : options.lowestSpeed,
            time: options.lowestSpeedTime
          ),
          rateLimit: [transport.bytesPerSecond, rateLimit].compactMap { $0 }.min(),
          at: environment.instant()
        )
        queue.checkDiskSpace(
          at: environment.instant(),
          interval: options.diskSpaceInterval,
          available: environment.availableBytes
        )
      case .stopRequested:
        isStopping = true
      }
    }
  }

  /// Cancels every task, waits up to ten seconds for them to end, and commits the received bytes.
  func stopAll() async throws {
    // Also after an error: the end of one connection must not start another one.
    isStopping = true
    // The failure of another download concerns none of the files that are complete.
    try? await completeFiles()
    for download in active.ordered { cancel(download) }
    let deadline = environment.instant().advanced(by: .seconds(10))
    while active.hasTasks || dispatcher.pendingCount > 0, environment.instant() < deadline {
      for input in await inbox.next() {
        switch input {
        case .taskEnded(let key, let ended), .partEnded(let key, _, let ended):
          let number = if case .partEnded(_, let number, _) = input { number } else { 0 }
          guard let result = endTask(number, of: key, ended), let download = active[key]
          else { continue }
          // Stores the resume data of transfers that the engine was already ending. `requeueAll`
          // stores that of the others.
          let leaves = download.isEnding && download.transfer.resumeData != nil
          guard result == .complete || leaves else { continue }
          try await settle([(key, result)])
          try await completeFiles()
        case .endNotified:
          dispatcher.noteReturn()
        default:
          break
        }
      }
    }
    acknowledgeEnds()
    try await requeueAll()
  }
}
