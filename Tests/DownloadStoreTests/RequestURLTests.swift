import DownloadStore
import TestSupport
import Testing

@Suite struct RequestURLTests {
  private func text(_ url: String) -> String? { try? RequestURL(url).text }

  /// The examples of RFC 3986, 5.4, without those of other schemes.
  @Test(arguments: [
    ("g", "b/c/g"), ("./g", "b/c/g"), ("g/", "b/c/g/"), ("/g", "g"), ("?y", "b/c/d;p?y"),
    ("g?y", "b/c/g?y"), ("#s", "b/c/d;p?q"), ("g#s", "b/c/g"), ("g?y#s", "b/c/g?y"),
    (";x", "b/c/;x"), ("g;x", "b/c/g;x"), ("g;x?y#s", "b/c/g;x?y"), ("", "b/c/d;p?q"),
    (".", "b/c/"), ("./", "b/c/"), ("..", "b/"), ("../", "b/"), ("../g", "b/g"), ("../..", ""),
    ("../../", ""), ("../../g", "g"), ("../../../g", "g"), ("../../../../g", "g"), ("/./g", "g"),
    ("/../g", "g"), ("g.", "b/c/g."), (".g", "b/c/.g"), ("g..", "b/c/g.."), ("..g", "b/c/..g"),
    ("./../g", "b/g"), ("./g/.", "b/c/g/"), ("g/./h", "b/c/g/h"), ("g/../h", "b/c/h"),
    ("g;x=1/./y", "b/c/g;x=1/y"), ("g;x=1/../y", "b/c/y"), ("g?y/./x", "b/c/g?y/./x"),
    ("g?y/../x", "b/c/g?y/../x"), ("g#s/./x", "b/c/g"), ("g#s/../x", "b/c/g"),
    ("/a//b", "a//b"), ("/a/..//b", "/b"), ("/%2e%2e/x", "%2e%2e/x"), ("?", "b/c/d;p?"),
  ])
  func `a reference is resolved as RFC 3986 says`(_ reference: String, _ path: String) throws {
    let base = try RequestURL("http://a/b/c/d;p?q")
    #expect(try base.resolving(reference).text == "http://a/\(path)")
  }

  @Test func `a reference to another server has its own authority`() throws {
    let base = try RequestURL("http://me:pw@a/b?q")
    #expect(try base.resolving("//g").text == "http://g/")
    #expect(try base.resolving("//g?x").text == "http://g/?x")
    #expect(try base.resolving("HTTPS://G:443/x").text == "https://g/x")
    #expect(try base.resolving("/x").text == "http://me:pw@a/x")
    #expect(throws: RequestURL.Problem.otherScheme("ftp")) { try base.resolving("ftp://g/") }
    #expect(throws: RequestURL.Problem.noHost) { try base.resolving("http:g") }
    #expect(throws: RequestURL.Problem.invalidPort) { try base.resolving("//g:65536") }
  }

  @Test(arguments: [
    ("http://h", "http://h/"), ("http://h?x=1", "http://h/?x=1"), ("http://h#f", "http://h/"),
    ("http://h/?", "http://h/?"), ("HTTP://EXAMPLE.com:80/A", "http://example.com/A"),
    ("https://h:443/", "https://h/"), ("https://h:80/", "https://h:80/"),
    ("http://h:/", "http://h/"),
    ("http://h:00080/", "http://h/"), ("http://[::1]:8080/a", "http://[::1]:8080/a"),
    ("http://[FE80::A]/", "http://[fe80::a]/"), ("http://h_a.b./", "http://h_a.b./"),
    ("http://ex%61mple/", "http://example/"), ("http://a/b/../c/./d", "http://a/c/d"),
    ("http://b\u{FC}cher.example/", "http://xn--bcher-kva.example/"),
    ("http://u:p@x@h/", "http://u:p%40x@h/"), ("http://u%40:p@h/", "http://u%40:p@h/"),
    ("http://h\\@g/", "http://h%5C@g/"), ("http://h/\\..\\x", "http://h/%5C..%5Cx"),
    ("http://h/100%.pdf", "http://h/100%25.pdf"), ("http://h/%zz%2", "http://h/%25zz%252"),
    ("http://h/%C9%cc.xls", "http://h/%C9%cc.xls"),
    ("http://h/r%E9sum%E9?x", "http://h/r%E9sum%E9?x"),
    ("http://h/?sig=ab%2Bcd%3D&t=[v1]", "http://h/?sig=ab%2Bcd%3D&t=%5Bv1%5D"),
    ("http://h/\u{6587}\u{4EF6}%20name.zip", "http://h/%E6%96%87%E4%BB%B6%20name.zip"),
    ("http://h/a?b?c#d?e", "http://h/a?b?c"),
  ])
  func `a URL has the bytes that were given`(_ url: String, _ sent: String) {
    #expect(text(url) == sent)
  }

