import DownloadSync
import EngineTestSupport
import Testing

extension RetryPolicy {
  /// A policy whose retries are not due during a test.
  ///
  /// A wait is drawn from zero on, so its limit is far longer than a test.
  static let late = RetryPolicy(base: .seconds(1 << 26), cap: .seconds(1 << 26))
}

extension ManualFixture {
  /// Creates an engine whose retries are not due during a test.
  func engineWithLateRetries() throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = .late
    options.split.maximumConnections = 1
    return try DownloadEngine(store: store, transport: transport, options: options)
  }

  /// The filenames of the started tasks, in order.
  var startedNames: [String] {
    transport.started.map { String($0.request.url.split(separator: "/").last ?? "") }
  }

  /// Returns the last task that was started for a name.
  func task(_ name: String) throws -> ManualTransport.Started {
    try #require(transport.started.last { $0.request.url == url(name) })
  }

  /// Waits until the engine has cancelled the last task of a name, and ends it.
  func endCancelled(_ name: String) async throws {
    let index = try #require(startedNames.lastIndex(of: name))
    try await waitUntil("\(name) to be cancelled") {
      transport.cancelled.contains { $0.rawValue == UInt64(index + 1) }
    }
    transport.started[index].sink.finish(.cancelled)
  }
}
