package import DownloadSync

/// Runs an engine for as long as `body` takes, then stops it.
///
/// `ending` is called after the stop, and has the tasks end that it cancels: what is cancelled before
/// that would start again.
package func running(
  _ engine: DownloadEngine,
  _ body: () async throws -> Void,
  ending: () async throws -> Void
) async throws {
  let run = Task { try await engine.run(until: .stopped) }
  let result: Result<Void, any Error>
  do {
    result = .success(try await body())
  } catch {
    result = .failure(error)
  }
  engine.stop()
  try await ending()
  _ = try await run.value
  try result.get()
}
