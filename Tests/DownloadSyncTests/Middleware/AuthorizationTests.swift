import DownloadStore
import Testing

@testable import DownloadSync

/// The order of the calls of an authorizer.
@Suite(.timeLimit(.minutes(10)))
struct AuthorizationTests {
  /// Answers no refusal.
  private struct SilentAuthorizer: RequestAuthorizer {
    let isAsked: AsyncStream<Void>.Continuation

    func authorize(
      _ request: TaskRequest,
      after refusal: ResponseHead?
    ) async throws -> TaskRequest {
      guard refusal != nil else { return request }
      isAsked.yield()
      try await Task.sleep(for: .seconds(86_400))
      return request
    }
  }

  @Test func `a cancelled answer may have renewed the credentials`() async throws {
    let (asked, isAsked) = AsyncStream<Void>.makeStream()
    let authorization = Authorization(SilentAuthorizer(isAsked: isAsked), deadline: .seconds(3_600))
    let request = TaskRequest(url: "https://example.com/a", recordID: "1", offset: 0)
    let first = try await authorization.authorize(request, after: nil)
    let refusal = Authorization.Refusal(
      head: ResponseHead(status: 401, fields: []),
      refreshCount: first.refreshCount
    )
    let cancelled = Task { try await authorization.authorize(request, after: refusal) }
    for await _ in asked { break }
    cancelled.cancel()
    await #expect(throws: DownloadFailure.self) { try await cancelled.value }
    // Another request with the same credentials tries again before it asks for others.
    let next = try await authorization.authorize(request, after: refusal)
    #expect(!next.isAnswer && next.refreshCount == first.refreshCount + 1)
  }

  /// Does not return from its first call before the gate is open, whatever is cancelled.
  private actor BlockedAuthorizer: RequestAuthorizer {
    private let isAsked: AsyncStream<Void>.Continuation
    private let gate: Task<Void, Never>
    private(set) var callCount = 0

    init(isAsked: AsyncStream<Void>.Continuation, gate: Task<Void, Never>) {
      self.isAsked = isAsked
      self.gate = gate
    }

    func authorize(
      _ request: TaskRequest,
      after refusal: ResponseHead?
    ) async throws -> TaskRequest {
      callCount += 1
      isAsked.yield()
      if callCount == 1 { await gate.value }
      return request
    }
  }

  /// A sink whose end can be awaited.
  private struct EndSink: TaskSink {
    let ended: AsyncStream<TaskOutcome>.Continuation

    func receive(_ head: ResponseHead) -> BodyDisposition { .proceed }
    func receive(_ bytes: Span<UInt8>) -> BodyDisposition { .proceed }
    func finish(_ outcome: TaskOutcome) { ended.yield(outcome) }
  }

  @Test func `a cancelled request does not wait for the authorization of another one`()
    async throws
  {
    let (asked, isAsked) = AsyncStream<Void>.makeStream()
    let (gate, opens) = AsyncStream<Void>.makeStream()
    let blocked = Task { for await _ in gate { break } }
    let authorizer = BlockedAuthorizer(isAsked: isAsked, gate: blocked)
    let authorization = Authorization(authorizer, deadline: .seconds(86_400))
    let transport = AuthorizingTransport(OfflineTransport(), authorization)
    let request = TaskRequest(url: "https://example.com/a", recordID: "1", offset: 0)
    let (firstEnds, firstEnded) = AsyncStream<TaskOutcome>.makeStream()
    let (secondEnds, secondEnded) = AsyncStream<TaskOutcome>.makeStream()
    _ = transport.start(request, sink: EndSink(ended: firstEnded))
    for await _ in asked { break }
    let second = transport.start(request, sink: EndSink(ended: secondEnded))
    transport.cancel(second)
    let end = await secondEnds.first { _ in true }
    #expect(end == .cancelled)
    #expect(await authorizer.callCount == 1)
    // The first one goes on, and then a third one.
    opens.yield()
    for await _ in firstEnds { break }
    let next = try await authorization.authorize(request, after: nil)
    #expect(next.request.url == request.url)
    #expect(await authorizer.callCount == 2)
  }
}
