#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// The state machine of a record.
//
// Only this file assigns `state`, `intent` and the fields that depend on them: attempts, retry
// dates, the generation, the byte counts with their validators, the identities of the files, the time
// at which the partial file was written, and the pending hooks.
// Each transition is pure and defined for every state and intent. The caller commits the result,
// after it has checked that the stored record is still the one it decided about.

// MARK: - Commands of the user

extension DownloadRecord {
  /// The record after a command; unchanged if the command has no effect in this state.
  ///
  /// A cancelled or removed download with a task or a partial file only gets the intent: its state
  /// stays one that engines examine, so that after a kill the next engine deletes the files.
  ///
  /// Pure, and defined for every state and intent.
  package func applying(_ command: DownloadCommand) -> Self {
    var record = self
    switch command {
    case .pause: record.pause()
    case .resume(let immediately): record.resume(immediately: immediately)
    case .cancel: record.cancel()
    case .restart: record.restart()
    case .remove(let withFile): record.remove(withFile: withFile)
    }
    return record
  }

  /// Whether the user cancelled or removed the download and its files are not deleted yet.
  package var isToBeDeleted: Bool {
    state == .removed || intent == .remove || (intent == .cancel && state != .cancelled)
  }

  /// Whether the user has cancelled or removed the download.
  package var isGivenUp: Bool { intent == .cancel || intent == .remove }

