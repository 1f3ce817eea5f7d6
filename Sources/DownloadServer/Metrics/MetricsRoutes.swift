#if Server
  internal import DownloadMetrics
  internal import DownloadReports
  internal import DownloadSync
  internal import Hummingbird
  internal import SystemInterface

  /// `GET /metrics`: the store in the text format of Prometheus.
  enum MetricsRoutes {
    /// The time for which the metrics are not read again, whoever asks.
    private static let freshness = Duration.seconds(5)

    /// Adds the route.
    static func add(to routes: inout ServerRoutes, _ context: ServerContext) {
      let cache = MetricsCache()
      routes.on("/metrics", .get) { _, _ in
        let feed = context.feed
        let text = try await context.read { store in
          let engineRuns = store.hasEngine
          let metrics = try cache.metrics(for: freshness) {
            try StoreMetrics(of: store, engineRuns: engineRuns)
          }
          return MetricsText.text(
            of: metrics.metrics(
              engineRuns: engineRuns,
              bytesPerSecond: feed.summary.bytesPerSecond
            )
          )
        }
        return Response(
          status: .ok,
          headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
          body: .init(byteBuffer: ByteBuffer(string: text))
        )
      }
    }
  }

  /// The last metrics, and when they were read.
  private final class MetricsCache: Sendable {
    // A lock that is held while the metrics are read, so that several clients cause one read.
    private let last = Mutex<(metrics: StoreMetrics, time: ContinuousClock.Instant)?>(nil)

    func metrics(
      for freshness: Duration,
      _ read: () throws -> StoreMetrics
    ) throws -> StoreMetrics {
      try last.withLock { last in
        if let last, last.time.duration(to: .now) < freshness { return last.metrics }
        let metrics = try read()
        last = (metrics, .now)
        return metrics
      }
    }
  }
#endif
