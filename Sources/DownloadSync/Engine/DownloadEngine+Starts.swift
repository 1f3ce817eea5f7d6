internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// A download to start: chosen in the commit, started after it.
  private struct Start: Sendable {
    var record: DownloadRecord
    var layout: FileLayout
    /// The identity of the partial file whose bytes continue; `nil` if it could not be examined.
    var partialIdentity: FileIdentity?
    var candidate: Scheduler.Candidate
    var plan: TransferPlan
    /// The number of committed bytes that the plan drops.
    var lostBytes: Int64
    var headers: RequestHeaders?
    /// The digests of the pieces that the store has.
    var pieces: PieceDigests?
  }

  /// Starts eligible downloads: one commit for all of them, then the files are opened, then the
  /// tasks are started.
  ///
  /// Repeats until no waiting download can use a free slot, unless this machine is short of
  /// resources. Reads a limited number of records from the store; if more are needed, an input
  /// continues after those that have arrived in the meantime.
  ///
  /// The first commit also completes the records of the files that are in place.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`; `StoreError`.
  func startEligible() async throws {
    try await startQueued()
    try await beginChecks()
    try await commitCompleted()
  }

  private func startQueued() async throws {
    var pageCount = 0
    while !queue.isEmpty, !queue.delaysStarts(at: environment.instant()) {
      let next = queue.takeStarts(
        beside: active,
        at: environment.instant(),
        available: environment.availableBytes
      )
      // The preempted downloads are held until the user resumes them.
      try await stopTransfers(next.preempted, areHeld: true)
      try await stopTransfers(next.suspended, areHeld: false)
      for (url, origin) in next.narrowed { endLastConnection(of: url, to: origin) }
      let chosen = next.starting
      guard !chosen.isEmpty else {
        guard let need = next.need else { return }
        guard pageCount < options.queueBounds.pagesPerTurn else { return inbox.post(.queueRead) }
        pageCount += 1
        try read(need)
        continue
      }
      let locations = locations
      let policy = policy.afterWait
      let moment = now()
      // The attempt is committed before the request, so that a server whose response crashes the
      // process can be identified afterwards.
      let transferred = Set(active.values.map(\.record.id))
      let hooks = options.hooks
      let placed = completion.placed
      let (completed, starts, moved, unplaced, others) = try await commit {
        [takesResumeData] tx in
        let completed = try tx.complete(placed, marking: hooks, at: moment)
        var starts: [Start] = []
        var moved: [DownloadRecord] = []
        var unplaced: [DownloadRecord] = []
        var others: [(Reconciliation, Scheduler.Candidate)] = []
        for candidate in chosen {
          guard var record = try tx.find(DownloadRecord.self, key: candidate.url), record.mayStart
          else { continue }
          // The record may have been moved to this URL while the transfer of its previous URL is
          // still ending. The end of that transfer enqueues it.
          guard !transferred.contains(record.id) else { continue }
          // The record may request another host by now, and that host has a limit of its own. Or
          // it must not start yet.
          guard RecordIdentity.origin(of: record.source) == candidate.origin,
            record.isDue(at: moment)
          else {
            moved.append(record)
            continue
          }
          guard (try? locations.layout(of: record)) != nil else {
            unplaced.append(record)
            continue
          }
          let found = Reconciliation(
            of: record,
            in: locations.roots,
            now: moment,
            policy: policy
          )
          if let start = try Self.prepare(
            &record,
            found,
            candidate,
            takesResumeData: takesResumeData,
            at: moment,
            in: &tx
          ) {
            starts.append(start)
          } else {
            others.append((found, candidate))
          }
        }
        return (completed, starts, moved, unplaced, others)
      }
      noteCompleted(completed, of: placed.count)
      let continued = starts.map(\.record) + moved + unplaced + others.map(\.0.record)
      noteGivenUp(chosen, except: Set(continued.map(\.id)))
      for start in starts { try await begin(start) }
      for record in moved { enqueue(record) }
      for record in unplaced { try await failUnplaced(record) }
      for (found, candidate) in others where found.effects.partial == .check {
        checks.insert(found, candidate)
      }
      // Records that need no request, such as one whose file already has its final name but whose
      // folder could not be synced.
      try await execute(others.map(\.0).filter { $0.effects.partial != .check })
      try await settleReplaced()
      // A download that failed to start has left its slot to another one.
      guard next.need != nil || chosen.contains(where: { active[$0.url] == nil }) else { return }
    }
  }

  /// Notes the chosen downloads that may not start after all.
  private func noteGivenUp(_ chosen: [Scheduler.Candidate], except continued: Set<String>) {
    for candidate in chosen where !continued.contains(candidate.recordID) {
      queue.noteGivenUp(candidate.recordID)
    }
  }

  /// Decides where the record's next byte comes from, and writes its start into the transaction.
  ///
  /// - Returns: The start; `nil` if the decision needs no request.
  private static func prepare(
    _ record: inout DownloadRecord,
    _ found: Reconciliation,
    _ candidate: Scheduler.Candidate,
    takesResumeData: Bool,
    at moment: Date,
    in tx: inout StoreTransaction
  ) throws -> Start? {
    // Without a plan there is no request; the caller executes the decision as at launch. If the
    // pieces of the file are to be checked, the download starts after that.
    guard let plan = found.effects.plan, found.effects.partial != .check else { return nil }
    // Resume data covers the whole file: the received bytes are in a file of the system, and none
    // of them in the partial file.
    let effects = found.effects
    let usesBytes =
      !effects.rollsBack && !(plan.source == .resumeData && record.received > 0)
    ResumeDataChange(effects.resumeData, left: nil).apply(to: &record)
    // The task of a background transport delivers the rest of the file from one offset on. Without
    // the size, the gap at the end has no length.
    if !record.committed.isPrefix, takesResumeData || record.expected == nil {
      record.rollBack(to: record.committed.prefixLength, at: moment)
    }
    try record.apply(.started(keepingBytes: usesBytes), at: moment)
    var pieces =
      record.hasPieceDigests ? try tx.find(PieceDigests.self, key: record.id) : nil
    if record.received == 0, pieces?.isRequired == false {
      // Recorded digests are those of bytes that do not count any more.
      try tx.delete(PieceDigests.self, key: record.id)
      record.hasPieceDigests = false
      pieces = nil
    }
    try tx.upsert(record)
    let headers = record.hasHeaders ? try tx.find(RequestHeaders.self, key: record.id) : nil
    return Start(
      record: record,
      layout: found.layout,
      partialIdentity: found.partialIdentity,
      candidate: candidate,
      plan: plan,
      lostBytes: found.lostBytes,
      headers: headers,
      pieces: pieces
    )
  }

  /// Opens the partial file and starts the task.
  private func begin(_ start: Start) async throws {
    let record = start.record
    // `prepare` has dropped the bytes of a record that restarts.
    let kept = record.committed
    let gap = record.firstGap
    let (offset, end) = (gap.lowerBound, gap.upperBound < kept.end ? gap.upperBound : nil)
    let file: PartialFile
    do {
      try placement.makeFolder(start.layout.folderPath)
      file = try PartialFile(
        path: start.layout.partialPath,
        keeping: kept,
        of: start.partialIdentity,
        faultInjector: environment.faultInjector
      )
    } catch {
      // The record of a download that restarts has no size any more.
      let size = start.candidate.missingBytes
      return try await commit(
        AttemptEnd(
          of: record,
          error.asDownloadFailure,
          bytes: error.interference == nil ? .keep : .restart(from: record.received),
          size: size
        )
      )
    }
    let proof = record.resumeProof(
      with: start.pieces,
      trustsDigest: trust[record.id] < .equalValidators
    )
    active.insert(
      ActiveTransfer(
        record: record,
        layout: start.layout,
        transfer: transfer(
          of: record,
          into: file,
          from: offset,
          to: end,
          pieces: start.pieces,
          proof: proof,
          // A background transport may continue from resume data that it kept itself.
          usesResumeData: takesResumeData
        ),
        candidate: start.candidate,
        started: queue.nextOrder(),
        startedAt: environment.instant(),
        committed: record.received,
        usesResumeData: start.plan.source == .resumeData,
        headers: start.headers,
        split: options.split,
        splitRateLimit: transport.splitRateLimit
      )
    )
    log("start", record, ["offset": "\(offset)", "plan": start.plan.source.rawValue])
    if start.lostBytes > 0 {
      dispatcher.emit(.rolledBack(url: record.url, from: start.lostBytes), of: record.id)
    }
    dispatcher.emit(.started(record, offset: offset))
    if start.plan.source == .finalise {
      inbox.post(.taskEnded(TransferKey(record), .complete))
      return
    }
    let request = TaskRequest(
      url: record.source,
      recordID: record.id,
      offset: offset,
      end: end,
      validator: kept.isEmpty ? nil : proof.ifRange,
      validatorOrigin: record.validatorOrigin ?? RecordIdentity.origin(of: record.url),
      headers: start.headers?.fields(sentTo: record.source) ?? [],
      credentialURL: start.headers?.origin ?? record.url,
      resumeData: start.plan.source == .resumeData ? record.resumeData : nil,
      allowsCellular: record.allowsCellular,
      prefersBackground: record.prefersBackground
    )
    active.noteRequest(request, of: record.url)
    if let preparation = dispatcher.prepare(request, for: record) {
      active.notePreparation(preparation, of: record.url)
    } else if let transfer = active[record.url]?.transfer {
      active.noteStart(of: transport.start(request, sink: transfer), for: record.url)
    }
  }

  /// Starts a task of a transfer with the request that the interceptors returned.
  ///
  /// - Returns: The result of the transfer if it is over: an interceptor rejected the request, or
  ///   the engine is ending the transfer. Otherwise `nil`.
  func send(
    _ prepared: Result<TaskRequest, DownloadFailure>,
    _ number: Int,
    for key: TransferKey
  ) -> TransferResult? {
    guard number == 0 else { return send(prepared, part: number, of: key) }
    guard let download = active[key] else { return nil }
    active.notePrepared(key.url)
    guard !download.isEnding else { return .cancelled }
    switch prepared {
    case .success(let request):
      let task = transport.start(request, sink: download.transfer)
      active.noteStart(of: task, for: key.url)
      return nil
    case .failure(let failure):
      return .failed(failure, retryAfter: nil)
    }
  }

  /// Creates the sink for a task of a record.
  func transfer(
    of record: DownloadRecord,
    into file: PartialFile,
    from offset: Int64,
    to end: Int64? = nil,
    pieces: PieceDigests? = nil,
    proof: RangeProof? = nil,
    usesResumeData: Bool,
    isAdopted: Bool = false
  ) -> Transfer {
    Transfer(
      record: record,
      offset: offset,
      end: end,
      pieces: pieces,
      proof: proof,
      usesResumeData: usesResumeData,
      isAdopted: isAdopted,
      file: file,
      checkpointBytes: options.checkpointBytes,
      preallocation: options.preallocation,
      pieceLength: options.pieceLength,
      now: now,
      inbox: inbox,
      rollBack: rollBack(TransferKey(record)),
      naming: options.naming,
      rename: rename(TransferKey(record))
    )
  }

  /// Returns a closure that commits, on the transport's queue, that the bytes on disk no longer
  /// count.
  ///
  /// The closure throws ``Transfer/RecordChanged`` if the record has changed: its bytes then no
  /// longer belong to this transfer.
  private func rollBack(_ key: TransferKey) -> Transfer.RollBack {
    let objects = store.objects
    let ownWrites = ownWrites
    let now = now
    let faultInjector = environment.faultInjector
    return { head, total in
      try faultInjector?.checkCommit()
      try objects.write(withoutNotifying: ownWrites) { tx in
        // Recorded digests are those of the old entity.
        let digests = try tx.find(PieceDigests.self, key: key.recordID)
        let hasOldDigests = digests.map { !$0.isRequired } ?? false
        let record = try tx.update(key) { record in
          record.startEntity(
            total: total,
            entityTag: head.storable("ETag"),
            lastModified: head.storable("Last-Modified"),
            validatorOrigin: head.origin(unlike: RecordIdentity.origin(of: key.url)),
            at: now()
          )
          if hasOldDigests { record.hasPieceDigests = false }
        }
        if record == nil { throw Transfer.RecordChanged() }
        if hasOldDigests { try tx.delete(PieceDigests.self, key: key.recordID) }
      }
    }
  }

  /// Returns a closure that commits, on the transport's queue, the file name that the response
  /// suggests.
  private func rename(_ key: TransferKey) -> Transfer.Rename {
    let store = store
    let ownWrites = ownWrites
    let roots = locations.roots
    let now = now
    let inbox = inbox
    let faultInjector = environment.faultInjector
    return { name in
      try faultInjector?.checkCommit()
      let renamed = try store.objects.write(withoutNotifying: ownWrites) { tx -> DownloadRecord? in
        guard var record = try tx.record(of: key) else { return nil }
        let before = record.filename
        try store.adoptName(name, for: &record, roots, in: &tx)
        guard record.filename != before else { return nil }
        record.updatedAt = now()
        try tx.upsert(record)
        return record
      }
      if let renamed { inbox.post(.renamed(renamed)) }
    }
  }
}

extension DownloadRecord {
  /// The first missing bytes; up to the largest offset if the size is unknown.
  fileprivate var firstGap: Range<Int64> {
    let start = committed.prefixLength
    let gap = committed.gaps(in: start..<max(start, expected ?? .max)).ranges.first
    return gap ?? start..<max(start, expected ?? .max)
  }
}
