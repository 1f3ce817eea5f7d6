package import DownloadStore
package import DownloadSync
package import FaultServer
package import Foundation
package import ObjectStore

/// A store, a server and engines in their own folder, which is deleted after the test.
package final class EngineFixture {
  package let folder: URL
  package let server: FaultServer
  package let store: RecordStore
  /// The idle timeout of the transports.
  package var idleTimeout = Duration.seconds(300)

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "engine-\(UUID().uuidString)")
    server = try FaultServer()
    store = try RecordStore(ofTestAt: folder.appending(path: "store").path)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The path of a file in the standard root.
  package func file(_ name: String) -> String {
    folder.appending(path: "store/files/\(name)").path
  }

  package func record(_ path: String) throws -> DownloadRecord {
    try store.record(matching: server.url(path))
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
    return try store.addNow([request])[0].record
  }

  /// Adds a record whose first bytes are on disk and synced.
  package func interrupted(
    _ path: String,
    _ body: Body,
    received: Int = 1_000_000,
    entityTag: String? = "\"1\"",
    lastModified: String? = nil
  ) throws {
    let record = try add(path)
    let layout = try store.roots().layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(body.bytes(at: 0, count: received)).write(to: URL(filePath: layout.partialPath))
    try store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, key: record.url) { record in
        record.received = Int64(received)
        record.expected = body.byteCount
        record.entityTag = entityTag
        record.lastModified = lastModified
      }
    }
  }

  /// Creates an engine with short retry delays, and without limits of time and speed.
  package func engine(
    idleTimeout: Duration = .seconds(300),
    environment: EngineEnvironment = .live,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) throws -> DownloadEngine {
    var options = EngineOptions()
    options.removeTimeLimits()
    options.retry = RetryPolicy(
      maximumAttempts: 8,
      base: .milliseconds(1),
      cap: .seconds(1),
      longestServerWait: .seconds(1)
    )
    change(&options)
    return try DownloadEngine(
      store: store,
      transport: TransportUnderTest.make(idleTimeout: idleTimeout),
      options: options,
      now: { Date() },
      environment: environment
    )
  }

  /// Runs an engine until it is idle, and returns its summary and its events.
  @discardableResult
  package func run(
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> (summary: RunSummary, events: [DownloadEvent]) {
    let engine = try engine(idleTimeout: idleTimeout, change)
    let events = engine.events()
    let summary = try await engine.run(until: .idle)
    return (summary, await events.reduce(into: []) { $0.append($1) })
  }

  /// Routes a resource whose shortened replies end when the gate is opened, and returns the gate.
  package func routeGated(_ path: String, _ resource: Resource) -> Gate {
    let gate = Gate()
    var resource = resource
    resource.endGate = gate
    server.route(path, resource)
    return gate
  }

  /// Adds a download, and runs one attempt, which the server ends after some bytes.
  ///
  /// The engine has received all of these bytes when the server closes the connection.
  package func breakOff(
    _ path: String,
    _ body: Body,
    after byteCount: Int64,
    pieceLength: Int64,
    _ change: (inout DownloadRequest) -> Void = { _ in }
  ) async throws -> DownloadRecord {
    let gate = routeGated(path, Resource(body, faults: .closeAfter(bytes: byteCount)))
    try add(path, change)
    try await run(opening: gate, at: byteCount) { options in
      options.pieceLength = pieceLength
      options.retry = RetryPolicy(maximumAttempts: 1)
    }
    return try record(path)
  }

  /// Runs an engine until it is idle, and opens a gate of the server when the engine has received
  /// some bytes of its only download.
  @discardableResult
  package func run(
    opening gate: Gate,
    at byteCount: Int64,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await run(try engine(idleTimeout: idleTimeout, change), opening: gate, at: byteCount)
  }

  /// Runs an engine as ``run(opening:at:_:)`` does.
  @discardableResult
  package func run(
    _ engine: DownloadEngine,
    opening gate: Gate,
    at byteCount: Int64
  ) async throws -> RunSummary {
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("\(byteCount) bytes") {
      await engine.currentProgress().first.map { $0.received >= byteCount } ?? false
    }
    gate.open()
    return try await run.value
  }

  /// Returns the `Range` fields of the requests for a path, in order.
  package func ranges(_ path: String) -> [String?] {
    server.requests.filter { $0.target == path }.map { $0["Range"] }
  }
}

extension Store {
  /// Performs a synchronous write, also in an asynchronous test.
  @discardableResult
  package func writeNow<R>(_ body: (inout StoreTransaction) throws -> R) throws -> R {
    try write(body)
  }
}
