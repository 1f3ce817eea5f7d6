#if Metrics
  public import CoreMetrics
  internal import DownloadReports
  public import DownloadStore
  internal import DownloadSync
  internal import ObjectStore

  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif

  /// Records the state of a store to swift-metrics, for a program that embeds the engine or only reads the
  /// store of another process.
  ///
  /// The names and the numbers are those of `GET /metrics` of the server (docs/serve-metrics.md). A label
  /// of Prometheus is a dimension.
  ///
  /// ```swift
  /// let store = try RecordStore(at: "downloads")
  /// let recorder = StoreMetricsRecorder(of: store)
  /// try await recorder.run(every: .seconds(15))
  /// ```
  public struct StoreMetricsRecorder: Sendable {
    private let store: RecordStore
    private let factory: any MetricsFactory

    /// Creates a recorder, which reads nothing until ``run(every:)``.
    ///
    /// - Parameters:
    ///   - store: The store; it may be opened for reading.
    ///   - factory: The backend; by default that of the program.
    public init(of store: RecordStore, factory: any MetricsFactory = MetricsSystem.factory) {
      self.store = store
      self.factory = factory
    }

    /// Records at once and then again after each interval, until the task is cancelled.
    ///
    /// Removes its gauges when it ends, because their values are outdated then.
    ///
    /// - Parameter interval: The time between two readings.
    /// - Throws: `StoreError` if the store cannot be read; `CancellationError`.
    /// - Complexity: A reading is O(n) in the index entries and the byte counts of n downloads, without
    ///   their records.
    public func run(every interval: Duration = .seconds(15)) async throws {
      var recording = MetricsRecording(factory)
      defer { recording.removeGauges() }
      var speeds = ListSpeeds()
      while true {
        let (metrics, next) = try await store.inBackground { [store, speeds] in
          try Self.read(store, speeds)
        }
        speeds = next
        recording.record(metrics)
        try await Task.sleep(for: interval)
      }
    }

    /// The number of running downloads whose speeds are measured.
    private static let maximumRunning = 1000

    private static func read(
      _ store: RecordStore,
      _ previous: ListSpeeds
    ) throws -> ([Metric], ListSpeeds) {
      var speeds = previous
      let engineRuns = store.hasEngine
      let roots = try store.roots()
      let query = DownloadRecord.where { $0.state == .running }.limit(maximumRunning)
      let running = engineRuns ? try store.records(query) : []
      speeds.note(running.map { DownloadEntry($0, roots) }, at: .now)
      let metrics = try StoreMetrics(of: store, engineRuns: engineRuns)
        .metrics(engineRuns: engineRuns, bytesPerSecond: speeds.values.values.reduce(0, +))
      return (metrics, speeds)
    }
  }

  /// The gauges and the counters of a recorder.
  struct MetricsRecording {
    private struct Key: Hashable {
      var name: String
      var label: String?
    }

    private let factory: any MetricsFactory
    private var gauges: [Key: Gauge] = [:]
    private var counters: [String: (counter: Counter, last: Int64)] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Records metrics, and removes the gauges that they do not have.
    mutating func record(_ metrics: [Metric]) {
      var rest = gauges
      for metric in metrics {
        for value in metric.values {
          switch metric.kind {
          case .counter: count(metric.name, value.number)
          case .gauge:
            let key = Key(name: metric.name, label: value.label)
            rest[key] = nil
            gauge(key, metric).record(value.number)
          }
        }
      }
      for (key, gauge) in rest {
        gauge.destroy()
        gauges[key] = nil
      }
    }

    /// Removes all gauges.
    mutating func removeGauges() {
      for gauge in gauges.values { gauge.destroy() }
      gauges = [:]
    }

    private mutating func gauge(_ key: Key, _ metric: Metric) -> Gauge {
      if let gauge = gauges[key] { return gauge }
      let dimensions = metric.label.flatMap { name in key.label.map { [(name, $0)] } } ?? []
      let gauge = Gauge(label: key.name, dimensions: dimensions, factory: factory)
      gauges[key] = gauge
      return gauge
    }

    /// Raises a counter to a number.
    ///
    /// It stays if the number is lower, as after a restored backup.
    private mutating func count(_ name: String, _ number: Int64) {
      let (counter, last) = counters[name] ?? (Counter(label: name, factory: factory), 0)
      if number > last { counter.increment(by: number - last) }
      counters[name] = (counter, number)
    }
  }
#endif
