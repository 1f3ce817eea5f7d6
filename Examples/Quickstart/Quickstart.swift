import Downloads

@main
struct Quickstart {
  static func main() async throws {
    let store = try RecordStore(at: "downloads")
    let options = EngineOptions(maximumRunning: 3)
    let transport = URLSessionTransport()
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    try await store.add(CommandLine.arguments.dropFirst().map(DownloadRequest.init(url:)))
    async let summary = engine.run(until: .idle)
    for await downloads in engine.progress(of: .active, every: .seconds(1)) {
      for one in downloads { print(one.filename, one.received, "of", one.expected ?? 0) }
    }
    print("\(try await summary.completed) files; run it again after a kill -9 and it resumes")
  }
}
