import DownloadSync
import Foundation
import Testing
import TransportTesting

@testable import URLSessionTransport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct SessionDelegateTests {
  private let table = TaskTable()
  private let limiter = RateLimiter(bytesPerSecond: 1)

  /// Hands a megabyte to the delegate, for a task that has its response; returns the rate limit's
  /// debt.
  private func delay(afterEnd hasEnded: Bool) throws -> Duration {
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let delegate = SessionDelegate(table: table, hops: HopQueue(table: table), limiter: limiter)
    let task = table.add(recordID: "r", sink: RecordingSink())
    let sessionTask = session.dataTask(with: URLRequest(url: URL(filePath: "/")))
    task.attach(sessionTask, for: try Hop(TaskRequest(url: "http://127.0.0.1/", recordID: "r")))
    table.bind(sessionTask, to: task)
    _ = task.receive(ResponseHead(status: 200, fields: []))
    if hasEnded, task.gate.settle(.cancelled) { task.gate.finish() }
    delegate.urlSession(session, dataTask: sessionTask, didReceive: Data(count: 1_000_000))
    return limiter.delay
  }

  @Test func `data that was queued when its task ended costs nothing of the rate limit`() throws {
    #expect(try delay(afterEnd: true) == .zero)
  }
}
