import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct ContentDispositionTests {
  private func name(_ field: String) -> String? {
    ResponseHead(
      status: 200,
      fields: [HeaderField(name: "Content-Disposition", value: field)]
    ).suggestedFilename
  }

  @Test(
    arguments: [
      // Tokens and quoted strings.
      ("attachment; filename=a.zip", "a.zip"),
      ("attachment;filename=a.zip", "a.zip"),
      ("inline; filename=\"a.zip\"", "a.zip"),
      ("ATTACHMENT; FILENAME=\"a.zip\"", "a.zip"),
      ("attachment; filename = \"a.zip\" ; size=1", "a.zip"),
      ("attachment; filename=\"a;b=c.zip\"", "a;b=c.zip"),
      ("attachment; filename=\"a \\\"b\\\".zip\"", "a \"b\".zip"),
      ("attachment; name=x; filename=a.zip; filename=b.zip", "a.zip"),
      ("filename=a.zip", "a.zip"),
      // Malformed but unambiguous.
      ("attachment; filename=a b.zip", "a b.zip"),
      ("attachment; filename=\"a.zip", "a.zip"),
      (";;attachment;;filename=a.zip;", "a.zip"),
      // Plain UTF-8.
      ("attachment; filename=\"naïve €.zip\"", "naïve €.zip"),
      ("attachment; filename=文件.zip", "文件.zip"),
      // RFC 8187.
      ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
      ("attachment; filename*=utf-8'en'a%20b.zip", "a b.zip"),
      ("attachment; filename*=\"UTF-8''quoted%20too.zip\"", "quoted too.zip"),
      ("attachment; filename*=ISO-8859-1''na%EFve.zip", "naïve.zip"),
      ("attachment; filename=EUR.txt; filename*=UTF-8''%E2%82%AC.txt", "€.txt"),
      ("attachment; filename*=UTF-8''%E2%82%AC.txt; filename=EUR.txt", "€.txt"),
      // An extended value that cannot be decoded is ignored in favor of the plain one.
      ("attachment; filename*=UTF-8''%FF.txt; filename=a.zip", "a.zip"),
      ("attachment; filename*=UTF-8''%E2%8.txt; filename=a.zip", "a.zip"),
      ("attachment; filename*=KOI8-R''%C1.txt; filename=a.zip", "a.zip"),
      ("attachment; filename*=a.txt; filename=a.zip", "a.zip"),
      ("attachment; filename*=UTF-8''; filename=a.zip", "a.zip"),
      // RFC 2047, which servers send although it is not allowed here.
      ("attachment; filename=\"=?UTF-8?B?4oKsLnR4dA==?=\"", "€.txt"),
      ("attachment; filename=\"=?utf-8?Q?=E2=82=AC_a.txt?=\"", "€ a.txt"),
      ("attachment; filename=\"=?ISO-8859-1?Q?na=EFve?= =?UTF-8?Q?.zip?=\"", "naïve.zip"),
      ("attachment; filename=\"=?UTF-8?X?abc?=\"", "=?UTF-8?X?abc?="),
      ("attachment; filename=\"=?UTF-8?B?***?=\"", "=?UTF-8?B?***?="),
      // Percent-encoding in a plain value, and literal percent signs.
      ("attachment; filename=\"%E2%82%AC%20a.txt\"", "€ a.txt"),
      ("attachment; filename=\"100%.txt\"", "100%.txt"),
      ("attachment; filename=\"50%FFa.txt\"", "50%FFa.txt"),
      // Raw bytes in another encoding, which transports replace, and charsets that are not decoded.
      ("attachment; filename=\"\u{FFFD}\u{FFFD}.xls\"", nil),
      ("attachment; filename=r\u{FFFD}sum\u{FFFD}.pdf", nil),
      ("attachment; filename=\"\u{FFFD}\"; filename*=UTF-8''a.txt", "a.txt"),
      ("attachment; filename*=UTF-8''\u{FFFD}.txt; filename=a.zip", "a.zip"),
      ("attachment; filename*=GBK''%C9%CC%C6%B7.xls", nil),
      ("attachment; filename=\"=?GBK?B?yczGty54bHM=?=\"", nil),
      ("attachment; filename=\"=?windows-1251?Q?=E0.txt?=\"", nil),
      // No filename.
      ("attachment", nil), ("", nil), (";", nil), ("=", nil), ("attachment; filename", nil),
      ("attachment; filename=", nil), ("attachment; filename=\"\"", nil),
      ("attachment; filename*=", nil), ("attachment; filename*=UTF-8''", nil),
    ] as [(String, String?)]
  )
  func `a filename is decoded from every encoding`(field: String, expected: String?) {
    #expect(name(field) == expected)
  }

  @Test(
    arguments: [
      ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("..\\\\..\\\\x.dll", "x.dll"),
      ("C:\\\\Windows\\\\x.dll", "x.dll"), ("a/b/", "b"), ("..", nil), (".", nil), ("/", nil),
      ("\\\\", nil), ("...", nil), (".bashrc", "bashrc"), ("%2e%2e%2fetc%2fpasswd", "passwd"),
      ("..%5cx", "x"), ("%2e%2e", nil), ("a%00b", "ab"), ("a\u{7F}b\u{1}c", "abc"),
      ("a%0d%0ab", "ab"), ("\u{202E}gpj.exe", "gpj.exe"), ("a/\u{301}b", "\u{301}b"),
      ("x.dlstore-part", "x"), ("=?UTF-8?Q?..=2F..=2Fx?=", "x"), ("download", "download"),
    ] as [(String, String?)]
  )
  func `no filename leaves the folder`(text: String, expected: String?) {
    #expect(name("attachment; filename=\"\(text)\"") == expected)
  }

  @Test(arguments: ["%2e%2e%2Fpasswd", "..%5c..%5Cpasswd", "%2Fetc%2fpasswd", "%00/passwd"])
  func `no extended filename leaves the folder`(text: String) {
    #expect(name("attachment; filename*=UTF-8''\(text)") == "passwd")
  }

  @Test func `a long filename is shortened to the file system's limit and keeps its extension`() {
    let long = String(repeating: "€", count: 300)
    let safe = name("attachment; filename=\"\(long).tar.gz\"")
    #expect(safe?.utf8.count ?? 256 <= 255)
    #expect(safe?.hasSuffix("€.tar.gz") == true)
  }

  @Test func `no Content-Disposition field causes a crash`() {
    var random = SplitMix64(seed: 6_266)
    let pieces = [
      "attachment", "filename", "*", "=", ";", "\"", "\\", "'", "UTF-8", "%", "%2", "%2F", "%ff",
      "..", "/", " ", "=?", "?=", "?B?", "?Q?", "a", "\u{0}", "\u{301}", "é", ".zip",
    ]
    for _ in 0..<20_000 {
      var field = ["attachment; filename=", "attachment; filename*=", ""].randomElement(
        using: &random
      )!
      for _ in 0..<Int.random(in: 0...10, using: &random) {
        field += pieces.randomElement(using: &random)!
      }
      guard let name = name(field) else { continue }
      let isHarmless =
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
        && !name.unicodeScalars.contains { $0 == "/" || $0 == "\0" }
      #expect(isHarmless, "\(field.debugDescription)")
    }
  }
}
