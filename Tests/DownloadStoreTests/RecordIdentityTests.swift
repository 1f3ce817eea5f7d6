import DownloadStore
import TestTraits
import Testing

@Suite struct RecordIdentityTests {
  @Test(
    .requirements("FK8"),
    arguments: [
      ("https://example.com/a.zip", "1d9defa430c34a6c"),
      ("https://example.com/A.zip", "f5633040043c8865"),
      ("http://example.com/a.zip?x=1&y=2#f", "d9d3f667ec8826a2"),
      ("https://bücher.example/ä", "1599dda1d760984f"),
    ]
  ) func `the id of a URL never changes`(url: String, id: String) {
    #expect(RecordIdentity.id(forURL: url) == id)
  }

  @Test(arguments: [
    "http://example.com", "https://example.com/", "HTTPS://EXAMPLE.COM/A", "http://h:8080/a?b#c",
    "http://127.0.0.1/", "http://[::1]:8080/a", "https://me:pw@example.com/a", "http://h:65535/",
    "https://example.com/%2F?a=%00", "https://xn--bcher-kva.example/",
    "https://example.com/" + String(repeating: "a", count: 60_000),
  ]) func `an absolute http or https URL is accepted unchanged`(url: String) throws {
    try RecordIdentity.validate(url)
  }

  @Test(
    .requirements("ZY2", "FK7"),
    arguments: [
      "", "a", "/a", "example.com/a", "//example.com/a", "https:", "https:/a", "https://",
      "https:///a",
      "http://:80/", "https://me@/a", "file:///etc/passwd", "ftp://example.com/a", "data:,a",
      "javascript:alert(1)", "mailto:a@b", "unix:///socket", "https+x://example.com/",
      "https://example.com/a b", " https://example.com/", "https://example.com/ ",
      "https://example.com/a\n", "https://example.com/\ta", "https://example.com/\u{0}",
      "https://exa\rmple.com/", "https://example.com/\u{7F}", "https://example.com/\u{85}",
      "https://example.com:65536/", "https://example.com:99999999999999999999/",
      "https://example.com/" + String(repeating: "a", count: 65_536),
    ]
  ) func `a string that is not an http or https URL is rejected`(url: String) {
    let error = #expect(throws: RecordStoreError.self) { try RecordIdentity.validate(url) }
    #expect(error?.code == .invalidURL)
  }

  @Test func `the error hides the secrets of the URL`() {
    let error = #expect(throws: RecordStoreError.self) {
      try RecordIdentity.validate("ftp://me:pw@example.com/?token=abc")
    }
    #expect(error?.message.contains("pw@") == false)
    #expect(error?.message.contains("abc") == false)
  }

  @Test(arguments: [
    ("https://example.com/a", "https://example.com:443"),
    ("https://EXAMPLE.com:443/b?c", "https://example.com:443"),
    ("HTTP://example.com", "http://example.com:80"),
    ("http://example.com:8080/", "http://example.com:8080"),
    ("https://me:pw@example.com/", "https://example.com:443"),
  ]) func `requests to the same server have the same origin`(url: String, origin: String) {
    #expect(RecordIdentity.origin(of: url) == origin)
  }
}
