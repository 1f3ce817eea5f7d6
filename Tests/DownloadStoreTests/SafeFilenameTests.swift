import DownloadStore
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite struct SafeFilenameTests {
  @Test(arguments: [
    // Both separators, also with combining marks.
    ("a.zip", "a.zip"),
    ("/etc/passwd", "passwd"),
    ("../../etc/passwd", "passwd"),
    ("..\\..\\windows\\win.ini", "win.ini"),
    ("a/b\\c", "c"),
    ("a/", "a"),
    ("..", "download"),
    ("../..", "download"),
    (".", "download"),
    ("...", "download"),
    ("", "download"),
    ("///", "download"),
    ("a/\u{301}../b", "b"),
    ("a/\u{200D}../\u{200D}../\u{200D}etc", "etc"),
    ("/\u{301}b", "\u{301}b"),
    // Invisible characters.
    ("a\u{0}b", "ab"),
    ("a\r\nb\t\u{1B}[31m", "ab[31m"),
    ("a\u{85}\u{7F}b", "ab"),
    ("evil\u{202E}gpj.exe", "evilgpj.exe"),
    ("a\u{2028}b\u{2029}c", "abc"),
    ("\u{0}", "download"),
    // Leading and trailing dots and blanks.
    (".bashrc", "bashrc"),
    ("..a", "a"),
    (". a", "a"),
    (" a.zip ", "a.zip"),
    ("a.", "a"),
    ("a. . ", "a"),
    // Names that the store uses.
    ("a.dlstore-part", "a"),
    ("a.dlstore-part.dlstore-part", "a"),
    ("a. .dlstore-part", "a"),
    (".dlstore-part", "dlstore-part"),
    ("0123456789abcdef.dlstore-part", "0123456789abcdef"),
    // Allowed: natural names, and names that only Windows reserves.
    ("CON", "CON"),
    ("nul.txt", "nul.txt"),
    ("a:b*c?.txt", "a:b*c?.txt"),
    ("-rf", "-rf"),
    ("~", "~"),
    ("日本語.txt", "日本語.txt"),
    ("e\u{301}.txt", "e\u{301}.txt"),
  ]) func `a name becomes one safe path component`(name: String, safe: String) {
    #expect(SafeFilename.sanitized(name) == safe)
  }

  @Test(arguments: [
    ("https://example.com/a.zip", "a.zip"),
    ("https://example.com/a.zip?b=c/d.zip#e/f", "a.zip"),
    ("https://example.com/a%20b.zip", "a b.zip"),
    ("https://example.com/a/b/", "b"),
    ("https://example.com", "download"),
    ("https://example.com/", "download"),
    ("https://example.com/..%2F..%2Fetc%2Fpasswd", "passwd"),
    ("https://example.com/..%5C..%5Cpasswd", "passwd"),
    ("https://example.com/%2e%2e", "download"),
    ("https://example.com/a%00b", "ab"),
    ("https://example.com/%FF.zip", "%FF.zip"),
    // Not the secrets of the path.
    ("https://example.com/a.pdf;jsessionid=1A53", "a.pdf"),
    ("https://example.com/a.pdf;v=1;jsessionid=1A53", "a.pdf;v=1"),
    ("https://example.com/a%20b.pdf%3Bjsessionid=1A53", "a b.pdf"),
    ("https://example.com/;jsessionid=1A53;v=1", "download"),
    ("https://example.com/token=abc", "download"), ("https://example.com/key=5.csv", "key=5.csv"),
    ("https://example.com/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3", "download"),
    ("https://example.com/AbCdEfGhIjKlMnOpQrStUv12", "AbCdEfGhIjKlMnOpQrStUv12"),
    ("https://example.com/a;v=1", "a;v=1"),
    ("https://example.com/%E2%80%8D/x%2F%E2%80%8D..%2F%E2%80%8Dy", "y"),
  ]) func `a URL suggests the last component of its path`(url: String, name: String) {
    #expect(SafeFilename.suggested(byURL: url) == name)
  }

  @Test(arguments: [
    (String(repeating: "a", count: 300), 255, String(repeating: "a", count: 255)),
    (String(repeating: "a", count: 300) + ".zip", 255, String(repeating: "a", count: 251) + ".zip"),
    (
      String(repeating: "a", count: 300) + ".tar.gz", 255,
      String(repeating: "a", count: 248) + ".tar.gz"
    ),
    // Three bytes each: 83 whole characters fit before the extension.
    (String(repeating: "日", count: 100) + ".zip", 255, String(repeating: "日", count: 83) + ".zip"),
    // A family emoji of eleven or more bytes is one character.
    (String(repeating: "👩🏽‍🚀", count: 20), 255, String(repeating: "👩🏽‍🚀", count: 17)),
    // An extension has at most sixteen bytes and no blank.
    (
      "a." + String(repeating: "b", count: 300), 255,
      "a." + String(repeating: "b", count: 253)
    ),
    ("Dr. Who and so on", 6, "Dr. Wh"),
    ("abc.zip", 5, "a.zip"),
    ("abc.zip", 4, "abc."),
    ("abc", 3, "abc"),
  ]) func `a long name is shortened before its extension`(name: String, limit: Int, short: String) {
    #expect(SafeFilename.shortened(name, to: limit) == short)
  }

  @Test func `a name of one very long character is cut between scalars`() {
    let endless = "a" + String(repeating: "\u{301}", count: 1_000)
    let safe = SafeFilename.sanitized(endless)
    #expect(safe.utf8.count == 255)
    #expect(safe.unicodeScalars.first == "a")
  }

  @Test(arguments: [
    ("a.zip", 2, "a (2).zip"),
    ("a", 2, "a (2)"),
    ("a.tar.gz", 10, "a (10).tar.gz"),
    // A number is replaced, not repeated.
    ("a (2).zip", 3, "a (3).zip"),
    ("a (2)", 3, "a (3)"),
    ("a (999).tar.gz", 1_000, "a (1000).tar.gz"),
    // Numbers in another format are kept.
    ("Film (2010).mkv", 2, "Film (2010) (2).mkv"),
    ("a(2).zip", 3, "a(2) (3).zip"),
    (" (2).zip", 3, " (2) (3).zip"),
    ("a (b).zip", 2, "a (b) (2).zip"),
    ("Dr. Who", 2, "Dr. Who (2)"),
  ]) func `a number is inserted before the extension`(name: String, number: Int, numbered: String) {
    #expect(SafeFilename.numbered(name, number) == numbered)
  }

  @Test(arguments: [
    String(repeating: "a", count: 255),
    String(repeating: "a", count: 251) + ".zip",
    "a." + String(repeating: "b", count: 253),
    String(repeating: "日", count: 85),
  ]) func `a name of maximum length has space for a number`(name: String) {
    for number in [2, 99, 12_345] {
      let numbered = SafeFilename.numbered(name, number)
      #expect(numbered.utf8.count <= 255)
      #expect(numbered.contains(" (\(number))"))
    }
  }

  @Test(.requirements("ZY6", "SC6")) func `a sanitized filename is valid on every file system`() {
    var random = SplitMix64(seed: 0x5AFE)
    let alphabet: [Unicode.Scalar] = [
      "a", "b", ".", ".", "/", "\\", " ", "\u{0}", "\u{A}", "\u{301}", "\u{200D}", "日", "😀", "(",
      "2", ")", "-",
    ]
    let ours = PartialName.suffix
    for _ in 0..<20_000 {
      var name = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        name.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
        if Int.random(in: 0..<30, using: &random) == 0 {
          name.append(contentsOf: ours.unicodeScalars)
        }
        if Int.random(in: 0..<50, using: &random) == 0 {
          name.append(contentsOf: String(repeating: "x.", count: 130).unicodeScalars)
        }
      }
      let given = String(name)
      for safe in [SafeFilename.sanitized(given), SafeFilename.sanitized(given, limit: 20)] {
        let isHarmless =
          !safe.isEmpty && safe.utf8.count <= 255 && safe != "." && safe != ".."
          && !safe.utf8.contains {
            $0 < 0x20 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
          }
          && !safe.utf8.starts(with: ".".utf8) && !safe.hasSuffix(ours)
        #expect(isHarmless, "\(given.debugDescription) became \(safe.debugDescription)")
      }
      let safe = SafeFilename.sanitized(given)
      #expect(SafeFilename.sanitized(safe) == safe, "\(given.debugDescription) is not stable")
      #expect(SafeFilename.numbered(safe, 2).utf8.count <= 255)
    }
  }
}