  private mutating func pause() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .running, .failedRetryable, .paused:
      state = .paused
      intent = .pause
      clearSchedule()
    case .finalizing:
      // A complete file gets its name without the network.
      intent = .pause
      clearSchedule()
    case .failedPermanent, .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func resume(immediately: Bool) {
    guard !isGivenUp else { return }
    switch state {
    case .paused, .failedRetryable, .failedPermanent:
      requeue()
      startsImmediately = immediately
      if immediately { notBefore = nil }
    case .waiting:
      intent = .run
      isHeld = false
      startsImmediately = startsImmediately || immediately
      if immediately { notBefore = nil }
    case .running, .finalizing:
      intent = .run
    case .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func cancel() {
    guard !isGivenUp else { return }
    switch state {
    case .waiting, .failedRetryable, .paused, .failedPermanent:
      state = .waiting
      intent = .cancel
      pendingHooks = []
      clearSchedule()
    case .running, .finalizing:
      intent = .cancel
      clearSchedule()
    case .completed, .cancelled, .removed:
      break
    }
  }

  private mutating func restart() {
    guard state != .removed, !isNew else { return }
    restartFromFirstByte()
  }

  private mutating func remove(withFile: Bool) {
    removesFile = withFile || (state == .removed && removesFile)
    state = .removed
    intent = .remove
    pendingHooks = []
    clearSchedule()
    // The previous file belongs to the record until a new one replaces it.
    fileIdentity = fileIdentity ?? replacedFileIdentity
  }

  /// Whether the download waits and nothing has happened yet, so that a restart changes nothing.
  private var isNew: Bool {
    state == .waiting && intent == .run && !isHeld && received == 0 && failedAttempts == 0
      && unresolvedStarts == 0
  }

  private mutating func clearSchedule() {
    isHeld = false
    startsImmediately = false
    nextRetryAt = nil
  }

  /// Queues the download again with the bytes on disk, and forgets its failures and its last end.
  private mutating func requeue() {
    state = .waiting
    intent = .run
    failedAttempts = 0
    unresolvedStarts = 0
    pendingHooks = []
    clearSchedule()
  }

  /// Queues the download again from the first byte, under a new generation.
  ///
  /// Events of earlier transfers are ignored from now on. The finished file, if there is one, stays
  /// until the new one replaces it.
  private mutating func restartFromFirstByte() {
    requeue()
    generation += 1
    count(ByteRanges())
    resolvedBytes = 0
    expected = nil
    entityTag = nil
    lastModified = nil
    resumeData = nil
    verifiedDigest = nil
    completedAt = nil
    replacedFileIdentity = fileIdentity ?? replacedFileIdentity
    fileIdentity = nil
    removesFile = false
  }

  /// Applies a request for a URL that the store already knows.
  ///
  /// - Parameter isFileMissing: Whether the finished file of a completed download is gone.
  package mutating func addAgain(isFileMissing: Bool) {
    switch state {
    case .completed:
      if isFileMissing { restartFromFirstByte() }
    case .cancelled, .removed:
      restartFromFirstByte()
    case .paused, .failedPermanent, .failedRetryable:
      requeue()
    case .waiting, .running, .finalizing:
      // Active, unless a command to end it has not been carried out yet.
      intent = .run
      isHeld = false
    }
  }

  /// Replaces the URL; the download continues from the bytes on disk, under a new generation.
  package mutating func move(to url: String) {
    self.url = url
    mirrors.removeAll { $0.utf8.elementsEqual(url.utf8) }
    // Resume data contains the old URL.
    resumeData = nil
    generation += 1
    switch state {
    case .running: state = .waiting
    case .failedRetryable, .failedPermanent: if !isGivenUp { requeue() }
    case .waiting, .paused, .finalizing, .completed, .cancelled, .removed: break
    }
    failedAttempts = 0
    unresolvedStarts = 0
  }
}

// MARK: - Earliest start

extension DownloadRecord {
  /// Sets the time before which the engine does not start the download; `nil` for any time.
  ///
  /// A download that is running continues.
  package mutating func postpone(until date: Date?) {
    notBefore = date
  }
}

// MARK: - Transfers

extension DownloadRecord {
  /// Starts an attempt under a new generation.
  ///
  /// - Parameters:
  ///   - keepingBytes: Whether the bytes on disk are continued.
  ///   - moment: The time of the start.
  package mutating func start(keepingBytes: Bool, at moment: Date) {
    if !keepingBytes { dropBytes() }
    // The transfer may be killed after a write and before its first checkpoint.
    partialWrittenAt = partialWrittenAt.map { max($0, moment) }
    state = .running
    generation += 1
    unresolvedStarts += 1
    nextRetryAt = nil
    startsImmediately = false
    updatedAt = moment
  }

  /// Adopts a task that a system session kept running across processes.
  ///
  /// The task has used up its resume data. It runs in a process of the system, which it cannot
  /// crash with ours, so it is not counted as a crash suspect.
  package mutating func adoptTask(at moment: Date) {
    partialWrittenAt = partialWrittenAt.map { max($0, moment) }
    state = .running
    resumeData = nil
    unresolvedStarts = 0
    nextRetryAt = nil
    updatedAt = moment
  }

  /// Notes that the transfer of this generation is still running, after a command was withdrawn.
  package mutating func continueTransfer() {
    state = .running
  }

  /// Returns a running record to the queue, because its transfer was ended by the engine.
  ///
  /// A record in another state stays as it is.
  ///
  /// - Parameters:
  ///   - isHeld: Whether it waits until the user resumes it, because another download preempted it.
  ///   - hasEnded: Whether the transfer is over, and so crashed nothing.
  ///   - resumeData: Resume data that the task has left.
  ///   - moment: The time of the interruption.
  package mutating func interrupt(
    isHeld: Bool = false,
    hasEnded: Bool = false,
    resumeData: Data? = nil,
    at moment: Date
  ) {
    guard state == .running else { return }
    state = .waiting
    if isHeld { self.isHeld = true }
    if hasEnded { unresolvedStarts = 0 }
    if let resumeData { self.resumeData = resumeData }
    updatedAt = moment
  }

  /// Notes that the last started transfer ended in an orderly way, and so crashed nothing.
  package mutating func resolveStart() {
    unresolvedStarts = 0
  }

  /// Counts bytes that are synced.
  ///
  /// Progress beyond the largest count so far clears the failures. A smaller one does not: a server
  /// may change the entity with every response, and its failures must not be forgotten each time.
  ///
  /// - Parameters:
  ///   - synced: The bytes.
  ///   - damaged: Bytes that do not count any more, because their piece has another digest.
  ///   - total: The size of the complete file, if it is known.
  ///   - entityTag: The entity tag of the bytes.
  ///   - lastModified: The `Last-Modified` field of the bytes.
  ///   - writtenAt: The modification time of the partial file after the bytes were written; `nil` if
  ///     it is not known.
  ///   - moment: The time of the checkpoint.
  package mutating func checkpoint(
    _ synced: ByteRanges,
    damaged: ByteRanges? = nil,
    total: Int64?,
    entityTag: String?,
    lastModified: String?,
    writtenAt: Date? = nil,
    at moment: Date
  ) {
    if synced.byteCount > resolvedBytes {
      failedAttempts = 0
      resolvedBytes = synced.byteCount
      unresolvedStarts = 0
    }
    // Bytes that the server sends again were synced before.
    var counted = committed.union(synced)
    for range in damaged?.ranges ?? [] { counted.remove(range) }
    count(counted)
    if !counted.isEmpty { partialWrittenAt = writtenAt }
    expected = total
    self.entityTag = entityTag
    self.lastModified = lastModified
    updatedAt = moment
  }

  /// Uncounts all bytes on disk, and forgets the entity that they belong to.
  package mutating func dropBytes() {
    count(ByteRanges())
    expected = nil
    entityTag = nil
    lastModified = nil
  }

  /// Counts exactly these bytes, in as many ranges as a record stores.
  private mutating func count(_ bytes: ByteRanges) {
    let stored = ByteRanges(bytes.ranges.prefix(ByteRanges.storedLimit))
    received = stored.byteCount
    ranges = stored.isPrefix ? nil : stored.encoded
    if stored.isEmpty { partialWrittenAt = nil }
  }

  /// Uncounts all bytes on disk, because the server sends another entity from its first byte.
  package mutating func startEntity(
    total: Int64?,
    entityTag: String?,
    lastModified: String?,
    at moment: Date
  ) {
    count(ByteRanges())
    expected = total
    self.entityTag = entityTag
    self.lastModified = lastModified
    updatedAt = moment
  }

  /// Uncounts the bytes from an offset on, because they are delivered again.
  package mutating func rollBack(to offset: Int64, at moment: Date) {
    if offset == 0 { dropBytes() } else { count(committed.intersection(ByteRanges(upTo: offset))) }
    updatedAt = moment
  }

  /// Counts exactly some bytes, which were compared with the digests of their pieces.
  ///
  /// - Parameters:
  ///   - correct: The bytes.
  ///   - writtenAt: The modification time of the partial file before it was read.
  ///   - moment: The time of the decision.
  package mutating func recount(_ correct: ByteRanges, writtenAt: Date?, at moment: Date) {
    if correct.isEmpty {
      dropBytes()
    } else {
      count(correct)
      partialWrittenAt = writtenAt
    }
    updatedAt = moment
  }

  /// Stores resume data, or drops it.
  package mutating func replaceResumeData(with data: Data?) {
    resumeData = data
  }
}

// MARK: - Ends of attempts

extension DownloadRecord {
  /// Notes a failed attempt, and decides whether another one follows.
  ///
  /// - Parameters:
  ///   - failure: Why the attempt failed.
  ///   - source: The URL that was requested.
  ///   - moment: The time of the failure.
  ///   - droppingBytes: Whether the bytes on disk are useless, so that the next attempt starts from
  ///     the first byte.
  ///   - hooks: The hooks to mark as pending if the download fails permanently.
  ///   - wait: The wait before the next attempt, given the record with the failure; `nil` to give
  ///     up. The only place that knows the limits of retries.
  /// - Returns: That wait.
  package mutating func fail(
    _ failure: DownloadFailure,
    from source: String,
    at moment: Date,
    droppingBytes: Bool = false,
    marking hooks: Set<DownloadHook> = [],
    retryingAfter wait: (Self) -> Duration?
  ) -> Duration? {
    note(failure, from: source, at: moment)
    if droppingBytes {
      dropBytes()
      resumeData = nil
    }
    unresolvedStarts = 0
    failedAttempts += 1
    let wait = wait(self)
    if wait == nil {
      state = .failedPermanent
      pendingHooks = hooks.intersection([.failure])
    } else if intent == .pause {
      state = .paused
    } else if droppingBytes, wait == .zero {
      state = .waiting
    } else {
      state = .failedRetryable
    }
    nextRetryAt =
      state == .failedRetryable
      ? wait.map { moment.addingTimeInterval($0 / .seconds(1)) } : nil
    return wait
  }

  /// Returns the record to the queue without counting an attempt, because this machine lacks disk
  /// space, descriptors or memory.
  ///
  /// - Parameters:
  ///   - failure: The failure to list among the attempts, once per wait; `nil` for none.
  ///   - source: The URL that was requested.
  ///   - moment: The time of the failure.
  package mutating func deferAttempt(
    noting failure: DownloadFailure? = nil,
    from source: String,
    at moment: Date
  ) {
    if let failure, attempts.last?.failure != failure {
      note(failure, from: source, at: moment)
    }
    unresolvedStarts = 0
    awaitAttempt()
    updatedAt = moment
  }

  /// Makes the record wait for its next attempt; one that the user has paused becomes `paused`.
  ///
  /// A record in `finalizing` may have the intent `pause` without being paused, because a rename
  /// needs no network. If the rename comes to nothing, the next attempt does need it.
  package mutating func awaitAttempt() {
    state = intent == .pause ? .paused : .waiting
  }

  /// Requeues a record that no task works for any more, or gives it up as a crash suspect.
  ///
  /// - Parameters:
  ///   - state: `waiting` or `failedRetryable`.
  ///   - hasCrashed: Whether the process crashed while the record's transfer may have been running.
  ///   - maximumStarts: The number of crashes after which the record fails permanently.
  ///   - source: The URL that was requested.
  ///   - hooks: The hooks to mark as pending if the record is given up.
  ///   - moment: The time of the decision.
  package mutating func requeue(
    as state: DownloadState,
    hasCrashed: Bool,
    maximumStarts: Int32,
    source: String,
    marking hooks: Set<DownloadHook> = [],
    at moment: Date
  ) {
    if self.state == .running, !hasCrashed { unresolvedStarts = max(0, unresolvedStarts - 1) }
    self.state = state
    guard unresolvedStarts >= maximumStarts else { return }
    self.state = .failedPermanent
    pendingHooks = hooks.intersection([.failure])
    note(
      DownloadFailure(
        .quarantined,
        "the process crashed \(unresolvedStarts) times while this was transferred"
      ),
      from: source,
      at: moment
    )
  }

  /// Notes that the files of a cancelled download are deleted.
  package mutating func finishCancellation() {
    state = .cancelled
    if received > 0 { dropBytes() }
  }

  /// Pauses a record whose transfer or rename has ended, as its intent says.
  package mutating func finishPause() {
    state = .paused
  }

  /// Adds a failure to ``attempts``, and drops the oldest ones over the limit.
  private mutating func note(
    _ failure: DownloadFailure,
    from source: String,
    at moment: Date
  ) {
    attempts.append(Attempt(at: moment, url: source, failure: failure, received: received))
    if attempts.count > Attempt.limit { attempts.removeFirst(attempts.count - Attempt.limit) }
    updatedAt = moment
  }
}

// MARK: - Completion

extension DownloadRecord {
  /// Notes that the complete, synced partial file is about to get its name.
  ///
  /// After a kill, the identity tells whether the rename has happened.
  package mutating func finalize(
    _ identity: FileIdentity,
    entityTag: String?,
    lastModified: String?,
    verifiedDigest: String?,
    at moment: Date
  ) {
    state = .finalizing
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    resolvedBytes = max(resolvedBytes, identity.size)
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.verifiedDigest = verifiedDigest
    fileIdentity = identity
    if identity.size > 0 { partialWrittenAt = identity.modificationDate }
    updatedAt = moment
  }

  /// Notes that the file has its name.
  ///
  /// - Parameters:
  ///   - hooks: The hooks to mark as pending, of which only that of a completion applies.
  ///   - moment: The time of completion.
  package mutating func complete(marking hooks: Set<DownloadHook> = [], at moment: Date) {
    state = .completed
    pendingHooks = hooks.intersection([.completion])
    completedAt = moment
    updatedAt = moment
    failedAttempts = 0
    unresolvedStarts = 0
    resumeData = nil
    replacedFileIdentity = nil
    clearSchedule()
  }

  /// Adopts an existing file as the finished one, unread.
  package mutating func adoptFile(_ identity: FileIdentity, at moment: Date) {
    fileIdentity = identity
    count(ByteRanges(upTo: identity.size))
    expected = identity.size
    state = .completed
    completedAt = moment
  }

  /// Counts the bytes of a partial file that another program has begun, which are synced.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - byteCount: The size of the complete file.
  ///   - writtenAt: The modification time of the partial file.
  ///   - moment: The time of the change.
  package mutating func adoptBytes(
    _ bytes: ByteRanges,
    of byteCount: Int64,
    writtenAt: Date?,
    at moment: Date
  ) {
    count(bytes)
    if !bytes.isEmpty { partialWrittenAt = writtenAt }
    resolvedBytes = received
    expected = byteCount
    updatedAt = moment
  }

  /// Queues a completed download again, whose file has damaged bytes; the partial file has the
  /// others.
  ///
  /// - Parameters:
  ///   - kept: The bytes of the partial file, which are synced.
  ///   - identity: The identity of the finished file, which stays until the repaired one replaces it.
  ///   - writtenAt: The modification time of the partial file.
  ///   - moment: The time of the repair.
  package mutating func repair(
    keeping kept: ByteRanges,
    replacing identity: FileIdentity?,
    writtenAt: Date?,
    at moment: Date
  ) {
    requeue()
    generation += 1
    count(kept)
    if !kept.isEmpty { partialWrittenAt = writtenAt }
    resolvedBytes = received
    verifiedDigest = nil
    completedAt = nil
    replacedFileIdentity = identity
    fileIdentity = nil
    removesFile = false
    updatedAt = moment
  }

  /// Notes that a hook has succeeded.
  package mutating func finishHook(_ hook: DownloadHook) {
    pendingHooks.remove(hook)
  }

  /// Notes that the finished file replaces an existing one.
  package mutating func replaceFile(_ identity: FileIdentity) {
    replacedFileIdentity = identity
  }
}
