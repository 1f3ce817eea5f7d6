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
    return DownloadHandle(url: request.url, recordID: added.first?.record.id, engine: self)
  }

  /// The progress of the running downloads, in order of arrival.
  package func currentProgress() -> [DownloadProgress] {
    measure()
    return active.values
      .sorted { $0.candidate.order < $1.candidate.order }
      .map(\.progress)
  }

  /// The progress of one download, running or not; `nil` if the store has no record with the URL.
  ///
  /// - Throws: `StoreError`.
  package func currentProgress(ofURL url: String) async throws -> DownloadProgress? {
    if active[url] != nil { measure() }
    if let download = active[url] { return download.progress }
    return try await current(url).map(DownloadProgress.init)
  }

  /// The progress of a record's download, whatever its current URL is.
  func currentProgress(ofRecord id: String) async throws -> DownloadProgress? {
    if let url = active.values.first(where: { $0.record.id == id })?.record.url {
      measure()
      return active[url]?.progress
    }
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
      isLive: false
    )
  }
}

extension ActiveTransfer {
  /// The current progress.
  fileprivate var progress: DownloadProgress {
    DownloadProgress(
      recordID: record.id,
      url: record.url,
      filename: record.filename,
      state: .running,
      received: transfer.received,
      expected: transfer.entity.total,
      bytesPerSecond: meter.bytesPerSecond(at: .now)
    )
  }
}
