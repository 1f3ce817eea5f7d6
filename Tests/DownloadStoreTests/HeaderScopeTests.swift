import DownloadStore
import Testing

@Suite struct HeaderScopeTests {
  private let given = "https://example.com/a"

  @Test(arguments: [
    "https://example.com/b", "HTTPS://EXAMPLE.com:443/b?c", "https://me:pw@example.com/a",
    "https://example.com:443",
  ])
  func `all header fields are sent to the origin that they were given for`(target: String) {
    let fields = [
      HeaderField(name: "Authorization", value: "x"), HeaderField(name: "Host", value: "y"),
    ]
    #expect(HeaderScope.fields(fields, givenFor: given, sentTo: target) == fields)
  }

  @Test(arguments: [
    "http://example.com/a", "http://example.com:443/a", "https://example.com:8443/a",
    "https://a.example.com/a", "https://example.com./a", "https://example.org/a",
    "https://example.com@example.org/a", "https://example.org/https://example.com/a",
  ])
  func `header fields that identify the user are not sent to another scheme, host or port`(
    target: String
  ) {
    let names = [
      "Authorization", "Proxy-Authorization", "X-Authorization", "Cookie", "Cookie2",
      "Private-Token", "JOB-TOKEN", "X-Api-Key", "X-Access-Key", "X-Functions-Key",
      "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token", "X-Auth", "X-Session-Id",
      "Authentication", "Host", "hOST", "X-JFrog-Art-Api", "X-GitHub-OTP", "X-WSSE", "DPoP",
      "OAuth", "From", "X-Trace", "X-Anything", "If-Match", "",
    ]
    let fields = names.map { HeaderField(name: $0, value: "x") }
    let plain = [
      "User-Agent", "ACCEPT", "Accept-Language", "Range", "If-Range", "Referer",
      "X-Requested-With", "Sec-Fetch-Mode", "Sec-CH-UA",
    ].map {
      HeaderField(name: $0, value: "y")
    }
    #expect(HeaderScope.fields(fields + plain, givenFor: given, sentTo: target) == plain)
  }

  @Test func `a header field whose value is a URL with a secret stays within its origin`() {
    let fields = [
      HeaderField(name: "Referer", value: "https://example.com/?token=abc"),
      HeaderField(name: "Accept", value: "see https://me:pw@example.com/"),
      HeaderField(name: "Referer", value: "https://example.com/?page=2"),
    ]
    #expect(HeaderScope.fields(fields, givenFor: given, sentTo: "https://b/") == [fields[2]])
  }

  @Test func `every header field that is redacted stays within its origin`() {
    for name in ["Authorization", "X-Api-Key", "Accept", "Private-Token", "ETag", "X-Unknown"] {
      let field = HeaderField(name: name, value: "x")
      let isSent = !HeaderScope.fields([field], givenFor: given, sentTo: "http://b/").isEmpty
      #expect(isSent == (Redaction.field(field) == field))
    }
  }
}
