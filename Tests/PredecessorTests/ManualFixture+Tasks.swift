import DownloadSync
import EngineTestSupport
import Testing

extension ManualFixture {
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
