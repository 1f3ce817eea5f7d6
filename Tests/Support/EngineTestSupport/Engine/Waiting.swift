internal import TestSupport

/// The condition that a test waits for did not become true.
package struct WaitTimeout: Error {
  package var description: String
}

/// Polls until the condition holds.
///
/// - Throws: ``WaitTimeout`` after ``hangLimit``.
package func waitUntil(
  _ description: String,
  _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now.advanced(by: hangLimit)
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw WaitTimeout(description: description) }
    try await Task.sleep(for: .milliseconds(5))
  }
}
