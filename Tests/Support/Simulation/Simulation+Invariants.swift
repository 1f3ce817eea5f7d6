internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SimulatedTransport

extension Simulation {
  /// Looks at the tasks and events of the engine.
  func checkTasks() throws {
    if let wrong = events.wrong { throw failure(.oneEnd, wrong) }
    let tasks = network.working(life.known)
    guard tasks.count > 1 else { return }
    guard tasks.count <= profile.maximumRunning else {
      throw failure(.limits, "\(tasks.count) of \(profile.maximumRunning) tasks run")
    }
    for (index, task) in tasks.enumerated() {
      let others = tasks[..<index]
      if others.contains(where: { $0.recordID == task.recordID }) {
        throw failure(.oneTask, "two tasks work for \(task.recordID)")
      }
    }
    let hosts = Dictionary(grouping: tasks) { RecordIdentity.origin(of: $0.url) }
    if let host = hosts.first(where: { $0.value.count > profile.maximumPerHost }) {
      let (count, limit) = (host.value.count, profile.maximumPerHost)
      throw failure(.limits, "\(count) of \(limit) tasks run on \(host.key)")
    }
  }

  /// Looks at what records promise, against what a power cut would leave.
  func checkRecords() throws {
    let roots = try store.roots()
    let records = try store.records(DownloadRecord.all)
    try checkGenerations(records)
    for record in records {
      let layout = try roots.layout(of: record)
      // While it is being cancelled, a checkpoint may still come.
      if record.received == 0, record.intent != .cancel { uncertain.remove(record.id) }
      switch record.state {
      case .completed: try checkComplete(record, layout)
      case .waiting, .running, .paused, .failedRetryable, .failedPermanent:
        guard record.intent == .run || record.intent == .pause else { continue }
        try checkReceived(record, layout)
      case .finalizing, .cancelled, .removed: break
      }
    }
    for (path, bytes) in foreignFiles.sorted(by: { $0.key < $1.key }) {
      guard (try? FileCalls.read(path)) == bytes else {
        throw failure(.foreignFilesStay, "'\(path)' is gone or another one")
      }
    }
  }

  private func checkGenerations(_ records: [DownloadRecord]) throws {
    for record in records {
      guard let last = generations[record.id], last > record.generation else { continue }
      throw failure(.generationsGrow, "\(record.url) went from \(last) to \(record.generation)")
    }
    // One that is added anew begins anew.
    generations = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.generation) })
  }

  private func checkReceived(_ record: DownloadRecord, _ layout: FileLayout) throws {
    // A file with a stamp was on its way to its name when it failed, and may be under that.
    guard record.received > 0, record.fileIdentity == nil, !uncertain.contains(record.id) else {
      return
    }
    guard let bytes = disk.lasting(layout.partialPath) else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts \(record.received) bytes of a file that may go"
      )
    }
    guard bytes.count >= record.received else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts \(record.received) bytes, \(bytes.count) are synced"
      )
    }
    let page = website.page(of: record.url)
    let counted = bytes.prefix(Int(record.received))
    guard page?.serves(counted, entityTag: record.entityTag, isWhole: false) == true else {
      throw failure(
        .receivedIsOnDisk,
        "\(record.url) (\(record.state)) counts bytes that are wrong"
      )
    }
  }

  private func checkComplete(_ record: DownloadRecord, _ layout: FileLayout) throws {
    guard let bytes = disk.lasting(layout.finalPath) else {
      throw failure(.completeIsThere, "\(record.url) is complete, and its file may go")
    }
    guard
      website.page(of: record.url)?
        .serves(bytes, entityTag: record.entityTag, isWhole: true) == true
    else {
      throw failure(.completeIsThere, "\(record.url) is complete, and its file is wrong")
    }
  }

  // MARK: At rest

  /// Ends all faults, has everything go on, and sees that it comes to an end.
  func calmDown() throws {
    trace.note("calm")
    if life.isDead || life.outcome != nil { try beginAgain() }
    faults.isFull = false
    faults.errorProbability = 0
    faults.failedSyncProbability = 0
    for index in website.pages.indices {
      for url in website.urls(index) { serve(index, at: url) }
    }
    // What waits for a retry goes on by itself, whatever was done to the clock.
    try awaitRest()
    // What fails for good does so once more at the most: a wrong file is found when it is whole.
    for _ in 0..<4 {
      events.forget(nil)
      try store.resume(.all)
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
  }

  private func unfinished() throws -> [DownloadRecord] {
    try store.records(DownloadRecord.all)
      .filter { $0.state != .completed && $0.state != .cancelled }
  }

  /// Goes on until nothing is left to do by itself.
  private func awaitRest() throws {
    let limit = step + 20_000
    while try !isAtRest() {
      step += 1
      // A kill that was to come may still come.
      if life.isDead || life.outcome != nil { try beginAgain() }
      goOn(isCalm: true)
      try check()
      guard step < limit else {
        let states = try unfinished().map { "\($0.url) is \($0.state), \($0.intent)" }
        throw failure(.liveness, "no end is in sight: \(states.joined(separator: "; "))")
      }
    }
  }

  private func isAtRest() throws -> Bool {
    guard executor.jobCount == 0, executor.workCount == 0, network.transport.tasks.isEmpty,
      try store.objects.changeCount() == toldCommit || defects.contains(.commitsAreNotTold)
    else { return false }
    return try unfinished().allSatisfy {
      $0.state == .failedPermanent || $0.state == .paused || $0.isHeld
    }
  }

  /// Sees that every file is somebody's.
  private func checkFiles() throws {
    let roots = try store.roots()
    let records = try store.records(DownloadRecord.all)
    let partials = Set(
      try records.filter { $0.state != .completed && $0.state != .cancelled }
        .map { try roots.layout(of: $0).partialPath }
    )
    let orphans = Set(try store.orphanPlan(graceSeconds: -1 << 40).files.map(\.path))
    let owned = Set(try records.map { try roots.layout(of: $0).finalPath })
    for (path, inode) in unwantedFiles.sorted(by: { $0.key < $1.key }) {
      if !owned.contains(path), FileCalls.identity(of: path)?.inode == inode {
        throw failure(.noOrphans, "'\(path)' was to go with its record")
      }
    }
    if let name = network.session?.keptDeliveries.first {
      throw failure(.noOrphans, "the delivered '\(name)' is left over")
    }
    for name in disk.names {
      let path = "\(disk.folder)/\(name)"
      guard foreignFiles[path] == nil, !partials.contains(path) else { continue }
      if let id = PartialName(name)?.recordID {
        // What nobody could know of is there to be found.
        guard purged.contains(id) && orphans.contains(path) else {
          throw failure(.noOrphans, "'\(name)' is left over")
        }
        continue
      }
      let bytes = try FileCalls.read(path)
      guard website.pages.contains(where: { $0.serves(bytes, entityTag: nil, isWhole: true) })
      else { throw failure(.noOrphans, "'\(name)' is no whole file") }
    }
  }
}
