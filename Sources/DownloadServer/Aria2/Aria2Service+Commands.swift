internal import DownloadStore
internal import ObjectStore

// The methods that give commands to downloads.

extension Aria2Service {
  /// `aria2.pause`: pauses a download that is active or waits.
  func pause(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    guard [.active, .waiting].contains(state(of: record)), try apply(.pause, to: record) else {
      throw Aria2Error("GID#\(record.id) cannot be paused now")
    }
    return .string(record.id)
  }

  /// `aria2.pauseAll`.
  func pauseAll() throws -> JSONValue {
    try store.apply(.pause, to: .matching(.all))
    return Self.done
  }

  /// `aria2.unpause`: resumes a paused download, or one that another one has preempted.
  func unpause(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    guard state(of: record) == .paused, try apply(.resume(immediately: false), to: record) else {
      throw Aria2Error("GID#\(record.id) cannot be unpaused now")
    }
    return .string(record.id)
  }

  /// `aria2.unpauseAll`: resumes paused downloads, and not failed ones.
  func unpauseAll() throws -> JSONValue {
    let columns = DownloadRecord.columns
    let paused = columns.state == .paused
    let held = columns.state == .waiting && columns.isHeld == true
    try store.apply(.resume(immediately: false), to: .matching(paused || held))
    return Self.done
  }

  /// `aria2.remove`: cancels a download, whose record stays in the list of stopped ones.
  mutating func remove(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    let isStopped = state(of: record)?.isStopped ?? true
    let outcomes = isStopped ? [] : try store.apply(.cancel, to: .named([record.url]))
    guard outcomes.contains(where: \.isDone) else {
      throw Aria2Error("Active Download not found for GID#\(record.id)")
    }
    cancellations += outcomes
    return .string(record.id)
  }

  /// `aria2.removeDownloadResult`: removes the record of a stopped download, and keeps its file.
  ///
  /// One that runs or waits is refused. A front end retries by adding the URL again, which continues
  /// the same record, and then removes the old GID, which is that of this record: it may have failed
  /// again by then.
  func removeResult(_ parameters: Aria2Parameters) throws -> JSONValue {
    let record = try record(parameters.string(0))
    guard state(of: record)?.isStopped == true, !retries.contains(record.id),
      try store.purge(store.purgePlan([record], withFiles: false)).skippedRecords.isEmpty
    else {
      throw Aria2Error("Could not remove download result of GID#\(record.id)")
    }
    return Self.done
  }

  /// `aria2.purgeDownloadResult`: removes the records of all stopped downloads, and keeps their files.
  func purgeResults() throws -> JSONValue {
    let roots = try store.roots()
    let stopped = DownloadRecord.where {
      $0.state.isIn([.completed, .failedPermanent, .cancelled])
    }
    while true {
      // A record of an unknown root stays: its partial file could not be deleted.
      let records = try store.records(stopped.limit(Self.purgeBatch))
        .filter { roots.path(of: $0.root) != nil && state(of: $0)?.isStopped == true }
      guard !records.isEmpty,
        try !store.purge(store.purgePlan(records, withFiles: false)).records.isEmpty
      else { return Self.done }
    }
  }

  /// The number of records that one transaction removes; see decision 0040.
  private static let purgeBatch = 8_192

  /// Applies a command; returns whether the record has changed.
  private func apply(_ command: DownloadCommand, to record: DownloadRecord) throws -> Bool {
    try store.apply(command, to: .named([record.url])).contains(where: \.isDone)
  }
}
