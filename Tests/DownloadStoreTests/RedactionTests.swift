import DownloadStore
import Foundation
import SystemInterface
import Testing

@Suite struct RedactionTests {
  @Test(arguments: [
    // User info.
    ("https://me:pw@example.com/a", "https://•••@example.com/a"),
    ("https://h/proxy/https%3A%2F%2Fme%3Apw%40x%2Fy/a", "https://h/proxy/•••/a"),
    ("https://h/proxy/https%3A%2F%2Fme%3Apw%40x", "https://h/proxy/•••"),
    ("https://h/f?__gda__=17_9f86&sk=ab&page=2", "https://h/f?__gda__=•••&sk=•••&page=2"),
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
    // Dropbox, Google Drive, sessions, old secure links, and short names.
    ("https://h/a?rlkey=a&dl=1", "https://h/a?rlkey=•••&dl=1"),
    ("https://h/a?authkey=a&resourcekey=b", "https://h/a?authkey=•••&resourcekey=•••"),
    ("https://h/a?PHPSESSID=a&sid=b", "https://h/a?PHPSESSID=•••&sid=•••"),
    ("https://h/a?ticket=a&pass=b&pw=c", "https://h/a?ticket=•••&pass=•••&pw=•••"),
    ("https://h/a?md5=a&code=b&otp=c", "https://h/a?md5=•••&code=•••&otp=•••"),
    ("https://h/a?accessCode=a&streamKey=b", "https://h/a?accessCode=•••&streamKey=•••"),
    ("https://h/a?secure_key=a&skey=b", "https://h/a?secure_key=•••&skey=•••"),
    ("https://h/a;jsessionid=a/b;v=1?c", "https://h/a;jsessionid=•••/b;v=1?c"),
    ("https://h/a;jsessionid=a", "https://h/a;jsessionid=•••"),
    ("https://h/a.pdf;v=1;JSESSIONID=a;w=2", "https://h/a.pdf;v=1;JSESSIONID=•••;w=2"),
    // Tokens in the path: Telegram, JSON Web Tokens, GitHub, names of secrets.
    (
      "https://h/file/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/f",
      "https://h/file/bot123456:•••/f"
    ),
    (
      "https://h/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0/f",
      "https://h/•••/f"
    ),
    ("https://h/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3", "https://h/•••"),
    ("https://h/dl/token=abc/f", "https://h/dl/token=•••/f"),
    ("https://h/dl/token%3Dabc/f", "https://h/dl/•••/f"),
    ("https://h/token=abc", "https://h/token=•••"),
    ("https://h/ghp_16c7e42f292c6912e7710c838347ae178b4a", "https://h/•••"),
    ("https://h:80/s/AbCdEfGhIjKlMnOpQrStUv12/f", "https://h:80/s/•••/f"),
    ("//h/s/AbCdEfGhIjKlMnOpQrStUv12/f", "//h/s/•••/f"),
    // Names of secrets within values, also in JSON.
    ("https://h/?q=%7B%22token%22%3A%22a%22%7D&b=c", "https://h/?q=•••&b=c"),
    ("https://h/?q={\"token\" : \"a\"}", "https://h/?q=•••"),
    ("https://h/?q={token:a}", "https://h/?q=•••"),
    ("https://h/?q={\"x\":1,token:a}", "https://h/?q=•••"),
    ("https://h/?a=token=b", "https://h/?a=•••"),
    ("https://h/?q={\"x\":\"ghp_16c7e42f292c6912e7710c838347ae178b4a\"}", "https://h/?q=•••"),
    ("https://h/?token%3Da", "https://h/?•••"), ("https://h/?x=exp=1~hmac=ff", "https://h/?x=•••"),
    ("https://h/?token%253Da&b", "https://h/?•••&b"),
    // Values that look random, whatever their names.
    (
      "https://h/?x=0123456789abcdef0123456789abcdef&y=1",
      "https://h/?x=•••&y=1"
    ),
    ("https://h/?x=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c", "https://h/?x=•••"),
    ("https://h/?AbCdEfGhIjKlMnOpQrStUv12%2B%3D", "https://h/?•••"),
    // Encoded URLs in parameters.
    ("https://h/?next=http%3A%2F%2Fme%3Apw%40x%2F", "https://h/?next=•••"),
    ("https://h/?next=http%3A%2F%2Fx%2F%3Ftoken%3Dy&z=1", "https://h/?next=•••&z=1"),
    ("https://h/?next=%2Flogin%253Ftoken%253Dy", "https://h/?next=•••"),
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
    "https://h/proxy/https%3A%2F%2Fx%2Fa%40b", "https://h/a%40b",
    "https://example.com/a.zip", "https://example.com/a@b", "https://example.com/?q=a@b",
    "https://example.com/?design=1&assign=2&resign=3", "https://example.com/?author=me",
    "https://example.com/?page=2&sort=date&signed=yes", "https://example.com/a?download=true",
    "https://example.com/?monkey=1&keyboard=2&sort_key=3", "https://example.com/?Expires=5",
    "https://example.com/?", "https://example.com/?a&b&c", "https://example.com/?&&",
    "https://example.com/token/signature", "https://example.com/#top", "", "?", "#", "a?b#c?d",
    "https://example.com/?a=b;c=d;;&;", "https://example.com/a?b=1??c#d#e&f",
    "https://example.com/?country_code=de&zipCode=1&sortKey=a&hotkey=b", "https://h/a;v=1;w/b;x=y",
    "https://example.com/?commit=0123456789abcdef0123456789abcdef01234567",
    "https://example.com/?file=Ubuntu-24.04-Desktop-Amd64-Image.iso",
    "https://example.com/?next=http%3A%2F%2Fx%2F%3Fpage%3D2", "https://h/?a=%zz&b=%4",
    "https://example.com/?response-content-disposition=attachment%3B%20filename%3DUbuntu2404.iso",
    "https://token.example/secret", "//h/a@b", "https://h:8080/a:b/c=d/e",
    "https://h/0123456789abcdef0123456789abcdef01234567/a.zip",
    "https://h/year=2026/country_code=5/f",
    "https://h/Fedora-Workstation-Live-40-1-14-x86-64/a", "https://h/AbCdEfGhIjKlMnOpQrStUv12",
    "https://h/dl/Ubuntu2404DesktopAmd64Image.iso", "https://h/?q={\"size\":1,\"page\":2}",
    "https://h/?next=http%3A%2F%2Fx%2F0123456789abcdef0123456789abcdef01234567%2Fa",
    "https://h/?time=12:30&q=author:me", "https://h/token=report.pdf", "https://h/?a=token=",
  ]) func `a URL without secrets is unchanged`(url: String) {
    #expect(Redaction.url(url) == url)
  }

