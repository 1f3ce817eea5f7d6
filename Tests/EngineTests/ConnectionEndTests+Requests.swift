import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Holds the request of the second connection until the test opens it.
private final class HeldRequest: RequestInterceptor {
  private struct State {
    var isHeld = false
    var isOpen = false
    var hasReturned = false
  }
  // Only held to access the fields.
  private let state = Mutex(State())

  var isHeld: Bool { state.withLock { $0.isHeld } }
  var hasReturned: Bool { state.withLock { $0.hasReturned } }

  func open() { state.withLock { $0.isOpen = true } }

  func intercept(
    _ request: TaskRequest,
    for record: DownloadRecord
  ) async throws -> TaskRequest {
    guard request.offset > 0 else { return request }
    state.withLock { $0.isHeld = true }
    // Ignores that the engine cancels it.
    while !state.withLock({ $0.isOpen }) { await Task.yield() }
    state.withLock { $0.hasReturned = true }
    return request
  }
}

// Requests that are not sent, and responses that are not believed.

extension ConnectionEndTests {
  @Test func `a request that is prepared when its download is paused is not sent`() async throws {
    let request = HeldRequest()
    try await fixture.running(try engine { $0.requestInterceptors = [request] }) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 100)
      try await waitUntil("the second request") { request.isHeld }
      try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
      try await waitUntil("the cancel") { !transport.cancelled.isEmpty }
      request.open()
      transport.started[0].sink.finish(.cancelled)
      try await fixture.settle()
      #expect(try fixture.record("a").state == .paused)
      #expect(transport.started.count == 1)
    }
  }

  @Test func `a request that is prepared when its connection is ended is not sent`() async throws {
    let request = HeldRequest()
    let engine = try engine { $0.requestInterceptors = [request] }
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].receive(bytes(10), of: 100)
      try await waitUntil("the second request") { request.isHeld }
      await engine.setLimits(ConcurrencyLimits(maximumRunning: 1, maximumPerHost: 8))
      try await fixture.settle()
      request.open()
      try await waitUntil("the return") { request.hasReturned }
      try await fixture.settle()
      #expect(transport.started.count == 1)
      #expect(transport.started[0].sink.receive(bytes(90).span) == .proceed)
      transport.started[0].sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
  }

  @Test func `a body that is too long completes no file while another connection is open`()
    async throws
  {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(first.sink.receive(bytes(91).span) == .cancel)
      first.sink.finish(.cancelled)
      try await waitUntil("the cancel") { transport.cancelled.contains(TaskID(rawValue: 2)) }
      second.sink.finish(.cancelled)
      try await waitUntil("the end") { try !fixture.record("a").attempts.isEmpty }
      try await fixture.started(3)
      #expect(transport.started[2].request.offset == 0)
    }
  }

  @Test func `a body that turns out to be too long after the last byte completes no file`()
    async throws
  {
    try await fixture.running(try engine()) {
      let (first, second) = try await split()
      #expect(second.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      #expect(first.sink.receive(bytes(45).span) == .cancel)
      #expect(second.sink.receive(bytes(45).span) == .proceed)
      first.sink.finish(.cancelled)
      try await waitUntil("the cancel") { transport.cancelled == [TaskID(rawValue: 2)] }
      #expect(second.sink.receive(bytes(1).span) == .cancel)
      second.sink.finish(.cancelled)
      try await fixture.started(3)
      #expect(try fixture.record("a").committed == ByteRanges(upTo: 55))
      let third = transport.started[2]
      #expect(third.request.offset == 55)
      #expect(third.sink.receive(head(206, range: "bytes 55-99/100")) == .proceed)
      _ = third.sink.receive(bytes(45).span)
      third.sink.finish(.completed)
      try await fixture.reached(.completed, "a")
    }
    let record = try fixture.record("a")
    #expect(record.attempts.map(\.failure.code) == [.badResponse] && record.received == 100)
  }

  @Test func `a file of another size than its pieces is refused before its body`() async throws {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    var request = DownloadRequest(url: fixture.url("d"))
    request.pieces = RequiredPieces(byteCount: 400, pieceLength: 400, digests: [])
    try fixture.store.addNow([request])
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      var other = head(200)
      other.fields.append(HeaderField(name: "Content-Length", value: "401"))
      let task = transport.started[0]
      #expect(task.sink.receive(other) == .cancel)
      task.sink.finish(.cancelled)
      try await fixture.reached(.failedPermanent, "d")
    }
  }
}
