internal import DownloadStore
internal import DownloadSync
internal import Synchronization

/// Hears the events of one engine, and sees whether a generation ends twice.
final class EventLog: Sendable {
  private struct State {
    /// The generations that have ended, by record.
    var ended: [String: Set<Int64>] = [:]
    var wrong: String?
  }

  // Used by the thread of the simulation alone.
  private let state = Mutex(State())
  private let trace: Trace

  init(_ trace: Trace) {
    self.trace = trace
  }

  /// What was told that must not be; `nil` if nothing was.
  var wrong: String? { state.withLock { $0.wrong } }

  /// Somebody wants something of a record: what has ended may go on, also without a transfer.
  func forget(_ recordID: String?) {
    state.withLock { state in
      if let recordID { state.ended[recordID] = nil } else { state.ended = [:] }
    }
  }

  func hear(_ event: DownloadEvent) {
    let record: DownloadRecord
    let kind: String
    switch event {
    case .completed(let ended): (record, kind) = (ended, "completed")
    case .retrying(let waiting, let failure, _)
    where failure.code == .outOfResources || failure.code == .fileUnavailable:
      // A whole file may wait more than once for its folder to be synced, without a transfer.
      return trace.note("event", "retrying \(waiting.id) \(failure.code)")
    case .retrying(let ended, let failure, _): (record, kind) = (ended, "retrying \(failure.code)")
    case .failed(let failed, let failure):
      // Resumed, a download whose name could not be synced is complete without a transfer.
      if failure.code == .outOfResources {
        state.withLock { $0.wrong = "\(failed.url) has failed for good: \(failure.message)" }
      }
      guard failure.code != .fileSystem, failure.code != .fileUnavailable else {
        return trace.note("event", "failed \(failed.id)")
      }
      (record, kind) = (failed, "failed \(failure.code)")
    case .waitingForDiskSpace(let ended): (record, kind) = (ended, "waitsForRoom")
    case .started(let started, let offset):
      return trace.note("event", "started \(started.id) \(started.generation) at \(offset)")
    case .rolledBack(let url, let offset):
      return trace.note("event", "rolledBack \(url) from \(offset)")
    case .released(let url): return trace.note("event", "released \(url)")
    case .interceptorFailed, .missed: return
    }
    trace.note("event", "\(kind) \(record.id) \(record.generation)")
    state.withLock { state in
      if !state.ended[record.id, default: []].insert(record.generation).inserted {
        state.wrong = "\(record.url) has ended twice in generation \(record.generation): \(kind)"
      }
    }
  }
}
