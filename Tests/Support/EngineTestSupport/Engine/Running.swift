package import DownloadSync

/// Runs an engine while `body` runs, then stops it.
///
/// `ending` is called after the stop and has to end the cancelled tasks. A task that ended before
/// would start again.
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