  @Test(arguments: [
    ("https://me:pw@h/a?token=x", "https://•••@h/a?token=•••"),
    (
      "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&dn=a&token=x",
      "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&dn=a&token=•••"
    ),
    ("user:password@host/x?token=abc", "•••@host/x?token=•••"), ("user:pw@host", "•••@host"),
    ("user:pw@10.0.0.1", "•••@10.0.0.1"), ("user:pw@9.example", "•••@9.example"),
    ("user:pw@", "•••@"), ("a:b@c:pw@host/x", "•••@host/x"), ("//me:pw@h/a", "//•••@h/a"),
    ("user:pw@host/x?next=http://me:pw@x/", "•••@host/x?next=http://•••@x/"),
    ("host/path?access_token=abc.def", "host/path?access_token=•••"),
    ("host/path#access_token=abc&b=c", "host/path#access_token=•••&b=c"),
    ("host/a;jsessionid=x/b", "host/a;jsessionid=•••/b"),
    // Parameters without a question mark.
    ("a=1&token=abc.def&b=2", "a=1&token=•••&b=2"), ("token=abc.def&b=2", "token=•••&b=2"),
    ("host/token=abc.def&b=2", "host/token=•••&b=2"), ("a&token=b.c?d=e", "a&token=•••"),
    ("models/&sig=x", "models/&sig=•••"), ("cache of http://me:pw@h/", "cache of http://•••@h/"),
  ])
  func `a name has no secrets that a URL would not have`(name: String, redacted: String) {
    #expect(Redaction.name(name) == redacted)
    #expect(Redaction.name(redacted) == redacted)
  }

