import Foundation
import TestSupport
import Testing

@testable import DownloadStore

/// The fast path of URLs agrees with the URL parser.
struct PlainURLTests {
  @Test(arguments: [
    ("http://a", ""), ("https://a.example:8080", ""), ("http://a/", ""), ("http://a/b", "b"),
    ("http://a/b/c.tar.gz?x=1&y=/z?", "c.tar.gz"), ("http://a/b//", "b"), ("http://a?q", ""),
    ("http://a:65535/x", "x"), ("http://127.0.0.1:9/f0000000.bin", "f0000000.bin"),
  ]) func `a URL of the usual form needs no parser`(url: String, component: String) throws {
    let plain = try #require(PlainURL(url))
    #expect(String(decoding: plain.lastPathComponent, as: UTF8.self) == component)
  }

  @Test(arguments: [
    "", "http", "http:/a", "http://", "http:///a", "HTTP://a", "ftp://a", "http://a b",
    "http://a/%", "http://a/b%20c", "http://u@a/", "http://[::1]/", "http://a:/", "http://a:65536/",
    "http://a:123456/", "http://a:x/", "http://a/#f", "http://a/\u{e9}", "http://a/\u{0}",
    "http://a/b\n", "http://a_b/", "http://a/<b>", "http://a/b\\c", "httpss://a",
  ]) func `any other URL is left to the parser`(url: String) {
    #expect(PlainURL(url) == nil)
  }

  @Test func `the fast path accepts only URLs that the parser accepts, with the same name`() throws
  {
    var random = SplitMix64(seed: 11)
    let alphabet = Array("abZ09-._~!$&'()*+,;=:@/?/..".unicodeScalars)
    var plainCount = 0
    for _ in 0..<20_000 {
      var url = ["http://", "https://"].randomElement(using: &random) ?? ""
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        url.unicodeScalars.append(alphabet.randomElement(using: &random) ?? "a")
      }
      guard PlainURL(url) != nil else { continue }
      plainCount += 1
      let parsed = try #require(URL(string: url), "\(url)")
      #expect(parsed.host()?.isEmpty == false, "\(url)")
      let last = parsed.path(percentEncoded: true).split(separator: "/").last.map(String.init)
      #expect(SafeFilename.suggested(byURL: url) == SafeFilename.sanitized(last ?? ""), "\(url)")
    }
    #expect(plainCount > 1_000)
  }
}
