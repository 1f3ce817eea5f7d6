internal import DownloadStore
internal import Synchronization

/// Everything that an engine hears, in the past tense.
enum EngineInput: Sendable {
  /// The first bytes of a body arrived.
  case progressed(TransferKey)
  /// The record has got the name that its server has for the file.
  case renamed(DownloadRecord)
  /// So many bytes are not synced that a checkpoint is due.
  case checkpointDue
  /// A task ended, and its sink knows how.
  case taskEnded(TransferKey, TransferResult)
  /// The interceptors have made a request, or refused to.
  case requestMade(TransferKey, Result<TaskRequest, DownloadFailure>)
  /// The interceptors were told of an end.
  case endNotified
  /// The digest of a complete file was computed.
  case digestComputed(TransferKey, Result<Digest, PartialFile.Failure>)
  /// Somebody committed to the store, perhaps this engine.
  case storeChanged
  /// The observation of the store failed, and is begun again.
  case observationFailed(any Error)
  /// Time passed.
  case ticked
  /// Somebody asked the engine to stop.
  case stopRequested
}

/// Takes what many threads have to say to the engine, and gives it out in batches.
///
/// Batches are what lets many small files share one commit.
final class EngineInbox: Sendable {
  private struct State {
    var inputs: [EngineInput] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  // Held to append or to take; the waiter is resumed outside of it.
  private let state = Mutex(State())

  func post(_ input: EngineInput) {
    let waiter = state.withLock { state in
      state.inputs.append(input)
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Returns all inputs since the last call; waits until there is one.
  ///
  /// Only the engine's run calls this. Cancelling its task does not end the wait: a cancelled run
  /// still has to receive the ends of its transfers.
  func next() async -> [EngineInput] {
    while true {
      let batch = state.withLock { state in
        defer { state.inputs = [] }
        return state.inputs
      }
      guard batch.isEmpty else { return batch }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard state.inputs.isEmpty else { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}