  @Test(arguments: [
    "owner/model@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "ubuntu:24.04@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "md5=00", "token=a",
    "sha256-AbCdEfGhIjKlMnOpQrStUv12AbCdEfGhIjKlMnOpQr0=", "AbCdEfGhIjKlMnOpQrStUv12/f", "a:b",
    "name@1.2", "npm:chalk@5.3.0", "jsr:@std/path@1", "git@host:owner/model", "me@host", "a//b",
    "localhost:5000/model@v1", "a?b", "a&b", "what?x=1&y=2", "a;b=c", "issue#12", "@", ":@", "",
    "&", "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&dn=a&tr=udp%3A%2F%2Fh%3A80",
  ]) func `an ordinary name is unchanged`(name: String) {
    #expect(Redaction.name(name) == name)
  }

  @Test(arguments: ["<", ">", "\"", "'"])
  func `a URL with a character that ends it in a sentence shows no secret`(_ character: String) {
    for url in [
      "http://user:pass\(character)hush@h.example/a",
      "http://h.example/a?b=\(character)x&token=hush",
    ] {
      #expect(!Redaction.text(url).contains("hush"), "\(Redaction.text(url))")
    }
  }

  @Test func `redacting twice has the effect of redacting once`() {
    let once = Redaction.url("https://me:pw@h/?a=1&token=x#sig=y")
    #expect(Redaction.url(once) == once)
  }

  @Test(arguments: [
    "Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Auth-Token",
    "X-Api-Key", "Private-Token", "X-Amz-Security-Token", "X-Signature", "Session-Id", "X-JWT",
    "X-Authorization", "Authentication", "X-Access-Key", "X-Functions-Key",
    "Ocp-Apim-Subscription-Key", "Cookie2", "X-JFrog-Art-Api", "X-GitHub-OTP", "X-WSSE", "DPoP",
    "OAuth", "X-Author", "X-Design", "X-Anything",
  ]) func `a secret header field shows its name only`(name: String) {
    let field = Redaction.field(HeaderField(name: name, value: "secret"))
    #expect(field == HeaderField(name: name, value: Redaction.mark))
  }

