import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(2)))
struct DeadlineTests {
  private struct Fault: Error {}

  @Test func `what returns in time is returned`() async throws {
    #expect(try await Deadline.run(within: .seconds(3600)) { 7 } == 7)
  }

  @Test func `what throws in time is thrown`() async {
    await #expect(throws: Fault.self) {
      try await Deadline.run(within: .seconds(3600)) { throw Fault() }
    }
  }

  @Test func `what takes longer is given up`() async {
    await #expect(throws: Deadline.Passed.self) {
      try await Deadline.run(within: .milliseconds(1)) { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  @Test func `what takes longer and heeds no cancellation is given up too`() async {
    let (gate, open) = AsyncStream<Void>.makeStream()
    await #expect(throws: Deadline.Passed.self) {
      try await Deadline.run(within: .milliseconds(1)) {
        // In a task of its own, which is not cancelled with this one.
        await Task { for await _ in gate {} }.value
      }
    }
    open.finish()
  }

  @Test func `who gives up waiting waits no longer`() async {
    let task = Task {
      try await Deadline.run(within: .seconds(3600)) { try await Task.sleep(for: .seconds(3600)) }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
