import DownloadStore
import Foundation
import Testing

@Suite struct RedactionTests {
  @Test(arguments: [
    // User info.
    ("https://me:pw@example.com/a", "https://•••@example.com/a"),
    ("https://token@example.com/a?b=c", "https://•••@example.com/a?b=c"),
    ("https://a@b:p@example.com/", "https://•••@example.com/"),
    ("ftp://me:pw@example.com", "ftp://•••@example.com"),
    // Amazon, both signature versions.
    (
      "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F2026"
        + "&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host"
        + "&X-Amz-Security-Token=FwoG&X-Amz-Signature=abc123",
      "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=•••"
        + "&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host"
        + "&X-Amz-Security-Token=•••&X-Amz-Signature=•••"
    ),
    (
      "https://b.s3.amazonaws.com/k?AWSAccessKeyId=AKIA&Expires=1&Signature=x%3D",
      "https://b.s3.amazonaws.com/k?AWSAccessKeyId=•••&Expires=1&Signature=•••"
    ),
    // CloudFront, Google, Azure, Akamai.
    (
      "https://d.cloudfront.net/a?Expires=1&Policy=eyJ&Signature=z&Key-Pair-Id=K1",
      "https://d.cloudfront.net/a?Expires=1&Policy=•••&Signature=•••&Key-Pair-Id=K1"
    ),
    (
      "https://storage.googleapis.com/b/o?X-Goog-Credential=a%40b&X-Goog-Signature=00",
      "https://storage.googleapis.com/b/o?X-Goog-Credential=•••&X-Goog-Signature=•••"
    ),
    (
      "https://x.blob.core.windows.net/c/b?sv=2024-01-01&se=2026&sr=b&sp=r&sig=a%2Bb%3D",
      "https://x.blob.core.windows.net/c/b?sv=2024-01-01&se=2026&sr=b&sp=r&sig=•••"
    ),
    ("https://h/a?hdnea=exp=1~hmac=ff", "https://h/a?hdnea=•••"),
    // Tokens in several parameters.
    ("https://h/?access_token=a&b=c", "https://h/?access_token=•••&b=c"),
    ("https://h/?b=c&TOKEN=a", "https://h/?b=c&TOKEN=•••"),
    (
      "https://h/?api_key=a&apikey=b&api-key=c&key=d",
      "https://h/?api_key=•••&apikey=•••&api-key=•••&key=•••"
    ),
    ("https://h/?x=1&auth=a&oauth_token=b", "https://h/?x=1&auth=•••&oauth_token=•••"),
    ("https://h/?password=a&client_secret=b", "https://h/?password=•••&client_secret=•••"),
    ("https://h/?jwt=a.b.c&PHPSESSIONID=d", "https://h/?jwt=•••&PHPSESSIONID=•••"),
    // A value ends at the next parameter only.
    ("https://h/?token=a=b&c=d", "https://h/?token=•••&c=d"),
    ("https://h/?token=a;b?c", "https://h/?token=•••"),
    ("https://h/?a=1;token=x", "https://h/?a=1;token=•••"),
    ("https://h/a?b=1?token=x", "https://h/a?b=1?token=•••"),
    ("https://h/?token=", "https://h/?token=•••"),
    ("https://h/?%73ig=x", "https://h/?%73ig=•••"),
    // Fragments.
    ("https://h/a?token=x#part", "https://h/a?token=•••#part"),
    ("https://h/a#access_token=x&b=c", "https://h/a#access_token=•••&b=c"),
    // A URL without a scheme, and URLs in URLs.
    ("//me:pw@h/a?sig=x", "//•••@h/a?sig=•••"),
    ("https://h/?next=http://me:pw@x/?token=y", "https://h/?next=http://•••@x/?token=•••"),
    ("http://\u{301}me:pw@h/", "http://•••@h/"),
    // A combining mark hides a question mark from code that compares characters.
    ("https://h/?\u{301}token=x", "https://h/?\u{301}token=•••"),
  ]) func `secrets of a URL are redacted`(url: String, redacted: String) {
    #expect(Redaction.url(url) == redacted)
  }