  @Test(arguments: [
    "Accept", "User-Agent", "Referer", "ETag", "WWW-Authenticate", "Content-Type", "Range",
    "If-Range", "Sec-Fetch-Mode", "X-Requested-With",
  ]) func `a header field that identifies nobody is shown`(name: String) {
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

  /// Copying the text for each parameter took 9 seconds for 15,000 of them.
  @Test(arguments: [
    "a=b&", "a=b;", "?", "#", ";", "@", "://", "%3F", "/;a=b", "token", "a%3Db%26&", "http://a@b/ ",
    "/a=b", "a=b=", "%22a%22:", "\"", "{", "eyJ.", "/AbCdEfGhIjKlMnOpQrStUv1-", ":a",
  ])
  func `redaction takes time proportional to the length`(part: String) {
    func time(_ count: Int) -> Duration {
      let text = "https://h/?" + String(repeating: part, count: count)
      return Self.processorTime {
        _ = Redaction.url(text)
        _ = Redaction.text(text)
        _ = Redaction.argument(text)
        _ = Redaction.name("a:b@\(text)")
        _ = Redaction.url("https://h/" + String(repeating: part, count: count))
      }
    }
    _ = time(10)
    let short = (0..<3).map { _ in time(1_000) }.min() ?? .zero
    // Eight times the length. Quadratic time would be 64 times as long. The shortest of three times
    // counts, so the first one below the bound is enough.
    #expect((0..<3).contains { _ in time(8_000) < short * 24 })
    let parameters = String(repeating: part, count: 8_000)
    #expect(Redaction.url("https://h/?\(parameters)&token=x").hasSuffix("•••"))
  }

  /// The processor time of this thread, which does not depend on other tests.
  private static func processorTime(_ body: () -> Void) -> Duration {
    func now() -> Duration {
      var time = timespec()
      _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    body()
    return now() - start
  }

  @Test(arguments: [
    // URLs, and URLs that are malformed.
    ("https://h/a?token=x", "https://h/a?token=•••"), ("https://h/a@b", "https://h/a@b"),
    ("ftp://me:pw@h/", "ftp://•••@h/"), ("http://me:p/w@h/", "http://•••@h/"),
    ("http://me:p#w@h/?a", "http://•••@h/?a"), ("http://h/a Authorization: x", "http://h/a•••"),
    ("http://me:p w@h/", "http://•••"), ("http://h:80/a@b", "http://h:80/a@b"),
    ("http://[::1]/a@b", "http://[::1]/a@b"),
    // A header field, credentials, a token, in the place of a URL.
    ("Authorization: Basic abc", "Authorization:•••"), ("Bearer abc", "Bearer •••"),
    ("me:pw@host/a", "•••@host/a"), ("token=abc", "token=•••"),
    ("--password=abc", "--password=•••"),
    ("ghpAbCdEfGhIjKlMnOpQrStUv123", "•••"),
    // A URL with a misspelt scheme, or without one.
    ("https:/h/x?token=a", "https:/h/x?token=•••"), ("https:h?token=a", "https:h?token=•••"),
    ("htp:/h/x?a=b&sig=c#d", "htp:/h/x?a=b&sig=•••#d"), ("me@h/x?token=a", "•••@h/x?token=•••"),
    ("me:pw@h/x?token=a", "•••@h/x?token=•••"), ("//me:pw@h/x?token=a", "•••@h/x?token=•••"),
    ("Cookie: a=b; c=d", "Cookie:•••"), ("http://h/my file@2", "http://•••"),
    // Texts that contain no secret.
    ("example.com/a.zip", "example.com/a.zip"), ("08:00-18:00=2M", "08:00-18:00=2M"),
    ("0123456789abcdef", "0123456789abcdef"), ("my file.iso", "my file.iso"), ("", ""),
    ("sha256:0123456789abcdef0123456789abcdefx", "sha256:0123456789abcdef0123456789abcdefx"),
  ])
  func `a message repeats no secret of an argument`(text: String, shown: String) {
    #expect(Redaction.argument(text) == shown)
  }

  @Test func `a message repeats the start of a long argument only`() {
    #expect(Redaction.argument(String(repeating: "é ", count: 5_000)).utf8.count < 2_000)
  }

  @Test func `a failure keeps the start of a long message, without its secrets`() {
    let text = "Content-Encoding \(String(repeating: "é", count: 60_000))"
    let failure = DownloadFailure(.unexpectedCoding, text)
    #expect(failure.message.utf8.count < 1_100 && failure.message.hasSuffix("é…"))
    #expect(
      DownloadFailure(.unknown, failure.message) == DownloadFailure(.unknown, failure.message)
    )
    #expect(DownloadFailure(.unexpectedCoding, failure.message) == failure)
    // The cut falls into the user info.
    let url = "http://\(String(repeating: "pw", count: 5_000))@h/"
    #expect(DownloadFailure(.unknown, "from \(url)").message == "from http://•••@h/")
  }

  @Test(arguments: [
    ("http://h:1/services/T024BE7LD/B19AXYZ12/9zq1kX8vQw3LrT5mN2bC7dYp", "http://h:1/…"),
    ("https://me:pw@h/", "https://•••@h/…"), ("https://h?a=b", "https://h/…"),
    ("https://h", "https://h"), ("htp:/h/secret", "•••"),
  ])
  func `of the URL of a webhook only the scheme and the host are shown`(
    url: String,
    shown: String
  ) {
    #expect(Redaction.webhook(url) == shown)
  }

  @Test func `a failure reads as its message, without secrets that were set later`() {
    var failure = DownloadFailure(.notFound, "status 404")
    #expect("\(failure)" == "status 404")
    failure.message = "from http://user:pw@h/"
    #expect("\(failure)" == "from http://•••@h/")
    failure.message = ""
    #expect("\(failure)" == "notFound")
  }

  @Test func `failure messages stored by another program are redacted when read`() throws {
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
