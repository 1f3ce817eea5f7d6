import Foundation
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// What a response says that requires a login.
@Suite struct LoginFailureTests {
  private static let source = "https://h.example/x?token=secret"

  /// The failure of a response to a request with header fields.
  private func failure(
    status: Int = 401,
    from url: String? = source,
    source: String = source,
    sent fields: (String, String)...
  ) -> DownloadFailure {
    let head = ResponseHead(status: status, fields: [], url: url)
    let verdict = ResponseVerdict(head, offset: 0, expected: nil, validator: nil, now: Date())
    guard case .fail(let failure, _) = verdict else { return DownloadFailure(.unknown, "") }
    let headers = RequestHeaders(
      recordID: "0",
      fields: fields.map { HeaderField(name: $0.0, value: $0.1) },
      givenFor: Self.source
    )
    return failure.explainingLogin(head, source: source, headers: fields.isEmpty ? nil : headers)
  }

  @Test func `without a login one is required`() {
    #expect(failure().detail == .login)
    #expect(failure(sent: ("Accept", "x")).detail == .login)
    #expect(failure().message == "the server requires a valid login (401 Unauthorized)")
  }

  @Test func `a login that was sent is refused`() {
    let text = "the server refuses the login that was sent (401 Unauthorized)"
    let given = failure(sent: ("authorization", "Basic x"))
    #expect(given.detail == .loginRefused && given.message == text)
    let url = "https://me:hush@h.example/x"
    #expect(failure(from: url, source: url).message == text)
    let other = failure(sent: ("X-Token", "y"))
    #expect(other.detail == .loginRefused && other.message.contains("the header fields that were"))
  }

  @Test func `a redirect to another origin is named, without secrets`() {
    let found = failure(from: "https://o.example/y?token=secret", sent: ("Authorization", "x"))
    #expect(found.detail == .redirectedLogin && found.code == .refused)
    #expect(found.message.contains("redirects to https://o.example/y?"))
    #expect(!found.message.contains("secret"))
    // Within the origin it is the same server.
    let same = failure(from: "https://h.example/login", sent: ("Authorization", "x"))
    #expect(same.detail == .loginRefused)
  }

  @Test func `other failures stay as they are`() {
    #expect(failure(status: 403, sent: ("Authorization", "x")).detail == nil)
    #expect(failure(status: 407, sent: ("Authorization", "x")).detail == .proxyLogin)
    let other = DownloadFailure(.timedOut, "late")
    #expect(other.explainingLogin(nil, source: Self.source, headers: nil) == other)
  }
}
