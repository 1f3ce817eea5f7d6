internal import DownloadReports
internal import DownloadStore
internal import ObjectStore
internal import ProgramOutput

/// The metrics of a store, which `GET /metrics` shows.
///
/// The names are part of the interface: docs/serve-metrics.md lists them.
struct StoreMetrics: Sendable, Hashable {
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
  init(of store: RecordStore, engineRuns: Bool) throws {
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

  /// Returns the metrics as text.
  ///
  /// - Parameters:
  ///   - engineRuns: Whether an engine runs on the store.
  ///   - bytesPerSecond: The sum of the speeds of running downloads.
  /// - Returns: The text.
  func text(engineRuns: Bool, bytesPerSecond: Double) -> String {
    var metrics = MetricsText()
    metrics.add(
      "dlstore_engine_running",
      .gauge,
      "Whether an engine runs on the store.",
      engineRuns ? 1 : 0
    )
    metrics.add(
      "dlstore_downloads",
      .gauge,
      "Downloads by state.",
      by: "state",
      totals.map { ($0.word, $0.recordCount) }
    )
    metrics.add(
      "dlstore_downloads_received_bytes",
      .gauge,
      "Bytes on disk of the downloads in a state.",
      by: "state",
      totals.map { ($0.word, $0.byteCount) }
    )
    metrics.add(
      "dlstore_receive_rate_bytes_per_second",
      .gauge,
      "The speed of all running downloads together.",
      Int64(clamping: bytesPerSecond)
    )
    metrics.add(
      "dlstore_failed_downloads",
      .gauge,
      "Failed and retrying downloads by the code of their last failure.",
      by: "code",
      (failures ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    )
    metrics.add("dlstore_store_file_bytes", .gauge, "The used part of the store's file.", fileSize)
    metrics.add("dlstore_store_free_bytes", .gauge, "Free pages in the store's file.", freeBytes)
    metrics.add("dlstore_store_map_bytes", .gauge, "The size to which the file can grow.", mapSize)
    metrics.add(
      "dlstore_store_commits_total",
      .counter,
      "Commits since the store was made.",
      lastCommit
    )
    metrics.add("dlstore_store_readers", .gauge, "Open snapshots of all processes.", readers)
    metrics.add(
      "dlstore_store_readers_limit",
      .gauge,
      "The limit of open snapshots.",
      maximumReaders
    )
    metrics.add(
      "dlstore_store_oldest_reader_commits",
      .gauge,
      "Commits since the oldest open snapshot, which keep freed pages from reuse.",
      oldestReader
    )
    return metrics.text
  }
}
