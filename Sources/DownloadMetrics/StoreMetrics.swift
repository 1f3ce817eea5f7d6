internal import DownloadReports
package import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// The metrics of a store, which `GET /metrics` of the server shows.
///
/// The names are part of the interface: docs/serve-metrics.md lists them.
package struct StoreMetrics: Sendable, Hashable {
  /// The number of failed downloads whose failures are read; of more, no numbers by code are given.
  static let mostFailures = 10_000

  /// The numbers of downloads and their bytes on disk, by state.
  var totals: [StateTotals]
  /// The failed and the retrying downloads by the code of their last failure; `nil` if there are too many.
  var failures: [String: Int]?
  var fileSize: Int
  var freeBytes: Int
  var mapSize: Int
  var lastCommit: UInt64
  var readers: Int
  var maximumReaders: Int
  /// The number of commits since the oldest open snapshot.
  var oldestReader: UInt64

  /// Reads the metrics.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(n) in the index entries and the byte counts of n downloads, without their records.
  package init(of store: RecordStore, engineRuns: Bool) throws {
    let statistics = try store.objects.statistics()
    totals = try store.totals(engineRuns: engineRuns)
    failures = try Self.failures(in: store)
    fileSize = statistics.fileSize
    freeBytes = statistics.freePages * statistics.pageSize
    mapSize = statistics.mapSize
    lastCommit = statistics.lastCommit
    readers = statistics.readers.count
    maximumReaders = statistics.maximumReaders
    oldestReader = statistics.readers.map(\.ageInCommits).max() ?? 0
  }

  private static func failures(in store: RecordStore) throws -> [String: Int]? {
    let failed = DownloadRecord.where { $0.state.isIn([.failedPermanent, .failedRetryable]) }
    let codes = try store.objects.read { tx in
      try tx.fetch(failed.limit(mostFailures + 1)) { view in
        try view.attempts.last?.failure.code.rawValue
      }
    }
    guard codes.count <= mostFailures else { return nil }
    return codes.reduce(into: [:]) { counts, code in counts[code ?? "unknown", default: 0] += 1 }
  }

  /// Returns the metrics with their names and values.
  ///
  /// - Parameters:
  ///   - engineRuns: Whether an engine runs on the store.
  ///   - bytesPerSecond: The sum of the speeds of running downloads.
  /// - Returns: The metrics, in the order of docs/serve-metrics.md.
  package func metrics(engineRuns: Bool, bytesPerSecond: Double) -> [Metric] {
    downloads(engineRuns: engineRuns, bytesPerSecond: bytesPerSecond) + file
  }

  private func downloads(engineRuns: Bool, bytesPerSecond: Double) -> [Metric] {
    [
      Metric(
        "dlstore_engine_running",
        "Whether an engine runs on the store.",
        engineRuns ? 1 : 0
      ),
      Metric(
        "dlstore_downloads",
        "Downloads by state.",
        by: "state",
        totals.map { ($0.word, $0.recordCount) }
      ),
      Metric(
        "dlstore_downloads_received_bytes",
        "Bytes on disk of the downloads in a state.",
        by: "state",
        totals.map { ($0.word, $0.byteCount) }
      ),
      Metric(
        "dlstore_receive_rate_bytes_per_second",
        "The speed of all running downloads together.",
        Speed.byteCount(bytesPerSecond)
      ),
      Metric(
        "dlstore_failed_downloads",
        "Failed and retrying downloads by the code of their last failure.",
        by: "code",
        (failures ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      ),
    ]
  }

  private var file: [Metric] {
    [
      Metric("dlstore_store_file_bytes", "The used part of the store's file.", fileSize),
      Metric("dlstore_store_free_bytes", "Free pages in the store's file.", freeBytes),
      Metric("dlstore_store_map_bytes", "The size to which the file can grow.", mapSize),
      Metric(
        "dlstore_store_commits_total",
        kind: .counter,
        "Commits since the store was made.",
        lastCommit
      ),
      Metric("dlstore_store_readers", "Open snapshots of all processes.", readers),
      Metric("dlstore_store_readers_limit", "The limit of open snapshots.", maximumReaders),
      Metric(
        "dlstore_store_oldest_reader_commits",
        "Commits since the oldest open snapshot, which keep freed pages from reuse.",
        oldestReader
      ),
    ]
  }
}
