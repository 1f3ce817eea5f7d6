import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10)))
struct DeadlineTests {
  private struct Fault: Error {}

  @Test func `a result within the deadline is returned`() async throws {
    #expect(try await Deadline.run(within: .seconds(3600)) { 7 } == 7)
  }

  @Test func `an error within the deadline is thrown`() async {
    await #expect(throws: Fault.self) {
      try await Deadline.run(within: .seconds(3600)) { throw Fault() }
    }
  }

  @Test func `an operation that exceeds the deadline is cancelled`() async {
    await #expect(throws: Deadline.Passed.self) {
      try await Deadline.run(within: .milliseconds(1)) { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  @Test func `an operation that exceeds the deadline and ignores cancellation is abandoned`() async
  {
    let (gate, open) = AsyncStream<Void>.makeStream()
    await #expect(throws: Deadline.Passed.self) {
      try await Deadline.run(within: .milliseconds(1)) {
        // Run in an unstructured task, which is not cancelled with this one.
        await Task { for await _ in gate {} }.value
      }
    }
    open.finish()
  }

  @Test func `a cancelled caller stops waiting`() async {
    let task = Task {
      try await Deadline.run(within: .seconds(3600)) { try await Task.sleep(for: .seconds(3600)) }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
