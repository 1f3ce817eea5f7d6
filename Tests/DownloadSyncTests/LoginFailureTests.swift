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

  @Test(
    arguments: [
      (["Basic realm=\"x\""], ["Basic"]), (["NTLM", "Negotiate"], ["NTLM", "Negotiate"]),
      (
        ["Digest realm=\"a, Basic b\", nonce = \"c\\\", Bearer\", qop=auth, Basic"],
        ["Digest", "Basic"]
      ),
      (["Negotiate YII==, digest qop=auth", "Digest x=y"], ["Negotiate", "digest"]), ([""], []),
    ] as [([String], [String])]
  )
  func `the schemes of the challenges are read`(_ values: [String], _ schemes: [String]) {
    let fields = values.map { HeaderField(name: "WWW-Authenticate", value: $0) }
    #expect(ResponseHead(status: 401, fields: fields).challenges == schemes)
  }

  @Test(
    arguments: [
      (["Digest realm=x"], .loginKind), (["NTLM", "Negotiate"], .loginKind),
      (["Digest realm=x", "Basic realm=x"], .loginRefused), (["Bearer"], .loginRefused),
      ([], .loginRefused),
    ] as [([String], DownloadFailure.Detail)]
  )
  func `a login of an unsupported kind is named before one that was refused`(
    _ values: [String],
    _ detail: DownloadFailure.Detail
  ) {
    let head = ResponseHead(
      status: 401,
      fields: values.map { HeaderField(name: "WWW-Authenticate", value: $0) },
      url: Self.source
    )
    let headers = RequestHeaders(
      recordID: "0",
      fields: [HeaderField(name: "Authorization", value: "Basic x")],
      givenFor: Self.source
    )
    let failure = DownloadFailure(.refused, "", detail: .login)
    #expect(failure.explainingLogin(head, source: Self.source, headers: headers).detail == detail)
  }

  @Test(
    arguments: [
      (400, "http://h:8443/x", true), (400, "http://h/x", false), (400, "https://h:8443/x", false),
      (404, "http://h:8443/x", false),
    ]
  )
  func `a port that rejects a plain request may expect TLS`(
    _ status: Int,
    _ url: String,
    _ mayExpectTLS: Bool
  ) {
    let head = ResponseHead(status: status, fields: [], url: url)
    let verdict = ResponseVerdict(head, offset: 0, expected: nil, validator: nil, now: Date())
    guard case .fail(let failure, _) = verdict else {
      Issue.record("no failure")
      return
    }
    let explained = failure.explainingTLS(head, source: url)
    #expect(explained.message.hasSuffix("; the port may expect https") == mayExpectTLS)
  }

  @Test func `other failures stay as they are`() {
    #expect(failure(status: 403, sent: ("Authorization", "x")).detail == nil)
    #expect(failure(status: 407, sent: ("Authorization", "x")).detail == .proxyLogin)
    let other = DownloadFailure(.timedOut, "late")
    #expect(other.explainingLogin(nil, source: Self.source, headers: nil) == other)
  }
}
