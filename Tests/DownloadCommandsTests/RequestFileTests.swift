import DownloadStore
import Foundation
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The parsers of netrc, cookie and checksum files.
struct RequestFileTests {
  // MARK: netrc

  @Test(arguments: [
    ("machine a login l password p", "a", "l:p"),
    ("machine a\n  login l\n\tpassword p\r\n", "A", "l:p"),
    ("machine A password p login l", "a", "l:p"),
    ("machine a login l password p", "b", nil),
    ("machine a login l password p", "x.a", nil),
    ("machine a login l password p default login d password e", "b", "d:e"),
    ("default login d password e\nmachine a login l password p", "a", "l:p"),
    ("machine a login l", "a", nil),
    ("machine a login l machine a login m password q", "a", "m:q"),
    ("machine a login l account x password p", "a", "l:p"),
    (#"machine a login "l m" password "p\"q\\r\ts""#, "a", "l m:p\"q\\r\ts"),
    ("machine a login l password \"\"", "a", "l:"),
    ("# machine a\nmachine a login l # x\npassword p", "a", "l:p"),
    ("macdef init\nmachine a login x password y\n\nmachine a login l password p", "a", "l:p"),
    ("macdef init\nmachine a login x password y\n", "a", nil),
    ("\u{FEFF}machine ::1 login l password p", "::1", "l:p"),
    ("", "a", nil),
    // Keywords of other programs (Heroku, git, CircleCI), and unknown tokens.
    (
      "machine b login x password y method interactive org team\nmachine a login l password p", "a",
      "l:p"
    ),
    ("machine a login l password p protocol https port 8443", "a", "l:p"),
    ("machine a port login login l password p", "a", "l:p"),
    ("machine b login x secret\nmachine a login l password p", "a", "l:p"),
    ("login x machine a login l password p", "a", "l:p"),
    // Values that are missing or empty.
    ("machine b\n  login\n  password xxxxx\nmachine a\n  login l\n  password p", "a", "l:p"),
    ("machine b\n  login\n  password xxxxx\n", "b", ":xxxxx"),
    ("machine a password p", "a", ":p"), ("machine a login \"\" password p", "a", ":p"),
    ("machine a password q machine a login l password p", "a", "l:p"),
    ("machine a login l password", "a", "l:"), ("machine a\nlogin", "a", nil),
    ("machine\n  a\nlogin\n  l\npassword\n  p", "a", "l:p"),
    ("machine\nmachine a login l password p", "a", "l:p"), ("machine", "a", nil),
    ("default password p", "a", ":p"),
    // Values are repeated: as with curl, the first complete pair counts.
    ("machine a login l password p login m password q", "a", "l:p"),
    ("machine a login l login m password q", "a", "m:q"),
    ("machine a password p password q login l", "a", "l:q"),
    // Names in Unicode and in ASCII, and absolute names.
    ("machine bücher.example login l password p", "xn--bcher-kva.example", "l:p"),
    ("machine xn--bcher-kva.example login l password p", "bücher.example", "l:p"),
    ("machine b%C3%BCcher.example login l password p", "BÜCHER.example", "l:p"),
    ("machine a.example. login l password p", "a.example", "l:p"),
    ("machine \"\" login l password p", "a", nil),
    // A number sign, as curl 7.88 reads it: a comment, except in quotes and within a token.
    ("machine a login l password #p # c", "a", "l:"),
    ("machine a login l password # c\nmachine b login m password q", "b", "m:q"),
    ("machine a login l password # c\n  p", "a", "l:p"),
    ("machine a login l password \"#p\" # c", "a", "l:#p"),
    ("machine a login l password p#c", "a", "l:p#c"),
  ])
  func `a netrc file gives the credentials of a host`(
    text: String,
    host: String,
    expected: String?
  ) throws {
    let found = try NetrcFile(text).credentials(for: host)
    #expect(found.map { "\($0.login):\($0.password)" } == expected)
  }

  @Test(arguments: [
    ("login l secret", 1), ("machine a\nlogin \"l\npassword p", 2), ("machine a login \"l", 1),
    ("\n\n<html>", 3),
    ("machine a login \"l\\", 1),
  ])
  func `an invalid netrc file is refused with its line`(text: String, line: Int) {
    let error = #expect(throws: NetrcFile.Invalid.self) { _ = try NetrcFile(text) }
    #expect(error?.line == line)
    #expect(error?.reason.contains("secret") == false)
  }

  @Test func `a netrc file that is not UTF-8 gives the bytes of its credentials`() throws {
    let bytes = Array("machine a login l".utf8) + [0xE9] + Array(" password p".utf8) + [0xFF]
    let found = try #require(try NetrcFile(bytes: bytes).credentials(for: "a"))
    #expect(found.bytes == Array("l".utf8) + [0xE9] + Array(":p".utf8) + [0xFF])
    let text = try NetrcFile(bytes: Array("machine a login é password p".utf8))
    #expect(text.credentials(for: "a")?.bytes == Array("é:p".utf8))
  }

  @Test func `the default of a netrc file can be left out`() throws {
    let file = try NetrcFile("machine a login l password p default login d password e")
    #expect(file.credentials(for: "b", allowsDefault: false) == nil)
    #expect(file.credentials(for: "a", allowsDefault: false)?.login == "l")
  }

  // MARK: Cookies

  private static let cookies = """
    # Netscape HTTP Cookie File

    .example.com\tTRUE\t/\tFALSE\t0\tall\t1
    example.com\tFALSE\t/\tFALSE\t0\thost\t2
    #HttpOnly_example.com\tFALSE\t/docs\tFALSE\t2000000000\tdeep\t3
    example.com\tFALSE\t/\tTRUE\t0\tsecure\t4
    example.com\tFALSE\t/\tFALSE\t1000000000\texpired\t5
    com\tTRUE\t/\tFALSE\t0\ttop\t6
    127.0.0.1\tTRUE\t/\tFALSE\t0\taddress\t7
    0.0.1\tTRUE\t/\tFALSE\t0\tpart\t8
    ::1\tFALSE\t/\tFALSE\t0\tloop\t9
    empty.org\tFALSE\t/\tFALSE\t0\tempty
    twice.org\tFALSE\t/\tFALSE\t0\ta\told
    twice.org\tFALSE\t/\tFALSE\t0\tb\tb
    twice.org\tFALSE\t/\tFALSE\t0\ta\tnew=1
    """

  @Test(arguments: [
    ("http://example.com/", "all=1; host=2"),
    ("http://EXAMPLE.com", "all=1; host=2"),
    ("https://example.com:8443/?q", "all=1; host=2; secure=4"),
    ("http://example.com/docs", "deep=3; all=1; host=2"),
    ("http://example.com/docs/a", "deep=3; all=1; host=2"),
    ("http://example.com/docs2", "all=1; host=2"),
    // Escapes that are not UTF-8, and dot segments: the path is the one that is requested.
    ("http://example.com/docs/%C9%CC.xls", "deep=3; all=1; host=2"),
    ("http://example.com/docs/../x", "all=1; host=2"),
    ("http://example.com/x/../docs", "deep=3; all=1; host=2"),
    ("http://www.example.com/", "all=1"),
    ("http://notexample.com/", nil),
    ("http://example.com.evil.org/", nil),
    ("http://other.com/", nil),
    ("http://com/", "top=6"),
    ("http://127.0.0.1/", "address=7"),
    ("http://9.127.0.0.1/", nil),
    ("http://[::1]:8080/", "loop=9"),
    ("http://empty.org/", "empty="),
    ("http://twice.org/", "a=new=1; b=b"),
  ])
  func `only matching cookies are sent, those of longer paths first`(url: String, expected: String?)
  {
    let file = CookieFile(Self.cookies)
    #expect(file.invalidLines.isEmpty)
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    #expect(file.header(for: url, at: time) == expected)
  }

  @Test(arguments: [
    // The path that is requested has no dot segments.
    ("h.example", "/private", "http://h.example/private/../public", false),
    ("h.example", "/private", "http://h.example/public/../private", true),
    ("h.example", "/private", "http://h.example/./private?a", true),
    ("h.example", "/private", "http://h.example/%70rivate", false),
    // A final dot makes no difference.
    ("com.", "/", "http://foo.com./", false), ("co.uk.", "/", "http://victim.co.uk./", false),
    ("com", "/", "http://foo.com./", false), ("foo.com", "/", "http://a.foo.com./", true),
    ("foo.com.", "/", "http://foo.com/", true),
    // Names in Unicode, in ASCII, and percent-encoded.
    ("bücher.example", "/", "http://xn--bcher-kva.example/", true),
    ("xn--bcher-kva.example", "/", "http://bücher.example/", true),
    ("b%C3%BCcher.example", "/", "http://a.bücher.example/", true),
    (".BÜCHER.example", "/", "http://bücher.example/", true),
    ("bucher.example", "/", "http://bücher.example/", false),
  ])
  func `cookies match the host and the path that are requested`(
    domain: String,
    path: String,
    url: String,
    isSent: Bool
  ) {
    let file = CookieFile("\(domain)\tTRUE\t\(path)\tFALSE\t0\tn\tv")
    #expect(file.invalidLines.isEmpty)
    #expect(file.header(for: url, at: Date(timeIntervalSince1970: 0)) == (isSent ? "n=v" : nil))
  }

  @Test(arguments: [
    "a.com\tTRUE\t/\tFALSE\t0", "a.com TRUE / FALSE 0 n v", "a.com\tyes\t/\tFALSE\t0\tn\tv",
    "a.com\tTRUE\t/\tFALSE\t-1\tn\tv", "a.com\tTRUE\t/\tFALSE\t1.5e9\tn\tv",
    "a.com\tTRUE\t/\tFALSE\t.5\tn\tv", "a.com\tTRUE\t/\tFALSE\t0\tn\t\u{FFFD}",
    "a.com\tTRUE\t\tFALSE\t0\tn\tv",
    "a.com\tTRUE\t/\tFALSE\t0\t\tv", "a.com\tTRUE\t/\tFALSE\t0\tn;m\tv",
    "a.com\tTRUE\t/\tFALSE\t0\tn\tv\rX-Evil: 1", "a.com\tTRUE\t/\tFALSE\t0\tn\tv; w",
    "\tTRUE\t/\tFALSE\t0\tn\tv", "..com\tTRUE\t/\tFALSE\t0\tn\tv", "<html>",
    "a\u{0}\tTRUE\t/\tFALSE\t0\tn\tv",
  ])
  func `a line that is not a cookie is reported`(line: String) {
    let file = CookieFile("# x\n\(line)\nb.com\tTRUE\t/\tFALSE\t0\tn\tv\n")
    #expect(file.invalidLines == [2])
    #expect(file.cookies.map(\.domain) == ["b.com"])
  }

  @Test(arguments: [
    // Firefox from 142, Python's cookie jar, milliseconds, and a time beyond any number.
    "1999999999.742", "", "1999999999742", "99999999999999999999", "2000000000.",
  ])
  func `the time of a cookie may have the forms of other programs`(expiry: String) {
    let file = CookieFile("a.com\tFALSE\t/\tFALSE\t\(expiry)\tn\tv")
    #expect(file.invalidLines.isEmpty)
    #expect(file.header(for: "http://a.com/", at: Date(timeIntervalSince1970: 1.7e9)) == "n=v")
  }

  @Test func `a time with a fraction expires, and a path may be missing`() {
    let past = CookieFile("a.com\tFALSE\t/\tFALSE\t1000000000.9\tn\tv")
    #expect(past.header(for: "http://a.com/", at: Date(timeIntervalSince1970: 1.7e9)) == nil)
    let short = CookieFile("a.com\tFALSE\tFALSE\t0\tn\tv")
    #expect(short.header(for: "http://a.com/x", at: .distantPast) == "n=v")
  }

  @Test(arguments: [
    ("co.uk", "shop.co.uk"), ("com.au", "a.com.au"), ("github.io", "a.github.io"),
    ("gov.uk", "www.gov.uk"), ("k12.ca.us", "a.k12.ca.us"), ("com", "a.com"),
  ])
  func `a cookie for a public suffix is sent to its own host only`(domain: String, host: String) {
    let file = CookieFile(".\(domain)\tTRUE\t/\tFALSE\t0\tn\tv")
    #expect(file.header(for: "http://\(host)/", at: .distantPast) == nil)
    #expect(file.header(for: "http://\(domain)/", at: .distantPast) == "n=v")
  }

  // MARK: Checksums

  private static let md5 = String(repeating: "a", count: 32)
  private static let sha1 = String(repeating: "b", count: 40)
  private static let sha256 = String(repeating: "c", count: 64)
  private static let sha512 = String(repeating: "d", count: 128)

  @Test(arguments: [
    ("\(sha256)  x.iso", "x.iso", "sha256:\(sha256)"),
    ("\(sha256.uppercased()) *x.iso\r\n", "x.iso", "sha256:\(sha256)"),
    ("\(sha256)  two  words.iso", "two  words.iso", "sha256:\(sha256)"),
    ("\(sha256)  ./images/x.iso", "x.iso", "sha256:\(sha256)"),
    ("\(sha256)   x.iso", " x.iso", "sha256:\(sha256)"),
    ("\(md5) x.iso", "x.iso", "md5:\(md5)"),
    ("\\\(sha1)  a\\\\b\\nc", "a\\b\nc", "sha1:\(sha1)"),
    ("\\\(sha1)  a\\x", "a\\x", nil),
    ("SHA256 (x (1).iso) = \(sha256)", "x (1).iso", "sha256:\(sha256)"),
    ("SHA2-512(x.iso)= \(sha512)", "x.iso", "sha512:\(sha512)"),
    ("MD5 (x.iso) = \(sha256)", "x.iso", nil),
    ("BLAKE2b (x.iso) = \(sha512)", "x.iso", nil),
    ("\\SHA1 (a\\nb) = \(sha1)", "a\nb", "sha1:\(sha1)"),
    ("\(md5)  x\n\(sha512)  x\n\(sha256)  x", "x", "sha512:\(sha512)"),
    ("\(sha256)", "x.iso", "sha256:\(sha256)"),
    ("\(sha256)\n", "x.iso.sha256", nil),
    ("# Fedora\nHash: SHA256\n\nSHA256 (f) = \(sha256)\n-----BEGIN", "f", "sha256:\(sha256)"),
    ("\(sha256.dropLast())  x", "x", nil),
    ("\(sha256)0  x", "x", nil),
    ("\(sha256)é  x", "x", nil),
    ("SHA256 )x( = \(sha256)", "x", nil),
    ("\u{FEFF}\(md5)  x", "x", "md5:\(md5)"),
    ("", "x", nil),
  ])
  func `a checksum file gives the digest of a name`(
    text: String,
    name: String,
    expected: String?
  ) throws {
    let file = ChecksumFile(text, named: "x.iso.sha256")
    #expect(try file.digest(of: name)?.text == expected)
  }

  @Test func `the path of the URL decides between files of one name`() throws {
    let (one, other) = (Self.sha256, String(repeating: "b", count: 64))
    let file = ChecksumFile(
      "\(one)  win-x64/node.exe\n\(other)  ./win-arm64/node.exe",
      named: "SUMS"
    )
    func found(_ folders: String...) throws -> String? {
      try file.digest(of: "node.exe", in: folders)?.hexadecimal
    }
    #expect(try found("dist", "v20", "win-x64") == one)
    #expect(try found("dist", "v20", "win-arm64") == other)
    #expect(throws: ChecksumFile.Ambiguous(name: "node.exe")) { try found("dist", "v20") }
    #expect(throws: ChecksumFile.Ambiguous(name: "node.exe")) { try found("win-x64", "v20") }
    let nested = ChecksumFile("\(one)  x\n\(other)  a/x", named: "SUMS")
    #expect(try nested.digest(of: "x", in: ["a"])?.hexadecimal == other)
    #expect(throws: ChecksumFile.Ambiguous(name: "x")) { try nested.digest(of: "x", in: ["b"]) }
  }

  @Test func `different checksums of one name are ambiguous, equal ones are not`() throws {
    let other = String(repeating: "e", count: 64)
    var file = ChecksumFile("\(Self.sha256)  a/x\n\(Self.sha256)  b/x", named: "SUMS")
    #expect(try file.digest(of: "x")?.hexadecimal == Self.sha256)
    file.merge(ChecksumFile("\(other)  x", named: "SUMS"))
    #expect(throws: ChecksumFile.Ambiguous(name: "x")) { _ = try file.digest(of: "x") }
  }

  @Test(arguments: [([], "d"), (["sub"], "e"), (["dist", "sub"], "e")])
  func `the longest path that a URL ends with decides`(folders: [String], digit: String) throws {
    let digests = ["d", "e"].map { String(repeating: $0, count: 64) }
    let file = ChecksumFile("\(digests[0])  ./x\n\(digests[1])  ./sub/x", named: "SUMS")
    let found = try file.digest(of: "x", in: folders)
    #expect(found?.hexadecimal == String(repeating: digit, count: 64))
  }

  @Test func `hostile files are parsed without a crash`() {
    let pieces = [
      "\"", "\\", "\t", "\n", "\r\n", "machine ", "default", "login ", "macdef x\n", "#HttpOnly_",
      "TRUE", "\u{0}", "é\u{301}", "(", ")", " = ", Self.sha256, "SHA256", "/", ";", "=", "9",
      "\u{1F468}\u{200D}\u{1F469}",
    ]
    var random = SplitMix(state: 11)
    for _ in 0..<2_000 {
      let count = Int.random(in: 0..<20, using: &random)
      let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      if let netrc = try? NetrcFile(text) { _ = netrc.credentials(for: "x") }
      _ = CookieFile(text).header(for: "http://x/", at: .distantPast)
      _ = try? ChecksumFile(text, named: text).digest(of: "x")
    }
  }

  /// A generator with a fixed seed.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  // MARK: Referer

  @Test(arguments: [
    ("http://a/b", "http://a/b"), ("http://u:p@a/b?c#d", "http://a/b?c"),
    ("http://u@v@a", "http://a"), ("http://a/@b", "http://a/@b"), ("http://a?x@y", "http://a?x@y"),
  ])
  func `user info and fragment are not sent as Referer`(url: String, sent: String) {
    #expect(RefererText.sent(url) == sent)
  }
}
