/// What a test waits for has not come.
package struct WaitedInVain: Error {
  package var description: String
}

/// Looks until the condition is met.
///
/// - Throws: ``WaitedInVain`` after a minute, which is a hang.
package func waitUntil(
  _ description: String,
  _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now.advanced(by: .seconds(60))
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw WaitedInVain(description: description) }
    try await Task.sleep(for: .milliseconds(5))
  }
}
