import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

@Suite struct RedirectCookiesTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  private func field(
    _ setCookies: [String],
    from source: String = "https://a.example.com/dir/login",
    to target: String = "https://a.example.com/dir/file",
    given: String? = nil
  ) throws -> String? {
    var cookies = RedirectCookies()
    cookies.store(setCookies, from: try RequestURL(source), now: now)
    return cookies.field(for: try RequestURL(target), given: given)
  }

  @Test(arguments: [
    (["a=b"], "a=b"), (["a=b; HttpOnly; SameSite=Lax"], "a=b"),
    (["a=b, c=d"], "a=b, c=d"), (["a=x,b=y; Path=/"], "a=x,b=y"),
    (["a=b", "c=d"], "a=b; c=d"), (["a=\"x y\""], "a=\"x y\""), (["a="], "a="),
    (["a=b=c"], "a=b=c"),
    (["a=1", "a=2"], "a=2"), (["a=1; Path=/", "a=2; Path=/dir"], "a=2; a=1"),
    (["a=b; Expires=Fri, 31 Dec 2027 23:59:59 GMT"], "a=b"),
    (["a=b; Max-Age=60"], "a=b"), (["a=1", "a=; Max-Age=0"], nil),
    (["a=1", "a=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], nil), (["a=b; Secure"], "a=b"),
    (["a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "a=b"),
    (["novalue"], nil), (["=x"], nil), ([""], nil), (["a=\u{7}"], nil),
    (["a=" + String(repeating: "x", count: 5_000)], nil),
  ])
  func `a cookie is sent back to its host`(_ setCookies: [String], _ sent: String?) throws {
    #expect(try field(setCookies) == sent)
  }

  @Test(arguments: [
    ("a=b", ["a=b"]), ("a=b, c=d", ["a=b", " c=d"]), ("a=1,2; Path=/", ["a=1,2; Path=/"]),
    (
      "a=b; Expires=Fri, 31 Dec 2027 23:59:59 GMT, c=d",
      ["a=b; Expires=Fri, 31 Dec 2027 23:59:59 GMT", " c=d"]
    ),
  ])
  func `cookies that a client has joined are separated`(
    _ joined: String,
    _ setCookies: [String]
  ) throws {
    #expect(RedirectCookies.separated(joined) == setCookies)
    #expect(try field(setCookies)?.contains("c=d") == (setCookies.count > 1))
  }

  @Test(arguments: [
    ("a=b", "https://b.example.com/dir/", false), ("a=b", "https://a.example.com/", false),
    ("a=b", "http://a.example.com:8080/dir/x", true),
    ("a=b; Path=/", "https://a.example.com/", true),
    ("a=b; Path=/di", "https://a.example.com/dir/", false),
    ("a=b; Secure", "http://a.example.com/dir/", false),
    ("a=b; Path=/; Domain=example.com", "https://b.example.com/", true),
    ("a=b; Path=/; Domain=.Example.COM", "https://b.example.com/", true),
    ("a=b; Path=/; Domain=a.example.com", "https://x.a.example.com/", true),
    ("a=b; Path=/; Domain=example.com", "https://badexample.com/", false),
    ("a=b; Path=/; Domain=b.example.com", "https://b.example.com/", false),
    ("a=b; Path=/; Domain=com", "https://a.example.com/", false),
    ("a=b; Path=/; Domain=other.org", "https://other.org/", false),
  ])
  func `a cookie is sent only where it belongs`(
    _ setCookie: String,
    _ target: String,
    _ isSent: Bool
  ) throws {
    #expect(try field([setCookie], to: target) == (isSent ? "a=b" : nil))
  }

  @Test func `a cookie of a public suffix is not stored`() throws {
    for (host, domain) in [("a.co.uk", "co.uk"), ("me.github.io", "github.io"), ("[::1]", "1]")] {
      let cookie = "a=b; Path=/; Domain=\(domain)"
      #expect(try field([cookie], from: "https://\(host)/", to: "https://\(host)/") == nil)
    }
  }

  @Test func `a server without encryption sets no secure cookie`() throws {
    #expect(try field(["a=b; Secure; Path=/"], from: "http://a.example.com/") == nil)
  }

  @Test func `cookies of the user are kept, and replaced by name`() throws {
    #expect(try field(["a=2"], given: "a=1; b=3;c=4") == "b=3; c=4; a=2")
    #expect(try field([], given: "a=1") == "a=1")
  }

  @Test func `the number of cookies is limited`() throws {
    let cookies = (0..<100).map { "c\($0)=x" }
    #expect(try field(cookies)?.split(separator: ";").count == 50)
  }

  @Test
  func `a chain of redirects carries its cookies, and those of the user stay with their origin`()
    throws
  {
    let headers = [HeaderField(name: "Cookie", value: "user=1")]
    var hop = try PreparedRequest(
      TaskRequest(url: "https://example.com/file", recordID: "r", headers: headers)
    )
    func cookie() -> String? { hop.fields.first { $0.name == "Cookie" }?.value }
    func follow(_ location: String, _ setCookies: String...) {
      guard case .follow(let next) = RedirectDecision(hop, to: location, setCookies: setCookies)
      else { return }
      hop = next
    }
    #expect(cookie() == "user=1")
    follow("/login", "s=1; Path=/; Domain=example.com")
    #expect(cookie() == "user=1; s=1")
    follow("https://other.org/", "t=2; Path=/")
    #expect(cookie() == nil)
    follow("https://dl.example.com/file", "o=3; Path=/")
    #expect(cookie() == "s=1")
    follow("https://example.com/file")
    #expect(cookie() == "s=1; t=2")
  }
}
