public import DownloadStore
internal import ObjectStore

extension DownloadEngine {
  /// What happens, from this call on, for one consumer.
  ///
  /// Ask before the run begins to miss nothing, and once for each consumer. The sequence ends when
  /// ``run(until:)`` returns; asked after that, it is empty.
  ///
  /// - Parameter capacity: How many events wait for a consumer that is slow; of more than that the
  ///   oldest are dropped, and it is told how many.
  /// - Returns: A sequence for one consumer.
  public nonisolated func events(keeping capacity: Int = 1_024) -> DownloadEvents {
    DownloadEvents(subscription: hub.subscribe(to: .everything, capacity: capacity))
  }

  /// A handle on the download of a URL; there need not be one.
  ///
  /// Costs one read of the store: the handle follows the record that has the URL now, also when that
  /// gets another one.
  public nonisolated func handle(of url: String) -> DownloadHandle {
    DownloadHandle(url: url, recordID: store.recordID(ofURL: url), engine: self)
  }

  /// Adds a download to the store, or goes on with the one that is known, and returns a handle on
  /// it.
  ///
  /// The engine starts it when its turn comes, at once if it is running: the store is told, and
  /// nothing else.
  ///
  /// - Throws: `DownloadStoreError`; `StoreError`.
  @discardableResult
  public nonisolated func download(_ request: DownloadRequest) throws -> DownloadHandle {
    let added = try store.add([request])
    inbox.post(.storeChanged)
    return DownloadHandle(url: request.url, recordID: added.first?.record.id, engine: self)
  }

  /// How far the live downloads are.
  public func progress() -> [DownloadProgress] {
    measure()
    return active.values
      .sorted { $0.candidate.order < $1.candidate.order }
      .map(\.progress)
  }

  /// How far one download is, live or not; `nil` when the store does not know it.
  ///
  /// - Throws: `StoreError`.
  public func progress(of url: String) async throws -> DownloadProgress? {
    if active[url] != nil { measure() }
    if let download = active[url] { return download.progress }
    return try await current(url).map(DownloadProgress.init)
  }

  /// How far the download of a record is, whichever URL it has.
  func progress(ofRecord id: String) async throws -> DownloadProgress? {
    if let url = active.values.first(where: { $0.record.id == id })?.record.url {
      measure()
      return active[url]?.progress
    }
    return try await store.objects.read { tx in
      try tx.first(DownloadRecord.where { $0.id == id })
    }
    .map(DownloadProgress.init)
  }

  /// Has every meter take note of how far its download is.
  func measure() {
    let now = SuspendingClock.now
    for url in active.urls {
      guard let received = active[url]?.transfer.received else { continue }
      active[url]?.meter.note(received, at: now)
    }
  }
}

extension DownloadStore {
  /// The id of the record that has the URL; `nil` when there is none, or the store cannot be read.
  func recordID(ofURL url: String) -> String? {
    try? objects.read { tx in try tx.get(DownloadRecord.self, url)?.id }
  }
}

extension DownloadProgress {
  /// How far a download without a transfer is.
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

extension DownloadEngine.ActiveTransfer {
  /// How far it is, as of now.
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
