internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

extension Simulation {
  /// Checks the tasks and events of the engine.
  func checkTasks() throws {
    if let wrong = events.wrong { throw failure(.oneEnd, wrong) }
    let tasks = network.working(life.known)
    guard tasks.count > 1 else { return }
    guard tasks.count <= profile.maximumRunning else {
      throw failure(.limits, "\(tasks.count) of \(profile.maximumRunning) tasks run")
    }
    for (recordID, tasks) in Dictionary(grouping: tasks, by: \.recordID) where tasks.count > 1 {
      guard tasks.count(where: { !$0.isPart }) <= 1 else {
        throw failure(.oneTask, "two tasks fetch the whole of \(recordID)")
      }
      guard tasks.count <= profile.connections else {
        throw failure(
          .oneTask,
          "\(tasks.count) of \(profile.connections) tasks work for \(recordID)"
        )
      }
    }
    let hosts = Dictionary(grouping: tasks) { RecordIdentity.origin(of: $0.url) }
    if let host = hosts.first(where: { $0.value.count > profile.maximumPerHost }) {
      let (count, limit) = (host.value.count, profile.maximumPerHost)
      throw failure(.limits, "\(count) of \(limit) tasks run on \(host.key)")
    }
  }

  /// Checks that each task of the process has a record, if the engine has nothing to do and was
  /// notified of a commit since the last check.
  ///
  /// An adopted task may request the URL that its record had in the process that started it.
  func checkURLs(through commit: UInt64) throws {
    guard commit == notifiedCommit, commit != comparedCommit, executor.jobCount == 0,
      executor.workCount == 0, !life.isDead, life.outcome == nil
    else { return }
    comparedCommit = commit
    let records = try self.records()
    for task in network.working(life.started) where !task.isCancelled {
      let urls = records.first { $0.id == task.recordID }.map { [$0.url] + $0.mirrors } ?? []
      guard urls.contains(task.url) else {
        throw failure(.tasksHaveRecords, "a task requests \(task.url), but its record \(urls)")
      }
    }
  }

  /// Checks what records guarantee against the state that a power cut would leave.
  func checkRecords() throws {
    let roots = try store.roots()
    let records = try self.records()
    try checkGenerations(records)
    try checkStates(records)
    try checkReplacedFiles(records, roots)
    try checkHooks(records)
    for record in records {
      let layout = try roots.layout(of: record)
      // A checkpoint may still follow while the download is being cancelled.
      if record.received == 0, record.intent != .cancel {
        uncertain.remove(record.id)
        if interfered[record.id] != record.generation { interfered[record.id] = nil }
      }
      switch record.state {
      case .completed where away?.complete.contains(record.id) == true: break
      case .completed: try checkComplete(record, layout)
      case .waiting, .running, .paused, .failedRetryable, .failedPermanent:
        guard record.intent == .run || record.intent == .pause else { continue }
        try checkReceived(record, layout)
      case .finalizing, .cancelled, .removed: break
      }
    }
    for (path, bytes) in foreignFiles.sorted(by: { $0.key < $1.key }) {
      guard (try? FileCalls.read(path)) == bytes else {
        throw failure(.foreignFilesStay, "'\(path)' is missing or replaced")
      }
    }
  }

  /// Checks that an engine that has ended by itself has carried out all commands that were given before
  /// it decided to end, and has left nothing to download.
  func checkIdleEnd() throws {
    guard life.endsWhenIdle, !life.isAskedToStop, let records = life.recordsAtEnd else { return }
    trace.note("idle end")
    // A file that cannot be deleted for certain is left to a later engine.
    let mayLeaveFiles = life.hasRefusedDeletion || away != nil
    for record in records {
      let isLeft =
        record.isToBeDeleted ? !mayLeaveFiles : record.state.isProceeding && !record.isHeld
      guard isLeft else { continue }
      throw failure(
        .idleEnds,
        "an idle engine left \(record.url) as \(record.state) (\(record.intent))"
      )
    }
  }

  /// Returns the records, which are read again only after a commit.
  private func records() throws -> [DownloadRecord] {
    let commit = try store.objects.commitNumber()
    if let readRecords, readRecords.commit == commit { return readRecords.records }
    let records = try store.records(DownloadRecord.all)
    readRecords = (commit, records)
    return records
  }

