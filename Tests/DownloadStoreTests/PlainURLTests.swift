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

  @Test(arguments: [
    ("http://a", "http://a:80"), ("https://a.b-c/", "https://a.b-c:443"),
    ("http://a?q", "http://a:80"),
    ("http://a#f", "http://a:80"), ("https://a:8443/%\u{e9}|", "https://a:8443"),
    ("http://a:80/", "http://a:80"), ("http://a:0/", "http://a:0"),
    ("http://a:65535?", "http://a:65535"),
  ]) func `the origin of a URL with a usual host needs no parser`(url: String, origin: String) {
    #expect(PlainURL.origin(of: url) == (origin.hasSuffix(":0") ? nil : origin))
    #expect(RecordIdentity.origin(of: url) == origin)
    #expect((try? RequestURL(url))?.origin == origin)
  }

  @Test func `the fast path of origins gives the origin of the parser, or none`() {
    var random = SplitMix64(seed: 12)
    let alphabet = Array("abzA09-._:::/?#@% \u{e9}[]\u{0}s".unicodeScalars)
    var plainCount = 0
    for _ in 0..<20_000 {
      var url = ["http://", "https://", "http:/", "httpss://"].randomElement(using: &random) ?? ""
      for _ in 0..<Int.random(in: 0...10, using: &random) {
        url.unicodeScalars.append(alphabet.randomElement(using: &random) ?? "a")
      }
      if Bool.random(using: &random) { url += ":\(Int.random(in: 0...70_000, using: &random))/" }
      guard let origin = PlainURL.origin(of: url) else { continue }
      plainCount += 1
      #expect((try? RequestURL(url))?.origin == origin, "\(url)")
    }
    #expect(plainCount > 1_000)
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
