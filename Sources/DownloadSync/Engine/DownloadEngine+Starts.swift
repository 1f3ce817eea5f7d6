internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
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
    while true {
      // A start that has failed ends the wait for it.
      try await enqueueEqual()
      guard !queue.isEmpty, !queue.delaysStarts(at: environment.instant()) else { return }
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
      let decisions = try await commitStarts(of: chosen)
      noteGivenUp(chosen, except: Set(decisions.compactMap { $0.record?.id }))
      try await startDecided(decisions)
      try await settleReplaced()
      // A download that failed to start has left its slot to another one.
      guard next.need != nil || chosen.contains(where: { active[$0.url] == nil }) else { return }
    }
  }

  /// Returns the downloads to the queue that wait for a transfer that is over.
  private func enqueueEqual() async throws {
    guard !equalFiles.isEmpty else { return }
    for url in equalFiles.takeFree(beside: active.digestsToAwait) {
      if let record = try await current(url), isInScope(record) { enqueue(record) }
    }
  }

  /// Decides about downloads that the queue has chosen, and commits those that start and the files
  /// that are in place.
  ///
  /// The attempt is committed before the request, so that a server whose response crashes the process
  /// can be identified afterwards.
  private func commitStarts(of chosen: [Scheduler.Candidate]) async throws -> [StartDecision] {
    let (locations, policy, options, moment) = (locations, policy.afterWait, options, now())
    let copies = options.equalFiles == .copy && !takesResumeData
    let refused = equalFiles.refused
    let transferred = Set(active.values.map(\.record.id))
    let placed = completion.placed
    let digests = copies ? active.digestsToAwait : []
    let (completed, decisions) = try await commit { [takesResumeData] tx in
      let completed = try tx.complete(placed, options, at: moment)
      var running = digests
      let decisions = try chosen.map { candidate in
        let decision = StartDecision(
          about: candidate,
          try tx.find(DownloadRecord.self, key: candidate.url),
          beside: transferred,
          at: moment
        ) { record in
          if let failure = DownloadFailure(unplaced: record, in: locations.roots) {
            return .failure(failure)
          }
          let found = Reconciliation(of: record, in: locations.roots, now: moment, policy: policy)
          guard record.requiresName, found.effects.choosesName else { return .success(found) }
          return .failure(DownloadFailure(nameTaken: found.layout.finalPath))
        }
        guard case .start(var start) = decision else { return decision }
        let file =
          copies ? try EqualFile.find(for: start, in: tx, locations.roots, except: refused) : nil
        if copies, file == nil, let digest = start.sharedDigest?.text,
          !running.insert(digest).inserted, !start.record.startsImmediately
        {
          return .wait(start.record, digest: digest)
        }
        try start.begin(takesResumeData: takesResumeData, at: moment)
        if let file { start.copy(file, at: moment) }
        try start.store(in: &tx)
        return .start(start)
      }
      return (completed, decisions)
    }
    noteCompleted(completed, of: placed.count)
    return decisions
  }

  /// Notes the chosen downloads that may not start after all.
  private func noteGivenUp(_ chosen: [Scheduler.Candidate], except continued: Set<String>) {
    for candidate in chosen where !continued.contains(candidate.recordID) {
      queue.noteGivenUp(candidate.recordID)
    }
  }

  /// Carries out decisions whose starts are committed; the starts come first.
  private func startDecided(_ decisions: [StartDecision]) async throws {
    for case .start(let start) in decisions { try await begin(start) }
    var found: [Reconciliation] = []
    for decision in decisions {
      switch decision {
      case .requeue(let record): enqueue(record)
      case .fail(let record, let failure): try await commit(AttemptEnd(of: record, failure))
      case .check(let found, let candidate): checks.insert(found, candidate)
      case .execute(let other): found.append(other)
      case .wait(let record, let digest):
        log("wait for an equal file", record)
        equalFiles.insert(record.url, for: digest)
      case .ignore, .start: break
      }
    }
    try await execute(found)
  }

  /// Opens the partial file and starts the task.
  private func begin(_ start: Start) async throws {
    let record = start.record
    let file: PartialFile
    do {
      try placement.makeFolder(start.layout.folderPath)
      file = try PartialFile(
        path: start.layout.partialPath,
        // The bytes of a record that restarts are dropped.
        keeping: record.committed,
        of: start.partialIdentity,
        faultInjector: environment.faultInjector
      )
    } catch {
      // The record of a download that restarts has no size any more.
      let size = start.candidate.missingBytes
      return try await commit(AttemptEnd(of: record, notOpening: error, size: size))
    }
    let proof = start.proof(trust[record.id])
    let (offset, end) = start.range
    let copy = start.equalFile.map { file in
      FileCopy(
        of: file,
        requiring: options.checksEqualFiles ? start.sharedDigest : nil,
        number: queue.nextOrder()
      )
    }
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
        copy: copy,
        candidate: start.candidate,
        started: queue.nextOrder(),
        startedAt: environment.instant(),
        committed: record.received,
        usesResumeData: start.source == .resumeData,
        headers: start.headers,
        split: copy == nil ? options.split : SplitOptions(maximumConnections: 1),
        splitRateLimit: transport.splitRateLimit
      )
    )
    log("start", record, ["offset": "\(offset)", "plan": start.source.rawValue])
    report(start.loss, of: record)
    dispatcher.emit(.started(record, offset: offset))
    if let copy { return begin(copy, of: record) }
    guard let request = start.request(proving: proof) else {
      return inbox.post(.taskEnded(TransferKey(record), .complete))
    }
    active.noteRequest(request, of: record.url)
    if let preparation = dispatcher.prepare(request, for: record) {
      active.notePreparation(preparation, of: record.url)
    } else if let transfer = active[record.url]?.transfer {
      active.noteStart(of: transport.start(request, sink: transfer), for: record.url)
    }
  }

  /// Starts to copy the bytes of a finished file, beside the loop.
  private func begin(_ copy: FileCopy, of record: DownloadRecord) {
    guard let transfer = active[record.url]?.transfer else { return }
    log("copy", record, ["from": copy.file.recordID])
    dispatcher.emit(.copying(record, from: copy.file.path))
    active.noteStart(of: copy.id, for: record.url)
    environment.startLongWork { copy.run(to: transfer) }
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
      sizeLimit: SizeLimit(maximum: options.maximumFileSize),
      pieceLength: options.pieceLength,
      checks: ResponseChecks(options.responseChecks),
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
            validatorOrigin: head.validatorOrigin(forURLOf: RecordIdentity.origin(of: key.url)),
            at: now()
          )
          if hasOldDigests { record.forgetPieces() }
        }
        if record == nil { throw Transfer.RecordChanged() }
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
