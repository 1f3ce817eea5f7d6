package import DownloadStore
package import DownloadSync
package import FaultServer
package import Foundation
package import ObjectStore
internal import URLSessionTransport

/// A store, a server and engines in a folder of their own, gone when the test ends.
package final class EngineFixture {
  package let folder: URL
  package let server: FaultServer
  package let store: DownloadStore

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "engine-\(UUID().uuidString)")
    server = try FaultServer()
    store = try DownloadStore(at: folder.appending(path: "store").path)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Where the files of records in the standard root go.
  package func file(_ name: String) -> String {
    folder.appending(path: "store/files/\(name)").path
  }

  package func record(_ path: String) throws -> DownloadRecord {
    try store.record(named: server.url(path))
  }

  @discardableResult
  package func add(
    _ path: String,
    _ change: (inout DownloadRequest) -> Void = { _ in }
  ) throws
    -> DownloadRecord
  {
    var request = DownloadRequest(url: server.url(path))
    change(&request)
    return try store.add([request])[0].record
  }

  /// Makes an engine that tries again soon.
  package func engine(_ change: (inout EngineOptions) -> Void = { _ in }) throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1), cap: .seconds(1))
    change(&options)
    return try DownloadEngine(
      store: store,
      transport: URLSessionTransport(idleTimeout: .seconds(5)),
      options: options
    )
  }

  /// Runs an engine until nothing is left to do, and gives what it told.
  @discardableResult
  package func run(
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> (summary: RunSummary, events: [DownloadEvent]) {
    let engine = try engine(change)
    let events = engine.events()
    let summary = try await engine.run(until: .idle)
    return (summary, await events.reduce(into: []) { $0.append($1) })
  }

  /// The values of the `Range` fields of the requests for a path, in order.
  package func ranges(_ path: String) -> [String?] {
    server.requests.filter { $0.target == path }.map { $0["Range"] }
  }
}

extension ObjectStore {
  /// The synchronous write, also in an asynchronous test.
  @discardableResult
  package func writeNow<R>(_ body: (inout StoreTransaction) throws -> R) throws -> R {
    try write(body)
  }
}
