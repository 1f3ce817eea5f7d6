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
  case endTold
  /// The digest of a complete file was computed.
  case digestComputed(TransferKey, Result<Digest, PartialFile.Failure>)
  /// Somebody committed to the store, perhaps this engine.
  case storeChanged
  /// Time passed.
  case ticked
  /// Somebody asked the engine to stop.
  case stopRequested
}

/// Takes what many threads have to say to the engine, and gives it out in batches.
///
/// Batches are what lets many small files share one commit.
final class EngineInbox: Sendable {
  private let inputs = Mutex<[EngineInput]>([])
  private let doorbell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  init() {
    (doorbell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func post(_ input: EngineInput) {
    inputs.withLock { $0.append(input) }
    ring.yield()
  }

  /// All that was said since the last call; waits until there is something.
  func next() async -> [EngineInput] {
    var rings = doorbell.makeAsyncIterator()
    while true {
      let batch = inputs.withLock { inputs in
        defer { inputs = [] }
        return inputs
      }
      guard batch.isEmpty else { return batch }
      guard await rings.next() != nil else { return [.stopRequested] }
    }
  }
}
