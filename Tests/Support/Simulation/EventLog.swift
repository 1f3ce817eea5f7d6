internal import DownloadStore
internal import DownloadSync
internal import SystemInterface

/// Receives the events of one engine, and detects a generation that ends twice.
final class EventLog: Sendable {
  private struct State {
    /// The generations that have ended, by record.
    var ended: [String: Set<Int64>] = [:]
    var wrong: String?
  }

  // Used only by the simulation's thread.
  private let state = Mutex(State())
  private let trace: Trace

  init(_ trace: Trace) {
    self.trace = trace
  }

  /// The first invalid event; `nil` if there was none.
  var wrong: String? { state.withLock { $0.wrong } }

  /// Called when a command applies to a record: an ended generation may continue, also without a
  /// transfer.
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
    case .unchanged(let ended): (record, kind) = (ended, "unchanged")
    case .retrying(let waiting, let failure, _)
    where failure.code == .outOfResources || failure.code == .fileUnavailable:
      // A complete file may wait repeatedly for a sync of its folder, without a transfer.
      return trace.note("event", "retrying \(waiting.id) \(failure.code)")
    case .retrying(let ended, let failure, _): (record, kind) = (ended, "retrying \(failure.code)")
    case .failed(let failed, let failure):
      // Resuming a download whose rename could not be synced completes it without a transfer.
      if failure.code == .outOfResources {
        state.withLock { $0.wrong = "\(failed.url) has failed for good: \(failure.message)" }
      }
      guard failure.code != .fileSystem, failure.code != .fileUnavailable else {
        return trace.note("event", "failed \(failed.id)")
      }
      (record, kind) = (failed, "failed \(failure.code)")
    case .waitingForDiskSpace(let ended): (record, kind) = (ended, "waitingForDiskSpace")
    case .started(let started, let offset):
      return trace.note("event", "started \(started.id) \(started.generation) at \(offset)")
    case .copying(let started, _): return trace.note("event", "copying \(started.id)")
    case .rolledBack(let url, let offset, _):
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
