import Downloads
import Foundation

/// Downloads a revision of a model from a hub with the API of huggingface.co, into its cache layout.
///
///     snapshot [--offline] https://huggingface.co/ORGANIZATION/MODEL[@REVISION] CACHE
///
/// Prints the folder of the snapshot. Killed at any moment, it continues where it was when it runs again.
/// `HF_TOKEN` is sent to the hub only, not to the servers of its files.
@main
struct Snapshot {
  static func main() async {
    var arguments = CommandLine.arguments.dropFirst()
    let isOffline = arguments.first == "--offline"
    if isOffline { arguments.removeFirst() }
    guard arguments.count == 2, let model = Model(arguments[arguments.startIndex]) else {
      print("usage: snapshot [--offline] http[s]://HUB/ORGANIZATION/MODEL[@REVISION] CACHE")
      exit(64)
    }
    do {
      let cache = Cache(of: model, in: URL(filePath: arguments[arguments.startIndex + 1]))
      if !isOffline { try await download(model, to: cache) }
      print(try cache.snapshot(of: model.revision).path)
    } catch {
      print("snapshot: \(error)")
      exit(1)
    }
  }

  private static func download(_ model: Model, to cache: Cache) async throws {
    try cache.create()
    let transport = URLSessionTransport()
    let hub = Hub(model, transport, token: ProcessInfo.processInfo.environment["HF_TOKEN"])
    let commit = try await hub.commit()
    let files = try await hub.files(of: commit)

    let store = try RecordStore(at: cache.folder.appending(path: ".store").path)
    try store.setRoot(cache.folder.path)
    // Several files, and several revisions, may have one blob.
    let missing = files.uniqued(on: \.blob).filter { !cache.has($0) }
    let requests = try missing.map { file in try hub.request(for: file, of: commit) }
    try await store.add(requests)
    var options = EngineOptions(maximumRunning: 4)
    // A kill costs at most the bytes since the last checkpoint.
    options.checkpointInterval = .milliseconds(200)
    var records: [DownloadRecord] = []
    for try await progress in store.downloads(
      .matching(missing.map(\.blob)),
      transport: transport,
      options: options,
      every: .seconds(1)
    ) {
      let size = progress.expected ?? 0
      FileHandle.standardError.write(Data("\(progress.received) of \(size) bytes\n".utf8))
      records = progress.records
    }
    if let left = records.first(where: { $0.state != .completed }) {
      throw left.attempts.last?.failure ?? DownloadFailure(.unknown, "\(left.url) was stopped")
    }
    try cache.link(files, commit: commit, revision: model.revision)
  }
}

extension Sequence {
  /// The elements whose key no earlier element has.
  func uniqued<Key: Hashable>(on key: (Element) -> Key) -> [Element] {
    var seen: Set<Key> = []
    return filter { seen.insert(key($0)).inserted }
  }
}
