internal import DownloadStore
internal import SystemInterface

/// An input of an engine, named as an event in the past tense.
enum EngineInput: Sendable {
  /// The first bytes of a body arrived.
  case progressed(TransferKey)
  /// The sink dropped the bytes on disk, for this reason, and writes the file from the first byte.
  case bytesDropped(TransferKey, Int64, DownloadFailure)
  /// The sink committed the file name that the response suggests.
  case renamed(DownloadRecord)
  /// A transfer has as many unsynced bytes as ``EngineOptions/checkpointBytes``.
  case checkpointDue
  /// The first task of a transfer ended with this result.
  case taskEnded(TransferKey, TransferResult)
  /// A task other than the first one of a transfer ended with this result.
  case partEnded(TransferKey, Int, TransferResult)
  /// The request interceptors returned the request of a task, or one of them failed.
  ///
  /// The number is that of the part; zero for the first task.
  case requestMade(TransferKey, Int, Result<TaskRequest, DownloadFailure>)
  /// The response interceptors handled an end.
  case endNotified
  /// The digest of a complete file was computed.
  ///
  /// If it is not the expected one, the ranges are those of pieces that have changed on disk.
  case digestComputed(TransferKey, Result<CheckedDigest, PartialFile.Failure>, changed: ByteRanges)
  /// A part of a changed partial file was read for the check with this number.
  case partialRead(url: String, number: Int, Result<PieceReport, FileReadError>)
  /// The store has a new commit, of this engine or another writer.
  case storeChanged
  /// Observing the store failed, and will be retried.
  case observationFailed(any Error)
  /// As many records were read from the store as one turn may read, and more are needed.
  case queueRead
  /// The work beside the engine is finished, which may have changed the store.
  case workFinished
  /// Time passed.
  case ticked
  /// The engine was asked to stop.
  case stopRequested
}

/// A thread-safe queue that delivers engine inputs in batches.
///
/// Batches let many small files share one commit.
final class EngineInbox: Sendable {
  private struct State {
    var inputs: [EngineInput] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  // Only held to append or take inputs. The waiter is resumed after the lock is released.
  private let state = Mutex(State())

  /// Appends an input.
  ///
  /// May be called from any thread.
  func post(_ input: EngineInput) {
    let waiter = state.withLock { state in
      state.inputs.append(input)
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Whether an input asks the engine to stop.
  var hasStopRequest: Bool {
    state.withLock { state in
      state.inputs.contains { if case .stopRequested = $0 { true } else { false } }
    }
  }

  /// Returns all inputs since the last call, without waiting for one.
  func take() -> [EngineInput] {
    state.withLock { state in
      defer { state.inputs = [] }
      return state.inputs
    }
  }

  /// Returns all inputs since the last call; waits until there is one.
  ///
  /// Only the engine's run calls this. Cancelling its task does not end the wait: a cancelled run
  /// still has to receive the ends of its transfers.
  func next() async -> [EngineInput] {
    while true {
      let batch = take()
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
