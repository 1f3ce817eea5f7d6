internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Handles the tasks that a previous engine left.
  ///
  /// Most transports deliver to the sinks of the previous engine, so their tasks are cancelled. The
  /// tasks of a ``BackgroundTransport`` are reconciled with their records. A task continues, or is
  /// cancelled and leaves resume data. A task that has ended delivers its result.
  func adoptTasks() async throws {
    let left = await transport.liveTasks()
    guard let transport = transport as? any BackgroundTransport else {
      for task in left where task.recordID != TaskRequest.noRecord { transport.cancel(task.id) }
      return
    }
    try await discardUnusedBytes(transport)
    let tasks = Dictionary(grouping: left, by: \.recordID)
    let records = try await store.objects.read { tx in
      try tasks.keys.sorted().compactMap { id in
        try tx.first(DownloadRecord.where { $0.id == id })
      }
    }
    // Running records take their slots before the others.
    for record in records.filter({ $0.state == .running })
      + records.filter({ $0.state != .running })
    where isInScope(record) {
      try await adopt(tasks[record.id] ?? [], of: record, transport)
    }
    let known = Set(records.map(\.id))
    for task in left where !known.contains(task.recordID) { end(task, transport) }
  }

  /// Ends a task that has no record.
  private func end(_ task: TaskSnapshot, _ transport: any BackgroundTransport) {
    let decision = Reconciler.decide(ReconcileCase(stored: .none, task: .init(of: [task])))
    logger?.debug(
      "task without a record",
      metadata: ["record": "\(task.recordID)", "rules": "\(decision.ruleNames)"]
    )
    if decision.effects.task == .cancel || task.state != .ended {
      // Also a task that is being cancelled: it may still deliver a body, which is deleted then.
      transport.cancel(task.id)
    } else {
      transport.acknowledge(task.id)
    }
  }

  private func adopt(
    _ tasks: [TaskSnapshot],
    of record: DownloadRecord,
    _ transport: any BackgroundTransport
  ) async throws {
    let adoption = Adoption(
      of: tasks,
      inspect(record, task: .init(of: tasks), hasFreeSlot: hasFreeSlot(for: record))
    )
    let found = adoption.found
    log("reconcile task", record, ["rules": found.decision.ruleNames])
    for task in adoption.others { transport.cancel(task.id) }
    guard let task = adoption.task else { return }
    guard adoption.needsSink else { return transport.cancel(task.id) }
    let adopts = found.effects.task == .adopt
    let isReadAgain = adoption.isReadAgain
    var changed: DownloadRecord? = record
    if adopts { changed = try await commitAdopted(record) }
    if isReadAgain { changed = try await commitRolledBack(record, to: task.offset) }
    guard let record = changed else { return transport.cancel(task.id) }
    let file: PartialFile
    do {
      try placement.makeFolder(found.layout.folderPath)
      file = try PartialFile(
        path: found.layout.partialPath,
        keeping: ByteRanges(upTo: task.offset),
        of: found.partialIdentity,
        faultInjector: environment.faultInjector
      )
    } catch {
      transport.cancel(task.id)
      // A record that is not to run has no attempt that could fail: `reconcileAtLaunch` handles it.
      guard record.intent == .run else { return }
      return try await commit(AttemptEnd(of: record, notOpening: error))
    }
    let pieces = try await store.objects.read { tx in
      record.hasPieceDigests ? try tx.find(PieceDigests.self, key: record.id) : nil
    }
    let order = queue.nextOrder()
    let download = ActiveTransfer(
      record: record,
      layout: found.layout,
      // It is not known whether the task started from resume data. Assume so, because a status of
      // 412 or 416 then restarts the download.
      transfer: transfer(
        of: record,
        into: file,
        from: task.offset,
        pieces: pieces?.isRequired == true ? pieces : nil,
        usesResumeData: true,
        isAdopted: true
      ),
      task: task.id,
      candidate: Scheduler.Candidate(record, order: order, volume: locations.volume(of: record)),
      started: order,
      startedAt: environment.instant(),
      committed: task.offset,
      // If the record is not to run, only wait for the task to end and leave resume data.
      isEnding: !adopts && !(task.state == .ended && record.intent == .run)
    )
    active.insert(download)
    transport.adopt(task.id, sink: download.transfer)
    if adopts {
      dispatcher.emit(.started(record, offset: task.offset))
      if task.state == .suspended { transport.resume(task.id) }
    } else if task.state == .running || task.state == .suspended {
      transport.cancel(task.id)
    }
  }

  private func hasFreeSlot(for record: DownloadRecord) -> Bool {
    active.haveFreeSlot(for: RecordIdentity.origin(of: record.source), queue.limits)
  }

  /// Commits that the record runs with an adopted task.
  ///
  /// - Returns: The changed record; `nil` if a command has changed it since.
  private func commitAdopted(_ adopted: DownloadRecord) async throws -> DownloadRecord? {
    let moment = now()
    // What a later process knows of the bytes that the task had received before.
    let validator = EarlierResponse(ofTaskOf: adopted, held: 0, total: nil)?.validator
    return try await commit { tx in
      try tx.apply(
        .taskAdopted(
          entityTag: validator?.entityTag,
          lastModified: validator?.lastModified
        ),
        to: TransferKey(adopted),
        if: { $0.intent == adopted.intent },
        at: moment
      )
    }
  }
}

extension DownloadEngine {
  /// Commits that the bytes from an offset on no longer count, because they are delivered again.
  ///
  /// A retry that the user has requested since does not discard the delivered bytes.
  ///
  /// - Returns: The changed record; `nil` if its intent has changed since.
  private func commitRolledBack(
    _ old: DownloadRecord,
    to offset: Int64
  ) async throws -> DownloadRecord? {
    let moment = now()
    return try await commit { tx in
      try tx.update(TransferKey(old), if: { $0.intent == old.intent }) {
        $0.rollBack(to: offset, at: moment)
      }
    }
  }

  /// Deletes the bytes that a transport keeps for records that will not continue from them.
  private func discardUnusedBytes(_ transport: any BackgroundTransport) async throws {
    let ids = transport.keptRecordIDs
    guard !ids.isEmpty else { return }
    let used = try await store.objects.read { tx in
      try ids.filter { id in
        let record = try tx.first(DownloadRecord.where { $0.id == id })
        return record.map(\.mayUseResumeData) ?? false
      }
    }
    for id in ids where !used.contains(id) { transport.discardBytes(ofRecord: id) }
  }

  /// Acknowledges the ended tasks whose results are committed, so that the transport deletes their
  /// bytes.
  func acknowledgeEnds() {
    // Other transports do not need them, but they must not accumulate.
    let ends = active.takeCommittedEnds()
    guard let transport = transport as? any BackgroundTransport else { return }
    for task in ends { transport.acknowledge(task) }
  }
}

extension DownloadRecord {
  /// Whether an attempt may continue from resume data, stored or still to be produced by a task.
  fileprivate var mayUseResumeData: Bool {
    guard intent == .run || intent == .pause else { return false }
    switch state {
    case .running: return true
    case .waiting, .paused, .failedRetryable, .failedPermanent: return resumeData != nil
    case .finalizing, .completed, .cancelled, .removed: return false
    }
  }
}
