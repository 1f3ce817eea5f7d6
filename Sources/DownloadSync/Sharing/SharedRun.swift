internal import DownloadStore
internal import ObjectStore

/// Carries out the steps of ``WaitStep`` for one process.
struct SharedRun {
  private let store: RecordStore
  private let selection: RecordSelection
  private let transport: any Transport
  private let options: EngineOptions
  private let interval: Duration
  private let report: @Sendable (SharedProgress) -> Void

  init(_ downloads: SharedDownloads, _ report: @escaping @Sendable (SharedProgress) -> Void) {
    store = downloads.store
    selection = downloads.selection
    transport = downloads.transport
    options = downloads.options
    interval = downloads.interval
    self.report = report
  }

  /// Leads or follows until the downloads have ended, or the task is cancelled.
  func run() async throws {
    let urls = try store.urls(of: selection)
    let ids = try records(urls).map(\.id)
    let registration =
      options.mayBeLedByOthers ? try WaiterRegistration(of: ids, storePath: store.path) : nil
    defer { withExtendedLifetime(registration) {} }
    let wakes = FollowWakes(store)
    var event = WaitStep.Event.woken
    var earliest = ContinuousClock.now
    while !Task.isCancelled {
      // In this order, the last commits of an engine that has ended are read.
      let engineRuns = EngineLock.holder(storePath: store.path) != nil
      let records = try records(urls)
      report(SharedProgress(records: records, transfers: [], isLeading: event == .ran))
      let haveEnded = records.allSatisfy(\.needsCommand)
      switch WaitStep.next(after: event, haveEnded: haveEnded, engineRuns: engineRuns) {
      case .end: return
      case .lead: event = try await lead(urls) ? .ran : .lockRefused
      case .follow:
        // A cancelled sleep ends the loop.
        try? await Task.sleep(until: earliest, clock: .continuous)
        await wakes.next()
        earliest = .now + interval
        event = .woken
      }
    }
  }

  private func records(_ urls: [String]) throws -> [DownloadRecord] {
    try store.objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }
    }
  }

  /// Runs an engine until the downloads have ended; returns false if another one has the lock.
  private func lead(_ urls: [String]) async throws -> Bool {
    var options = options
    options.lockPatience = .zero
    if selection != .all { options.scope = Set(urls) }
    let engine: DownloadEngine
    do {
      engine = try DownloadEngine(store: store, transport: transport, options: options)
    } catch let error as EngineError where error.code == .alreadyRunning {
      return false
    }
    let own = Set(urls)
    let showing = Task {
      for await transfers in engine.progress(of: .active, every: interval) {
        guard let records = try? records(urls) else { continue }
        report(
          SharedProgress(
            records: records,
            transfers: transfers.filter { own.contains($0.url) },
            isLeading: true
          )
        )
      }
    }
    defer { showing.cancel() }
    _ = try await engine.run(until: .finished(.matching(urls)))
    await showing.value
    return true
  }
}

extension EngineOptions {
  /// Whether an engine with other options may run the downloads.
  var mayBeLedByOthers: Bool {
    requestInterceptors.isEmpty && authorizer == nil && hooks.isEmpty
  }
}
