import DownloadStore
import DownloadSync
import Foundation
import ObjectStore

/// A store of downloads, most of them at rest.
struct SampleStore {
  let path: String
  let active: Int

  /// Fills a new store: the active downloads are the newest.
  init(at path: String, finished: Int, active: Int) async throws {
    self.path = path
    self.active = active
    let store = try RecordStore(at: path)
    try store.setRoot(path + "-files")
    var first = 0
    while first < finished {
      let batch = first..<min(first + 10_000, finished)
      let requests = batch.map { number in
        var request = Self.request(number)
        // At rest, as a finished download: an engine does not read it.
        request.isPaused = true
        return request
      }
      try await store.add(requests)
      first = batch.upperBound
    }
    try await store.add((finished..<finished + active).map(Self.request))
  }

  private static func request(_ number: Int) -> DownloadRequest {
    let host = "mirror\(number % 50).example.com"
    let folder = "releases/2026/\(number / 1_000)"
    return DownloadRequest(url: "https://\(host)/\(folder)/package-\(number).tar.zst")
  }

  /// Measures the time until an engine knows which downloads to start: it opens the store and
  /// reconciles all active records with the files on disk.
  func timeToReadiness() async throws -> Duration {
    let start = ContinuousClock.now
    let store = try RecordStore(at: path)
    let engine = try DownloadEngine(store: store, transport: FedTransport())
    let count = try await engine.reconcile()
    let time = start.duration(to: .now)
    precondition(count == active, "not every active record was reconciled")
    return time
  }

  /// Returns the number of pages of the data file that each checkpoint changes, with all active
  /// downloads running.
  func pagesOfCheckpoints(_ rounds: Int) async throws -> [Int] {
    let store = try RecordStore(at: path)
    let transport = FedTransport()
    var options = EngineOptions()
    options.limits = ConcurrencyLimits(maximumRunning: active, maximumPerHost: active)
    options.checkpointInterval = .milliseconds(500)
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    let run = Task { try await engine.run(until: .stopped) }
    while transport.count < active { try await Task.sleep(for: .milliseconds(10)) }
    transport.answer()
    var figures: [Int] = []
    var received: Int64 = 0
    while figures.count < rounds {
      let before = PageDigests(of: path)
      let commits = try store.objects.commitNumber()
      received += Int64(transport.feed())
      while try !isCommitted(received, in: store) { try await Task.sleep(for: .milliseconds(5)) }
      // Skip the sample if another commit happened in between.
      guard try store.objects.commitNumber() == commits + 1 else { continue }
      figures.append(PageDigests(of: path).difference(from: before))
    }
    engine.stop()
    transport.end()
    _ = try await run.value
    return figures
  }

  private func isCommitted(_ received: Int64, in store: RecordStore) throws -> Bool {
    try store.objects.read { tx in
      try tx.count(DownloadRecord.where { $0.state == .running && $0.received < received }) == 0
    }
  }
}
