internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  /// Deals with the tasks that an engine before this one has left.
  ///
  /// Those of most transports tell that engine's sinks, so they are ended. Those of a
  /// ``BackgroundTransport`` are compared with their records: they go on, or end and leave resume
  /// data, and those that have ended say how.
  func adoptTasks() async throws {
    let left = await transport.liveTasks()
    guard let transport = transport as? any BackgroundTransport else {
      for task in left { transport.cancel(task.id) }
      return
    }
    try await discardUnusedBytes(transport)
    let tasks = Dictionary(grouping: left, by: \.recordID)
    let records = try await store.objects.read { tx in
      try tasks.keys.sorted().compactMap { id in
        try tx.first(DownloadRecord.where { $0.id == id })
      }
    }
    // What runs has its slot before others get one.
    for record in records.filter({ $0.state == .running })
      + records.filter({ $0.state != .running })
    where isInScope(record.url) {
      try await adopt(tasks[record.id] ?? [], of: record, transport)
    }
    let known = Set(records.map(\.id))
    for task in left where !known.contains(task.recordID) {
      transport.cancel(task.id)
      logger?.debug("task of no record", metadata: ["record": "\(task.recordID)"])
    }
  }

  private func adopt(
    _ tasks: [TaskSnapshot],
    of record: DownloadRecord,
    _ transport: any BackgroundTransport
  ) async throws {
    let found = try inspect(record, task: .init(of: tasks), hasFreeSlot: hasFreeSlot(for: record))
    log("take over", record, ["rules": found.decision.ruleNames])
    let keeper = TaskSnapshot.keeper(of: tasks)
    for task in tasks where task.id != keeper?.id { transport.cancel(task.id) }
    // What it brings must be what our file lacks. A body that was delivered before a kill is read
    // again from its start.
    let isReadAgain = keeper.map { found.readsAgain($0) } ?? false
    // A file that has its name already needs nothing of it: the launch commits that it is complete.
    guard let task = keeper, record.state != .completed,
      !found.decision.actions.contains(.commitCompleted),
      found.lacks(from: task.offset) || isReadAgain
    else {
      if let keeper { transport.cancel(keeper.id) }
      return
    }
    let adopts = found.decision.actions.contains(.adopt)
    var changed: DownloadRecord? = record
    if adopts { changed = try await commitAdopted(record) }
    if isReadAgain { changed = try await commitRolledBack(record, to: task.offset) }
    guard let record = changed else { return transport.cancel(task.id) }
    let file: PartialFile
    do {
      try placement.makeFolder(found.layout.folderPath)
      file = try PartialFile(
        path: found.layout.partialPath,
        offset: task.offset,
        faultInjector: environment.faultInjector
      )
    } catch {
      transport.cancel(task.id)
      // A record that is held has no attempt that could fail; the launch deals with it.
      guard record.intent == .run else { return }
      return try await commitFailure(record, error.asDownloadFailure, retryAfter: nil)
    }
    order += 1
    var download = ActiveTransfer(
      record: record,
      layout: found.layout,
      // Whether it went on from resume data is not known: a status that says so begins anew.
      transfer: transfer(of: record, into: file, from: task.offset, usesResumeData: true),
      task: task.id,
      candidate: candidate(of: record, order: order),
      started: order,
      startedAt: environment.instant(),
      committed: task.offset
    )
    // Of one that nobody wants to run, only what it leaves is waited for.
    download.isEnding = !adopts && !(task.state == .ended && record.intent == .run)
    active[record.url] = download
    transport.adopt(task.id, sink: download.transfer)
    if adopts {
      emit(.started(record, offset: task.offset))
      if task.state == .suspended { transport.resume(task.id) }
    } else if task.state == .running || task.state == .suspended {
      transport.cancel(task.id)
    }
  }

  private func hasFreeSlot(for record: DownloadRecord) -> Bool {
    let origin = RecordIdentity.origin(of: record.source)
    return active.count < limits.maximumRunning
      && active.values.count { $0.candidate.origin == origin } < limits.maximumPerHost
  }

  /// Commits that a task works for the record.
  private func commitAdopted(_ adopted: DownloadRecord) async throws -> DownloadRecord? {
    let moment = now()
    return try await commit { tx in
      try tx.update(TransferKey(adopted), if: { $0.intent == adopted.intent }) {
        $0.adoptTask(at: moment)
      }
    }
  }
}

extension DownloadEngine {
  /// Commits that a record's bytes from an offset on are not counted, because they come again.
  private func commitRolledBack(
    _ old: DownloadRecord,
    to offset: Int64
  ) async throws -> DownloadRecord? {
    let moment = now()
    return try await commit { tx in
      let isUnchanged = { (record: DownloadRecord) in
        record.state == old.state && record.intent == old.intent
      }
      return try tx.update(TransferKey(old), if: isUnchanged) {
        $0.rollBack(to: offset, at: moment)
      }
    }
  }

  /// Deletes what a transport keeps for records that have no resume data to use it with.
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

  /// Tells a background transport which ends are committed.
  func acknowledgeEnds() {
    guard let transport = transport as? any BackgroundTransport else { return }
    let committed = unacknowledged.filter { self.transfer($0.value) == nil }.keys
    for task in committed.sorted(by: { $0.rawValue < $1.rawValue }) {
      unacknowledged[task] = nil
      transport.acknowledge(task)
    }
  }
}

extension DownloadRecord {
  /// Whether an attempt may go on from resume data, stored or still to come.
  fileprivate var mayUseResumeData: Bool {
    guard intent == .run || intent == .pause else { return false }
    switch state {
    case .running: return true
    case .waiting, .paused, .failedRetryable, .failedPermanent: return resumeData != nil
    case .finalizing, .completed, .cancelled, .removed: return false
    }
  }
}

extension Reconciliation {
  /// Whether a delivered body is read again, though some of its bytes are counted already.
  fileprivate func readsAgain(_ task: TaskSnapshot) -> Bool {
    guard task.isDelivered, record.intent == .run, record.received > task.offset else {
      return false
    }
    switch record.state {
    case .waiting, .running, .failedRetryable: return reconcileCase.partial != .complete
    default: return false
    }
  }

  /// Whether our file has all bytes before that one, and none that are counted after it.
  fileprivate func lacks(from offset: Int64) -> Bool {
    record.received == offset && (offset == 0 || [.equal, .longer].contains(reconcileCase.partial))
  }
}

extension TaskSnapshot {
  /// Of several tasks for one record, the one that counts: one that has delivered its body, one that
  /// has ended, or the one that has received most (rules D1 and D2).
  static func keeper(of tasks: [TaskSnapshot]) -> TaskSnapshot? {
    tasks.max { one, other in
      (one.rank, one.bytesReceived, other.id.rawValue)
        < (other.rank, other.bytesReceived, one.id.rawValue)
    }
  }

  private var rank: Int { isDelivered ? 2 : state == .ended ? 1 : 0 }
}

extension ReconcileCase.LiveTask {
  /// What the tasks of one record come to.
  ///
  /// How one has ended is not known before it is adopted: its end is waited for.
  init(of tasks: [TaskSnapshot]) {
    let states = tasks.map(\.state)
    self =
      if states.contains(.ended) || states.allSatisfy({ $0 == .canceling }) {
        states.isEmpty ? .none : .canceling
      } else if states.count(where: { $0 != .canceling }) > 1 {
        .dupRunning
      } else {
        states.contains(.running) ? .running : .suspended
      }
  }
}
