internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// A download to start: chosen in the commit, started after it.
  private struct Start: Sendable {
    var record: DownloadRecord
    var layout: FileLayout
    var candidate: Scheduler.Candidate
    var plan: TransferPlan
    /// The number of committed bytes that the plan drops.
    var lostBytes: Int64
    var headers: [HeaderField] = []
  }

  /// Starts eligible downloads: one commit for all of them, then the files are opened, then the
  /// tasks are started.
  ///
  /// Repeats until no waiting download can use a free slot, unless this machine is short of
  /// resources. Reads a limited number of records from the store; if more are needed, an input
  /// continues after those that have arrived in the meantime.
  func startEligible() async throws {
    var pageCount = 0
    while !queue.isEmpty, !queue.delaysStarts(at: environment.instant()) {
      let next = queue.takeStarts(
        beside: active,
        at: environment.instant(),
        available: environment.availableBytes
      )
      // The preempted downloads are held until the user resumes them.
      try await stopTransfers(next.preempted, areHeld: true)
      let chosen = next.starting
      guard !chosen.isEmpty else {
        guard let need = next.need else { return }
        guard pageCount < options.queueBounds.pagesPerTurn else { return inbox.post(.queueRead) }
        pageCount += 1
        try read(need)
        continue
      }
      let locations = locations
      var duePolicy = policy
      duePolicy.retriesAreDue = true
      let policy = duePolicy
      let moment = now()
      // The attempt is committed before the request, so that a server whose response crashes the
      // process can be identified afterwards.
      let transferred = Set(active.values.map(\.record.id))
      let (starts, moved, others) = try await commit { [placement] tx in
        var starts: [Start] = []
        var moved: [DownloadRecord] = []
        var others: [Reconciliation] = []
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
          placement.adoptEarlierPartial(of: record, try locations.layout(of: record))
          let found = try Reconciliation(
            of: record,
            in: locations.roots,
            now: moment,
            policy: policy
          )
          if let start = try Self.prepare(&record, found, candidate, at: moment, in: &tx) {
            starts.append(start)
          } else {
            others.append(found)
          }
        }
        return (starts, moved, others)
      }
      for start in starts { try await begin(start) }
      for record in moved { enqueue(record) }
      // Records that need no request, such as one whose file already has its final name but whose
      // folder could not be synced.
      try await execute(others)
      // A download that failed to start has left its slot to another one.
      guard next.need != nil || chosen.contains(where: { active[$0.url] == nil }) else { return }
    }
  }

  /// Decides where the record's next byte comes from, and writes its start into the transaction.
  ///
  /// - Returns: The start; `nil` if the decision needs no request.
  private static func prepare(
    _ record: inout DownloadRecord,
    _ found: Reconciliation,
    _ candidate: Scheduler.Candidate,
    at moment: Date,
    in tx: inout StoreTransaction
  ) throws -> Start? {
    // Without a plan there is no request; the caller executes the decision as at launch.
    guard let plan = found.decision.plan else { return nil }
    // Resume data covers the whole file: the received bytes are in a file of the system, and none
    // of them in the partial file.
    let effects = found.effects
    let usesBytes =
      !effects.rollsBack && !(plan.source == .resumeData && record.received > 0)
    ResumeDataChange(effects.resumeData, left: nil).apply(to: &record)
    record.start(keepingBytes: usesBytes, at: moment)
    try tx.upsert(record)
    let headers =
      record.hasHeaders
      ? try tx.find(RequestHeaders.self, key: record.id)?.fields(of: record, sentTo: record.source)
      : nil
    return Start(
      record: record,
      layout: found.layout,
      candidate: candidate,
      plan: plan,
      lostBytes: found.lostBytes,
      headers: headers ?? []
    )
  }

  /// Opens the partial file and starts the task.
  private func begin(_ start: Start) async throws {
    let record = start.record
    // `prepare` has dropped the bytes of a record that restarts.
    let offset = record.received
    let file: PartialFile
    do {
      try placement.makeFolder(start.layout.folderPath)
      file = try PartialFile(
        path: start.layout.partialPath,
        offset: offset,
        faultInjector: environment.faultInjector
      )
    } catch {
      try await commitFailure(record, error.asDownloadFailure, retryAfter: nil)
      return
    }
    active.insert(
      ActiveTransfer(
        record: record,
        layout: start.layout,
        transfer: transfer(
          of: record,
          into: file,
          from: offset,
          // A background transport may continue from resume data that it kept itself.
          usesResumeData: takesResumeData
        ),
        candidate: start.candidate,
        started: queue.nextOrder(),
        startedAt: environment.instant(),
        committed: offset,
        usesResumeData: start.plan.source == .resumeData
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
      validator: offset > 0 ? Validator(of: record)?.ifRange : nil,
      headers: start.headers,
      resumeData: start.plan.source == .resumeData ? record.resumeData : nil,
      allowsCellular: record.allowsCellular,
      prefersBackground: record.prefersBackground
    )
    if let preparation = dispatcher.prepare(request, for: record) {
      active.notePreparation(preparation, of: record.url)
    } else if let transfer = active[record.url]?.transfer {
      active.noteStart(of: transport.start(request, sink: transfer), for: record.url)
    }
  }

  /// Starts the task of a transfer with the request that the interceptors returned.
  ///
  /// - Returns: The result of the transfer if it is over: an interceptor rejected the request, or
  ///   the engine is ending the transfer. Otherwise `nil`.
  func send(
    _ prepared: Result<TaskRequest, DownloadFailure>,
    for key: TransferKey
  ) -> TransferResult? {
    guard let download = active[key] else { return nil }
    active.notePrepared(key.url)
    guard !download.isEnding else { return .cancelled }
    switch prepared {
    case .success(let request):
      active.noteStart(of: transport.start(request, sink: download.transfer), for: key.url)
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
    usesResumeData: Bool
  ) -> Transfer {
    Transfer(
      record: record,
      offset: offset,
      usesResumeData: usesResumeData,
      file: file,
      checkpointBytes: options.checkpointBytes,
      now: now,
      inbox: inbox,
      startWork: environment.startLongWork,
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
    let ownCommits = ownCommits
    let now = now
    let faultInjector = environment.faultInjector
    return { head, total in
      try faultInjector?.checkCommit()
      try ownCommits.write(to: objects) { tx in
        let record = try tx.update(key) {
          $0.startEntity(
            total: total,
            entityTag: head["ETag"],
            lastModified: head["Last-Modified"],
            at: now()
          )
        }
        if record == nil { throw Transfer.RecordChanged() }
      }
    }
  }

  /// Returns a closure that commits, on the transport's queue, the file name that the response
  /// suggests.
  private func rename(_ key: TransferKey) -> Transfer.Rename {
    let store = store
    let ownCommits = ownCommits
    let roots = locations.roots
    let now = now
    let inbox = inbox
    let faultInjector = environment.faultInjector
    return { name in
      try faultInjector?.checkCommit()
      let renamed = try ownCommits.write(to: store.objects) { tx -> DownloadRecord? in
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
