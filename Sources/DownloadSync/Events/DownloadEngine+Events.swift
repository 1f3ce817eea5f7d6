public import DownloadStore
internal import ObjectStore

extension DownloadEngine {
  /// The events of all downloads from this call on, for one consumer.
  ///
  /// Call this before the run starts to miss no event, and once for each consumer. The sequence
  /// ends when ``run(until:)`` returns, and is empty after that.
  ///
  /// - Parameter capacity: The number of events that are buffered for a slow consumer, at least 1.
  ///   When the buffer is full, older events are dropped and reported by
  ///   ``DownloadEvent/missed(_:)``.
  /// - Returns: A sequence for one consumer.
  public nonisolated func events(keeping capacity: Int = 1_024) -> DownloadEvents {
    DownloadEvents(subscription: hub.subscribe(to: .everything, capacity: capacity))
  }

  /// Returns a handle for the download of a URL, which need not exist yet.
  ///
  /// The handle follows the record that has the URL now, even if the record's URL is replaced
  /// later. Costs one read of the store.
  public nonisolated func handle(forURL url: String) -> DownloadHandle {
    DownloadHandle(url: url, recordID: store.recordID(ofURL: url), engine: self)
  }

  /// Adds a download to the store, or resumes a known one, and returns a handle to wait for it.
  ///
  /// Only writes to the store, on a background thread: the download starts as soon as an engine
  /// runs and has a free slot. See `RecordStore.add(_:)`, which adds many at once, for what happens
  /// to a known URL. The record is durable on return.
  ///
  /// ```swift
  /// let handle = try await engine.download(DownloadRequest(url: "https://example.com/a.zip"))
  /// print(try await handle.value().filePath)
  /// ```
  ///
  /// - Throws: `RecordStoreError`; `StoreError`.
  @discardableResult
  public nonisolated func download(_ request: DownloadRequest) async throws -> DownloadHandle {
    let added = try await store.add([request])
    inbox.post(.storeChanged)
    let record = added.first?.record
    return DownloadHandle(url: record?.url ?? request.url, recordID: record?.id, engine: self)
  }

  /// The progress of the running downloads, in order of arrival.
  package func currentProgress() -> [DownloadProgress] {
    active.measure(at: .now)
    return active.values
      .sorted { $0.candidate.order < $1.candidate.order }
      .map(\.progress)
  }

  /// The progress of one download, running or not; `nil` if the store has no record with the URL.
  ///
  /// - Throws: `StoreError`.
  package func currentProgress(ofURL url: String) async throws -> DownloadProgress? {
    if active[url] != nil { active.measure(at: .now) }
    if let download = active[url] { return download.progress }
    return try await current(url).map(DownloadProgress.init)
  }

  /// The progress of a record's download, whatever its current URL is.
  func currentProgress(ofRecord id: String) async throws -> DownloadProgress? {
    if active.transfer(ofRecord: id) != nil { active.measure(at: .now) }
    if let download = active.transfer(ofRecord: id) { return download.progress }
    return try await store.objects.read { tx in
      try tx.first(DownloadRecord.where { $0.id == id })
    }
    .map(DownloadProgress.init)
  }
}

extension RecordStore {
  /// The id of the record with a URL; `nil` if there is none or the store cannot be read.
  func recordID(ofURL url: String) -> String? {
    try? objects.read { tx in try tx.find(DownloadRecord.self, key: url)?.id }
  }
}

extension DownloadProgress {
  /// The progress of a download without a transfer.
  fileprivate init(_ record: DownloadRecord) {
    self.init(
      recordID: record.id,
      url: record.url,
      filename: record.filename,
      state: record.state,
      received: record.received,
      expected: record.expected,
      isLive: false,
      ranges: record.committed.ranges
    )
  }
}

extension ActiveTransfer {
  /// The current progress.
  fileprivate var progress: DownloadProgress {
    // Of a split file, the count and the ranges are of the same moment.
    let written = transfer.isSplit ? transfer.file.written : nil
    return DownloadProgress(
      recordID: record.id,
      url: record.url,
      filename: record.filename,
      state: .running,
      received: written?.byteCount ?? transfer.received,
      expected: transfer.size,
      bytesPerSecond: meter.bytesPerSecond(at: .now),
      ranges: written?.ranges,
      connections: tasks.count
    )
  }
}

extension DownloadEngine {
  /// Calls a closure for each event, until the observation is cancelled or released.
  ///
  /// The calls are made one at a time, on a thread of the observation, so the closure may block. A
  /// slow closure misses events, as a slow consumer of ``events(keeping:)`` does; it never slows the
  /// engine. The calls end with the engine's run.
  ///
  /// ```swift
  /// let observation = engine.observe { event in
  ///   if case .completed(let record) = event { print(record.filename) }
  /// }
  /// ```
  ///
  /// - Parameter body: The closure to call.
  /// - Returns: The observation; keep it for as long as the closure is to be called.
  public nonisolated func observe(
    _ body: @escaping @Sendable (DownloadEvent) -> Void
  ) -> EventObservation {
    let events = events()
    return EventObservation { for await event in events { body(event) } }
  }
}

/// Owns the callbacks of an observer, and ends them when it is cancelled or released.
///
/// ```swift
/// let observation = engine.observe { event in print(event) }
/// let summary = try await engine.run(until: .idle)
/// observation.cancel()
/// ```
public final class EventObservation: Sendable {
  private let task: Task<Void, Never>

  init(_ body: @escaping @Sendable () async -> Void) {
    task = Task.detached(executorPreference: BlockingExecutor()) { await body() }
  }

  deinit {
    task.cancel()
  }

  /// Ends the callbacks, without waiting for a call that is in progress.
  public func cancel() {
    task.cancel()
  }
}