  @Test(arguments: [
    "https://example.com/a.zip", "https://example.com/a@b", "https://example.com/?q=a@b",
    "https://example.com/?design=1&assign=2&resign=3", "https://example.com/?author=me",
    "https://example.com/?page=2&sort=date&signed=yes", "https://example.com/a?download=true",
    "https://example.com/?monkey=1&keyboard=2&sort_key=3", "https://example.com/?Expires=5",
    "https://example.com/?", "https://example.com/?a&b&c", "https://example.com/?&&",
    "https://example.com/token/signature", "https://example.com/#top", "", "?", "#", "a?b#c?d",
    "https://example.com/?a=b;c=d;;&;", "https://example.com/a?b=1??c#d#e&f",
    "https://token.example/secret", "//h/a@b",
  ]) func `a URL without secrets is unchanged`(url: String) {
    #expect(Redaction.url(url) == url)
  }

  @Test func `redacting twice has the effect of redacting once`() {
    let once = Redaction.url("https://me:pw@h/?a=1&token=x#sig=y")
    #expect(Redaction.url(once) == once)
  }

  @Test(arguments: [
    "Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Auth-Token",
    "X-Api-Key", "Private-Token", "X-Amz-Security-Token", "X-Signature", "Session-Id", "X-JWT",
    "X-Authorization", "Authentication", "X-Access-Key", "X-Functions-Key",
    "Ocp-Apim-Subscription-Key", "Cookie2",
  ]) func `a secret header field shows its name only`(name: String) {
    let field = Redaction.field(HeaderField(name: name, value: "secret"))
    #expect(field == HeaderField(name: name, value: Redaction.mark))
  }

  @Test(arguments: [
    "Accept", "User-Agent", "Referer", "ETag", "WWW-Authenticate", "Content-Type", "Range",
    "If-Range", "X-Author", "X-Design",
  ]) func `any other header field is shown`(name: String) {
    let field = HeaderField(name: name, value: "plain")
    #expect(Redaction.field(field) == field)
  }

  @Test func `secrets of a URL in a header field are redacted`() {
    let field = HeaderField(name: "Referer", value: "https://me:pw@h/?token=x&a=b")
    #expect(Redaction.field(field).value == "https://•••@h/?token=•••&a=b")
  }

  @Test(arguments: [
    ("", ""), ("no URL, but a://", "no URL, but a://"), ("://", "://"),
    ("see https://h/?token=x.", "see https://h/?token=•••."),
    (
      "'https://me:pw@h/' (http://h/?sig=a), https://h/?a=b&key=c: done",
      "'https://•••@h/' (http://h/?sig=•••), https://h/?a=b&key=•••: done"
    ),
    (
      "UserInfo={NSErrorFailingURLStringKey=http://h/?token=x, Key=\"http://h/?token=y\"}",
      "UserInfo={NSErrorFailingURLStringKey=http://h/?token=•••, Key=\"http://h/?token=•••\"}"
    ),
    ("<a href=ftp://u:p@h>b@c</a>", "<a href=ftp://•••@h>b@c</a>"),
    ("from http://h/?sig=a'b\nto http://h/", "from http://h/?sig=•••\nto http://h/"),
  ])
  func `secrets of URLs in a text are redacted, and the rest is unchanged`(
    text: String,
    redacted: String
  ) {
    #expect(Redaction.text(text) == redacted)
    #expect(Redaction.text(redacted) == redacted)
    #expect(DownloadFailure(.unknown, text).message == redacted)
  }

  @Test func `failure messages stored by an earlier build are redacted when read`() throws {
    let failure = "a redirect from http://h/?token=abc"
    var stored = Attempt(
      at: Date(timeIntervalSince1970: 0),
      url: "http://a",
      failure: DownloadFailure(.badRedirect, ""),
      received: 0
    )
    stored.failure.message = failure
    let fixture = try StoreFixture()
    let url = try fixture.add("http://a").record.url
    let record = try fixture.change(url) { $0.attempts = [stored] }
    #expect(record.attempts.map(\.failure.message) == ["a redirect from http://h/?token=•••"])
  }
}
