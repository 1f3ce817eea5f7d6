import DownloadStore
import DownloadSync
import URLSessionTransport

@main
struct Quickstart {
  static func main() async throws {
    let store = try DownloadStore(at: "downloads")
    try store.add(CommandLine.arguments.dropFirst().map(DownloadRequest.init(url:)))
    let engine = try DownloadEngine(store: store, transport: URLSessionTransport())
    let events = engine.events()
    async let summary = engine.run(until: .idle)
    for await event in events {
      if case .completed(let record) = event { print("done: downloads/files/\(record.filename)") }
    }
    print("\(try await summary.completed) files; run it again after a kill -9 and it goes on")
  }
}
