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
}
