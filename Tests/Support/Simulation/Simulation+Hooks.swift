internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

extension Simulation {
  /// A command that runs after the end of a download.
  struct RunningHook {
    var hook: DownloadHook
    /// The record as it was when the command began.
    var record: DownloadRecord
  }

  /// Begins or ends a command after a download with some probability, and returns whether it did.
  ///
  /// As in `dlstore`, only one that succeeds ends the mark in the record; one that fails, or that the
  /// death of its process kills, is repeated. A command may give commands of its own.
  func runHook() throws -> Bool {
    guard hookChance.happens(profile.hooks) else { return false }
    if let index = hookChance.pick(hooks.indices), hookChance.happens(0.5) {
      let running = hooks.remove(at: index)
      let succeeds = hookChance.happens(0.5)
      trace.note("hook ends", "\(running.hook) \(running.record.id) \(succeeds)")
      if succeeds { try finish(running) }
      return true
    }
    guard let hook = hookChance.pick(Array(DownloadHook.allCases)) else { return false }
    let waiting = try store.records(awaiting: hook)
      .filter { record in !hooks.contains { $0.record.id == record.id && $0.hook == hook } }
      .sorted { $0.id < $1.id }
    guard let record = hookChance.pick(waiting) else { return false }
    trace.note("hook begins", "\(hook) \(record.id)")
    hooks.append(RunningHook(hook: hook, record: record))
    if hookChance.happens(0.2) {
      trace.note("hook restarts", record.id)
      events.forget(record.id)
      replacedFiles = []
      unwantedFiles = [:]
      try store.apply(.restart, to: .matching(record.id))
    }
    return true
  }

  /// Runs the commands of all ends without a fault.
  func finishHooks() throws {
    guard profile.hooks > 0 else { return }
    hooks = []
    for hook in DownloadHook.allCases {
      for record in try store.records(awaiting: hook) {
        try finish(RunningHook(hook: hook, record: record))
      }
      if let record = try store.records(awaiting: hook).first {
        throw failure(.hooksRun, "the hook of \(record.url) cannot be finished")
      }
    }
  }

  private func finish(_ running: RunningHook) throws {
    // Another end of the download, or none, has a hook of its own.
    guard try store.finishHookNow(running.hook, of: running.record) else { return }
    finishedEnds.insert("\(running.hook) \(end(of: running.record))")
  }

  /// Names an end of a download, which a new URL of its record does not change.
  private func end(of record: DownloadRecord) -> String {
    "\(record.id) \(record.completedAt?.timeIntervalSince1970 ?? 0)"
  }

  /// Checks that each hook after each completed download has succeeded, or will run.
  func checkHooks(_ records: [DownloadRecord]) throws {
    guard profile.hooks > 0 else { return }
    for record in records where record.state == .completed {
      for hook in DownloadHook.completions.sorted(by: { $0.rawValue < $1.rawValue }) {
        guard
          record.pendingHooks.contains(hook)
            || finishedEnds.contains("\(hook) \(end(of: record))")
        else {
          throw failure(
            .hooksRun,
            "\(record.url) is complete, and its hook '\(hook.rawValue)' neither ran nor is pending"
          )
        }
      }
    }
  }
}
