package import DownloadStore
package import DownloadSync
internal import Foundation
internal import ObjectStore
package import TestSupport

/// A store whose downloads the test controls.
package struct ManualFixture {
  package let folder: TemporaryFolder
  package let store: RecordStore
  package let transport: ManualTransport

  package init(left: [TaskSnapshot] = []) throws {
    folder = try TemporaryFolder()
    store = try RecordStore(ofTestAt: folder.path("store"))
    transport = ManualTransport(left: left)
  }

  package func url(_ name: String) -> String { "https://example.com/\(name)" }

  package func record(_ name: String) throws -> DownloadRecord {
    try store.record(matching: url(name))
  }

  package func layout(_ name: String) throws -> FileLayout {
    try store.roots().layout(of: try record(name))
  }

  package func add(_ names: String..., priority: Int32 = 0) throws {
    try store.addNow(
      names.map { name in
        var request = DownloadRequest(url: url(name))
        request.priority = priority
        return request
      }
    )
  }

  /// Changes a record as an engine would, and creates its partial file.
  package func change(
    _ name: String,
    partial: Int? = nil,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void
  ) throws {
    if let partial {
      let layout = try layout(name)
      try FileManager.default.createDirectory(
        atPath: layout.folderPath,
        withIntermediateDirectories: true
      )
      try Data(repeating: 7, count: partial).write(to: URL(filePath: layout.partialPath))
    }
    let url = url(name)
    try store.objects.writeNow { tx in _ = try tx.update(DownloadRecord.self, key: url, change) }
  }

  package func engine(
    _ maximumRunning: Int = 4,
    perHost: Int = 100,
    queue bounds: QueueBounds = QueueBounds()
  ) throws -> DownloadEngine {
    var options = EngineOptions(maximumRunning: maximumRunning, maximumPerHost: perHost)
    options.removeTimeLimits()
    options.queueBounds = bounds
    // A test finds the task of a download by its name.
    options.split.maximumConnections = 1
    return try DownloadEngine(store: store, transport: transport, options: options)
  }

  /// Runs an engine while `body` runs, then cancels its tasks.
  package func running(
    _ engine: DownloadEngine,
    _ body: () async throws -> Void
  ) async throws {
    try await EngineTestSupport.running(engine, body) { transport.endCancelled() }
  }

  /// Waits until the given number of tasks has started.
  package func started(_ count: Int) async throws {
    try await waitUntil("\(count) starts") { transport.started.count >= count }
  }

  /// Waits until a record is in a state.
  package func reached(_ state: DownloadState, _ name: String) async throws {
    try await waitUntil("\(name) to be \(state)") { try record(name).state == state }
  }

  /// Waits until an engine has processed all previous commits.
  package func settle() async throws {
    // The engine processes external changes in the order of commits.
    let mark = "mark-\(UUID().uuidString)"
    var request = DownloadRequest(url: url(mark))
    request.isPaused = true
    try store.addNow([request])
    try store.apply(.remove(withFile: false), to: .matching(url(mark)))
    try await waitUntil("the mark to go") { (try? record(mark)) == nil }
  }
}

extension DownloadEvent {
  /// The name of the event without its values.
  package var word: String {
    switch self {
    case .started: "started"
    case .copying: "copying"
    case .rolledBack: "rolledBack"
    case .completed: "completed"
    case .unchanged: "unchanged"
    case .retrying: "retrying"
    case .failed: "failed"
    case .waitingForDiskSpace: "waitingForDiskSpace"
    case .released: "released"
    case .interceptorFailed: "interceptorFailed"
    case .missed: "missed"
    }
  }
}
