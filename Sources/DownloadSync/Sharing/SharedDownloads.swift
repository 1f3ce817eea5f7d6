public import DownloadStore
internal import ObjectStore

/// Downloads that this process runs, or that the engine of another process runs for it.
///
/// Several processes may wait for downloads of one store at the same time. One of them runs an engine
/// for all: it leads, and the others follow. When the leader ends or is killed, one of the others
/// takes over. Each process waits only for its own downloads: its sequence ends when each of them is
/// complete, has failed permanently, or was paused, cancelled or removed. The last element contains
/// them as they are then.
///
/// ```swift
/// for try await progress in store.downloads(.tagged("models"), transport: transport) {
///   print(progress.isLeading ? "downloading" : "waiting", progress.received, "bytes")
/// }
/// ```
///
/// The engine of the leader runs its own downloads and those for which other processes wait; the
/// options and the transport of the leader apply to both. Downloads for which no process waits stay in
/// the store for a later run. If an engine runs on the store for all downloads, such as a service,
/// every process follows it.
///
/// A process with an ``EngineOptions/authorizer``, ``EngineOptions/requestInterceptors`` or
/// ``EngineOptions/hooks`` leads its own downloads and those of others, but others do not lead its
/// downloads, because they have neither its credentials nor its hooks: while another process leads,
/// they wait.
///
/// The sequence is for one consumer. Cancelling the reading task, or leaving the loop, ends the
/// waiting: a leader stops its engine, which keeps the bytes on disk, and the downloads of a follower
/// continue in the leader.
public struct SharedDownloads: AsyncSequence, Sendable {
  /// The state of the downloads.
  public typealias Element = SharedProgress

  let store: RecordStore
  let selection: RecordSelection
  let transport: any Transport
  let options: EngineOptions
  let interval: Duration

  /// Starts the downloads, or begins to wait for them.
  public func makeAsyncIterator() -> Iterator {
    let (elements, continuation) = AsyncThrowingStream<SharedProgress, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1)
    )
    let task = Task {
      do {
        try await SharedRun(self) { continuation.yield($0) }.run()
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    return Iterator(elements: elements.makeAsyncIterator(), task: CancelledAtEnd(task))
  }

  /// Waits for the downloads.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var elements: AsyncThrowingStream<SharedProgress, any Error>.AsyncIterator
    fileprivate let task: CancelledAtEnd

    /// Returns the current state at the first call, and then waits for a change; `nil` at the end.
    ///
    /// A slow consumer gets the latest state. After a cancellation, waits until the engine of this
    /// process has stopped.
    ///
    /// - Throws: ``EngineError`` with `diskFull` if only downloads to a full disk are left, or with
    ///   `cannotLock`; `RecordStoreError` with `unknownRecord` or `ambiguousID` if the selection names
    ///   a download that does not exist or is not unique, or with `missingRoot`; `StoreError`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> SharedProgress? {
      let element = try await elements.next(isolation: actor)
      guard element == nil else { return element }
      // The stream of a cancelled task ends at once.
      task.value.cancel()
      await task.value.value
      return nil
    }
  }
}

/// The state of downloads that several processes may wait for.
public struct SharedProgress: Sendable, Hashable {
  /// The records of the downloads, in the order of the selection, without those that were removed.
  ///
  /// Their bytes are those of the last checkpoint.
  public var records: [DownloadRecord]
  /// The transfers that are running in this process, with the bytes that have arrived so far.
  ///
  /// Empty while another process leads.
  public var transfers: [DownloadProgress]
  /// Whether the engine of this process runs the downloads.
  public var isLeading: Bool

  /// The number of bytes received of all downloads.
  public var received: Int64 {
    let live = Dictionary(transfers.map { ($0.recordID, $0.received) }) { $1 }
    return records.reduce(0) { $0 + (live[$1.id] ?? $1.received) }
  }

  /// The number of bytes of all downloads; `nil` while the size of one is unknown.
  public var expected: Int64? {
    let live = Dictionary(transfers.map { ($0.recordID, $0.expected) }) { $1 }
    return records.reduce(Int64?(0)) { sum, record in
      guard let sum, let size = live[record.id] ?? record.expected else { return nil }
      return sum + size
    }
  }
}

extension RecordStore {
  /// Runs downloads, or waits for them while the engine of another process runs them.
  ///
  /// ```swift
  /// try await store.add(urls.map { DownloadRequest(url: $0) })
  /// let downloads = store.downloads(.matching(urls), transport: URLSessionTransport())
  /// var last: SharedProgress?
  /// for try await progress in downloads { last = progress }
  /// let isDone = last?.records.allSatisfy { $0.state == .completed } ?? false
  /// ```
  ///
  /// - Parameters:
  ///   - selection: The downloads to wait for, as of the start.
  ///   - transport: Transfers the bytes if this process leads.
  ///   - options: The limits and policies of the engine if this process leads.
  ///   - interval: The minimum time between two elements. It does not delay the end.
  /// - Returns: A sequence that ends when the downloads have ended; see ``SharedDownloads``.
  public func downloads(
    _ selection: RecordSelection,
    transport: any Transport,
    options: EngineOptions = EngineOptions(),
    every interval: Duration = .milliseconds(200)
  ) -> SharedDownloads {
    SharedDownloads(
      store: self,
      selection: selection,
      transport: transport,
      options: options,
      interval: interval
    )
  }
}

/// Cancels a task when the last reference is released.
final class CancelledAtEnd: Sendable {
  let value: Task<Void, Never>

  init(_ task: Task<Void, Never>) { value = task }

  deinit {
    value.cancel()
  }
}
