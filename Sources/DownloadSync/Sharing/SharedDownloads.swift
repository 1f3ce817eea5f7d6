public import DownloadStore
public import Logging
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
/// A process with an ``EngineOptions/authorizer``, ``EngineOptions/requestInterceptors``,
/// ``EngineOptions/responseChecks`` or ``EngineOptions/hooks``, or without
/// ``EngineOptions/sharesDownloads``, leads its own downloads and those of others, but others do not
/// lead its downloads, because they have neither its credentials nor its hooks: while another process
/// leads, they wait.
///
/// The sequence is for one consumer. Cancelling the reading task, or leaving the loop, ends the
/// waiting: a leader stops its engine, which keeps the bytes on disk, and the downloads of a follower
/// continue in the leader. ``Iterator/stop(isolation:)`` also waits until the engine has stopped.
public struct SharedDownloads: AsyncSequence, Sendable {
  /// The state of the downloads.
  public typealias Element = SharedProgress

  let store: RecordStore
  let selection: RecordSelection
  let transport: any Transport
  let options: EngineOptions
  let interval: Duration
  /// Whether to wait for downloads that the engine of another process runs.
  ///
  /// If `false`, the sequence throws ``EngineError`` with `alreadyRunning` while another engine runs on
  /// the store, after ``EngineOptions/lockPatience``, unless the downloads have already ended.
  ///
  /// ```swift
  /// var downloads = store.downloads(.tagged("models"), transport: transport)
  /// downloads.waits = false
  /// ```
  public var waits = true
  /// Receives a message for each step of the engine of this process, at the debug level.
  public var logger: Logger?
  /// The work of the caller beside the engine of this process.
  package var leading = LeaderWork()
  /// The downloads as the caller knows them, whose first events say what has changed since.
  package var known: [DownloadRecord] = []

  /// Starts the downloads, or begins to wait for them.
  public func makeAsyncIterator() -> Iterator {
    let output = SharedOutput()
    let task = Task {
      do {
        try await SharedRun(self, output).run()
        output.end(.success(()))
      } catch {
        output.end(.failure(error))
      }
    }
    return Iterator(output: output, task: CancelledAtEnd(task))
  }

  /// Waits for the downloads.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let output: SharedOutput
    fileprivate let task: CancelledAtEnd

    /// Ends the waiting, and returns when the engine of this process has stopped.
    ///
    /// The bytes that have arrived are then on disk. ``next(isolation:)`` returns the last state once
    /// more, and then `nil`.
    ///
    /// ```swift
    /// var downloads = store.downloads(.all, transport: transport).makeAsyncIterator()
    /// while let progress = try await downloads.next() {
    ///   if progress.received > 1_000_000 { await downloads.stop() }
    /// }
    /// ```
    public func stop(isolation actor: isolated (any Actor)? = #isolation) async {
      task.value.cancel()
      await task.value.value
    }

    /// Returns the current state at the first call, and then waits for a change; `nil` at the end.
    ///
    /// A slow consumer gets the latest state, with all events since the previous one. After a
    /// cancellation, waits until the engine of this process has stopped.
    ///
    /// - Throws: ``EngineError`` with `diskFull` if only downloads to a full disk are left, with
    ///   `alreadyRunning` without ``SharedDownloads/waits``, or with `cannotLock`; `RecordStoreError`
    ///   with `unknownRecord` or `ambiguousID` if the selection names a download that does not exist or
    ///   is not unique, or with `missingRoot`; `StoreError`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> SharedProgress? {
      while true {
        if Task.isCancelled { await stop() }
        switch output.next() {
        case .element(let progress): return progress
        case .end(let result):
          try result.get()
          return nil
        case .nothing: await output.wait()
        }
      }
    }
  }
}

/// The work of a caller beside the engine of shared downloads.
package struct LeaderWork: Sendable {
  /// Called when this process has the engine lock, before the engine runs.
  package var prepare: @Sendable (DownloadEngine) throws -> Void = { _ in }
  /// The work to finish before an engine that runs until it is idle ends; `nil` for none.
  ///
  /// Pending hooks of downloads that have already ended are then a reason to run an engine. The engine of
  /// shared downloads does not wait for the work: while a command hangs, other processes can lead.
  package var finish: DownloadEngine.WorkBeside?

  /// Creates no work.
  package init() {}
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
  ///   - selection: The downloads to wait for, as of the start. One that is named twice counts once.
  ///   - transport: Transfers the bytes if this process leads.
  ///   - options: The limits and policies of the engine if this process leads.
  ///   - interval: The time between two elements. If this process leads, an element follows each
  ///     interval, and each event at once. If it follows, an element comes after a commit of the
  ///     leader, at least this time after the previous one. It does not delay the end.
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