  @Test(arguments: [
    "", "h/x", "//h/x", "http:", "http:/h", "http:h", "http://", "http:///x", "http://:80/",
    "http://u@/", "http://h:x/", "http://h:65536/", "http://h:-1/", "http://h:+1/", "http://h:1:2/",
    "http://[::1", "http://[]/", "http://[1]/", "http://[::1]a/", "http://[g::]/",
    "http://[127.0.0.1:80]/", "http://[::1%25lo]/",
    "http://[1:2:3:4:5:6:7:8:9]/", "http://[::1\0]/", "http://::1/",
    "http://a b/", "http://a%20b/", "http://a%00b/", "http://a%2Fb/", "http://a%", "http://a<b/",
    "ftp://h/", "1http://h/", "http//h/", "http://\u{FFFD}/",
  ])
  func `any other text is not a URL`(_ url: String) {
    #expect(text(url) == nil)
  }

  @Test func `exactly the bytes that a component must not contain are escaped`() throws {
    let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
    let path = unreserved.union("!$&'()*+,;=:@/".utf8)
    for value in 1...0x17F as ClosedRange<UInt32> {
      let scalar = try #require(Unicode.Scalar(value))
      func expected(_ allowed: Set<UInt8>) -> String {
        String(scalar).utf8.reduce(into: "") { text, byte in
          let hex = String(byte, radix: 16, uppercase: true)
          text +=
            allowed.contains(byte)
            ? String(Unicode.Scalar(byte)) : "%" + (hex.utf8.count == 1 ? "0" : "") + hex
        }
      }
      // Between escapes that encode it, and ones that are not UTF-8.
      for (before, after) in [("x", "y"), ("%25", "%20"), ("%C9", "%ff"), ("%", "z")] {
        let (start, end) = before == "%" ? ("%25", after) : (before, after)
        guard before != "%" || !"0123456789abcdefABCDEF".unicodeScalars.contains(scalar) else {
          continue
        }
        if scalar != "#" {
          let url = try RequestURL("http://h/?\(before)\(scalar)\(after)")
          #expect(url.query == start + expected(path.union("?".utf8)) + end)
        }
        if scalar != "#", scalar != "?" {
          let url = try RequestURL("http://h/\(before)\(scalar)\(after)")
          #expect(url.path == "/" + start + expected(path) + end)
        }
      }
    }
  }

  @Test func `the form that is sent is its own form`() throws {
    var random = SplitMix64(seed: 30)
    let alphabet = Array("ab/..%%2fC9?#[]|^\"\\@: \u{E9}\u{1F600}&=".unicodeScalars)
    var count = 0
    for _ in 0..<20_000 {
      var url = "http://"
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        url.unicodeScalars.append(alphabet.randomElement(using: &random) ?? "a")
      }
      guard let parsed = try? RequestURL(url) else { continue }
      count += 1
      #expect(try RequestURL(parsed.text) == parsed, "\(url)")
      #expect(try parsed.resolving(parsed.text) == parsed, "\(url)")
      #expect(try parsed.resolving(parsed.target.hasPrefix("//") ? "" : parsed.target) == parsed)
      #expect(parsed.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(url)")
      #expect(parsed.path.hasPrefix("/"))
    }
    #expect(count > 2_000)
  }
}
