import DownloadStore
import Testing

@Suite struct CookieDomainTests {
  @Test(arguments: [
    ("example.com", "www.example.com"), ("example.com", "a.b.example.com"),
    ("example.co.uk", "www.example.co.uk"), ("gmx.de", "dl.gmx.de"),
    ("files.github.io", "a.files.github.io"), ("example.com", "www.example.com."),
    ("example.com.", "www.example.com"),
  ])
  func `a domain covers the hosts below it`(_ domain: String, _ host: String) {
    #expect(CookieDomain.covers(domain, host))
  }

  @Test(arguments: [
    ("com", "example.com"), ("co.uk", "example.co.uk"), ("com.au", "example.com.au"),
    ("github.io", "someone.github.io"), ("s3.amazonaws.com", "bucket.s3.amazonaws.com"),
    ("example.com", "badexample.com"), ("example.com", "example.org"),
    ("example.com", "example.com"), ("com.", "example.com."), ("co.uk.", "example.co.uk."),
    ("com", "example.com."), ("0.1.", "127.0.0.1."),
    ("0.1", "127.0.0.1"), ("0.0.1", "127.0.0.1"), ("", "example.com"), ("1]", "[::1]"),
  ])
  func `a domain covers no other host`(_ domain: String, _ host: String) {
    #expect(!CookieDomain.covers(domain, host))
  }
}