  private func checkGenerations(_ records: [DownloadRecord]) throws {
    for record in records {
      guard let last = generations[record.id], last > record.generation else { continue }
      throw failure(.generationsGrow, "\(record.url) went from \(last) to \(record.generation)")
    }
    // A record that was deleted and added again starts over.
    generations = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.generation) })
  }

  /// Checks that the events of the state machine lead from each record's position at the last check to
  /// its present one, with at most one event in each commit.
  private func checkStates(_ records: [DownloadRecord]) throws {
    let commit = try store.objects.commitNumber()
    let commits = commit < checkedCommit ? nil : commit - checkedCommit
    for record in records {
      let last = statuses[record.id].flatMap { $0.createdAt == record.createdAt ? $0.status : nil }
      guard let commits, last != record.status else { continue }
      var positions = last.map { [$0] } ?? Set(DownloadStatus.initial)
      // After three events nearly every position can be reached.
      for _ in 0..<min(commits, 3) { positions = TransitionTable.positions(after: positions) }
      guard !positions.contains(record.status) else { continue }
      let old = last.map { "\($0.state) (\($0.intent))" } ?? "new"
      throw failure(
        .statesFollowTheTable,
        "\(record.url) went from \(old) to \(record.state) (\(record.intent)) in \(commits) commits"
      )
    }
    if commits == 1 { try checkCancelledRefreshes(records) }
    checkedCommit = commit
    statuses = Dictionary(
      uniqueKeysWithValues: records.map { ($0.id, ($0.status, $0.createdAt)) }
    )
    cancelledRefreshes = [:]
    for record in records where record.refreshed != nil && record.intent == .cancel {
      cancelledRefreshes[record.id] = record.replacedFileIdentity
    }
  }

  /// Checks that a cancelled refresh which has returned to its finished file in the last commit
  /// has no failure: neither one of its own attempts nor that of an earlier refresh.
  private func checkCancelledRefreshes(_ records: [DownloadRecord]) throws {
    for record in records where record.state == .completed {
      guard let file = cancelledRefreshes[record.id], record.fileIdentity == file,
        let reported = record.refreshFailure
      else { continue }
      throw failure(
        .cancelsHaveNoFailure,
        "\(record.url) was cancelled, and reports \(reported.code): \(reported.message)"
      )
    }
  }

  /// Checks that the names of the files which downloads were to replace at the last check are in use.
  private func checkReplacedFiles(_ records: [DownloadRecord], _ roots: Roots) throws {
    for path in replacedFiles.sorted() where FileCalls.identity(of: path) == nil {
      throw failure(.replacedFilesStay, "'\(path)' is missing, and nothing has replaced it")
    }
    replacedFiles = []
    for record in records where record.intent == .run || record.intent == .pause {
      guard let replaced = record.replacedFileIdentity else { continue }
      let path = try roots.layout(of: record).finalPath
      // The engine may be deleting it for a removal, which another command has reverted since.
      guard !removedInodes.contains(replaced.inode) else { continue }
      // A file whose folder could not be synced may lose its name in a power cut.
      guard FileCalls.identity(of: path)?.inode == replaced.inode, disk.lasting(path) != nil else {
        continue
      }
      replacedFiles.insert(path)
    }
  }

  private func checkReceived(_ record: DownloadRecord, _ layout: FileLayout) throws {
    // A file with an identity was about to be renamed when that failed, and may have either name.
    guard record.received > 0, record.fileIdentity == nil, !uncertain.contains(record.id),
      interfered[record.id] == nil
    else { return }
    guard let bytes = disk.lasting(layout.partialPath) else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts \(record.received) bytes of a file that may go"
      )
    }
    guard record.isConsistent else {
      throw failure(.receivedIsOnDisk, "\(record.url) (\(record.state)) has a wrong map")
    }
    let counted = record.committed
    guard bytes.count >= counted.end else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts \(counted), \(bytes.count) bytes are synced"
      )
    }
    let page = website.page(of: record.url)
    guard page?.serves(bytes, in: counted, entityTag: record.entityTag) == true else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts bytes that are wrong: \(counted)"
      )
    }
  }

  private func checkComplete(_ record: DownloadRecord, _ layout: FileLayout) throws {
    guard let bytes = disk.lasting(layout.finalPath) else {
      throw failure(.completeIsThere, "\(record.url) is complete, and its file is not durable")
    }
    guard
      website.page(of: record.url)?
        .serves(all: bytes, entityTag: record.entityTag) == true
    else {
      throw failure(.completeIsThere, "\(record.url) is complete, and its file is wrong")
    }
  }

  // MARK: Idle state

  /// Ends all faults, resumes all downloads, and checks that they complete.
  func calmDown() throws {
    trace.note("calm")
    // An engine that ends is never at rest.
    profile.idleRuns = 0
    if life.isDead || life.outcome != nil { try startNextProcess() }
    profile.unmounts = 0
    if away != nil {
      // Not a stop, in which a scheduled kill may still happen.
      life.die()
      try drainDeadEngine()
      try mount()
      try begin()
    }
    refusedResponses.probability = 0
    faults.isFull = false
    faults.errorProbability = 0
    faults.failedSyncProbability = 0
    network.calmDown()
    for index in website.pages.indices {
      for url in website.urls(index) { serve(index, at: url) }
    }
    // Retries continue by themselves, whatever the clock was set to.
    try awaitRest()
    // A permanent failure can occur once more: a wrong file is detected when it is complete.
    for _ in 0..<4 {
      events.forget(nil)
      try store.apply(.resume(immediately: false), to: .all)
      try awaitRest()
      if try unfinished().isEmpty { break }
    }
    if let record = try unfinished().first {
      let why = record.attempts.last.map { "\($0.failure.code): \($0.failure.message)" } ?? ""
      throw failure(.liveness, "\(record.url) is \(record.state) \(why)")
    }
    try stop()
    try checkRecords()
    try checkFiles()
    try finishHooks()
    try checkRecords()
  }

  private func unfinished() throws -> [DownloadRecord] {
    try records().filter { $0.state != .completed && $0.state != .cancelled }
  }

  /// Advances until no engine, task or retry is left.
  private func awaitRest() throws {
    let limit = step + 20_000
    while try !isAtRest() {
      step += 1
      // A scheduled kill may still happen.
      if life.isDead || life.outcome != nil { try startNextProcess() }
      advance(isCalm: true)
      try check()
      guard step < limit else {
        let states = try unfinished().map { "\($0.url) is \($0.state), \($0.intent)" }
        throw failure(.liveness, "the run does not end: \(states.joined(separator: "; "))")
      }
    }
  }

  private func isAtRest() throws -> Bool {
    // A process that ends may leave files, such as a delivered one, which the next process removes.
    guard !life.isDead, life.outcome == nil, executor.jobCount == 0, executor.workCount == 0,
      network.transport.tasks.isEmpty,
      try store.objects.commitNumber() == notifiedCommit || defects.contains(.commitsAreNotNotified)
    else { return false }
    return try unfinished().allSatisfy {
      $0.state == .failedPermanent || $0.state == .paused || $0.isHeld
    }
  }

  /// Checks that every file belongs to a record.
  private func checkFiles() throws {
    let roots = try store.roots()
    let records = try self.records()
    let partials = Set(
      try records.filter { $0.state != .completed && $0.state != .cancelled }
        .map { try roots.layout(of: $0).partialPath }
    )
    let orphans = Set(try store.orphanPlan(graceSeconds: -1 << 40).files.map(\.path))
    let completed = Set(records.filter { $0.state == .completed }.map(\.id))
    let owned = Set(try records.map { try roots.layout(of: $0).finalPath })
    for (path, inode) in unwantedFiles.sorted(by: { $0.key < $1.key }) {
      if !owned.contains(path), FileCalls.identity(of: path)?.inode == inode {
        throw failure(.noOrphans, "'\(path)' was not deleted with its record")
      }
    }
    if let name = network.session?.keptDeliveries.first {
      throw failure(.noOrphans, "the delivered '\(name)' has no record")
    }
    for name in disk.names {
      let path = "\(disk.folder)/\(name)"
      guard foreignFiles[path] == nil, !partials.contains(path) else { continue }
      if let id = PartialName(name)?.recordID {
        // The file was on an unmounted volume when its download completed without it. It is deleted
        // with the record.
        let isLeft = unmounted.contains(id) && completed.contains(id)
        // Files that no process could know about remain detectable.
        guard isLeft || purged.contains(id) && orphans.contains(path) else {
          throw failure(.noOrphans, "'\(name)' has no record")
        }
        continue
      }
      let bytes = try FileCalls.read(path)
      guard website.pages.contains(where: { $0.serves(all: bytes, entityTag: nil) })
      else { throw failure(.noOrphans, "'\(name)' is not a complete file") }
    }
  }
}
