import DownloadSync
import EngineTestSupport
import Foundation
import Testing

@testable import DownloadURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10)))
struct SessionDelegateTests {
  private let table = TaskTable()
  private let limiter = RateLimiter(bytesPerSecond: 1)

  /// Runs a test with a session of its own, outside Swift's thread pool.
  ///
  /// On Linux all sessions of a process share a queue, and creating a task waits for it. The rate
  /// limits of other tests hold that queue up until those tests end, for which the pool needs a
  /// free thread.
  private func withSession(
    _ body: @escaping @Sendable (_ session: URLSession) throws -> Void
  ) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global().async {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        done.resume(with: Result { try body(session) })
      }
    }
  }

  /// Creates a suspended session task for a task of the transport.
  private func bound(
    in session: URLSession
  ) throws -> (task: LiveTask, inSession: URLSessionDataTask) {
    let task = table.add(recordID: "r", sink: RecordingSink())
    let sessionTask = session.dataTask(with: URLRequest(url: URL(filePath: "/")))
    task.attach(
      sessionTask,
      for: try PreparedRequest(TaskRequest(url: "http://127.0.0.1/", recordID: "r"))
    )
    table.bind(sessionTask, to: task)
    return (task, sessionTask)
  }

  private func delegate(_ limiter: RateLimiter) -> SessionDelegate {
    SessionDelegate(table: table, sessionTasks: SessionTaskQueue(table: table), limiter: limiter)
  }

  @Test func `data queued for an ended task does not count against the rate limit`() async throws {
    try await withSession { session in
      let (task, sessionTask) = try bound(in: session)
      _ = task.receive(ResponseHead(status: 200, fields: []))
      if task.gate.settle(.cancelled) { task.gate.finish() }
      let data = Data(count: 1_000_000)
      delegate(limiter).urlSession(session, dataTask: sessionTask, didReceive: data)
      #expect(limiter.delay == .zero)
    }
  }

  @Test func `data without a final response is not part of the body`() async throws {
    try await withSession { session in
      let (task, sessionTask) = try bound(in: session)
      let delegate = delegate(RateLimiter(bytesPerSecond: nil))
      delegate.urlSession(session, dataTask: sessionTask, didReceive: Data(count: 10))
      #expect(task.gate.snapshot.bytesReceived == 0)
      _ = task.receive(ResponseHead(status: 200, fields: []))
      delegate.urlSession(session, dataTask: sessionTask, didReceive: Data(count: 10))
      #expect(task.gate.snapshot.bytesReceived == 10)
    }
  }

  @Test func `a task that ends is cancelled in the session`() async throws {
    try await withSession { session in
      let (task, sessionTask) = try bound(in: session)
      SessionTaskQueue(table: table).end(task, .cancelled)
      while table[sessionTask] != nil || task.sessionTask != nil { usleep(1_000) }
    }
  }
}
