/// The parts that response heads are assembled from.
enum HeadWords {
  static let options = [
    "size=0", "size=1", "size=20", "size=40", "tag=1", "tag=2", "tag=9", "checkpoint=1",
    "checkpoint=4", "checkpoint=100", "joined", "digest", "url", "chunked", "chunked=1", "kept",
  ]

  static let endings = ["", "", "", "lost", "lost", "complete", "silent", "stop"]

  static let statuses = [
    "200 OK", "200 OK", "206 Partial Content", "206 Partial Content", "201 Created", "203 Other",
    "204 No Content", "205 Reset", "226 IM Used", "300 Choices", "301 Moved", "302 Found",
    "303 See Other", "304 Not Modified", "305 Proxy", "307 Temporary", "308 Permanent", "400 Bad",
    "401 Unauthorized", "403 Forbidden", "404 Not Found", "407 Proxy", "408 Timeout", "410 Gone",
    "412 Failed", "416 Range", "416 Range", "425 Early", "429 Many", "500 Error", "503 Busy",
    "599 x", "600 x", "999 x",
  ]

  static let dates = [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "Tue, 14 Nov 2023 22:13:21 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "yesterday", "",
  ]

  static let numbers = [
    "0", "1", "2", "5", "10", "19", "20", "21", "-1", "+5", "007", "2147483648", "4294967296",
    "9007199254740993", "9223372036854775806", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "99999999999999999999999", "1e3", "0x10", "5 5",
    "\u{0665}", "",
  ]

  private static let sha256 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

  private static let locations = [
    "/other", "other", "?x", "#f", "//example.com/x", "//example.org/x", "http://example.com/x",
    "https://example.com:443/x", "https://example.com:8443/x", "https://EXAMPLE.com/x",
    "https://example.com./x", "https://user@example.org/", "https://example.org@example.com/",
    "https://example.com@example.org/", "https://example.com\\@example.org/", "ftp://example.com/",
    "file:///etc/passwd", "data:,x", "javascript:0", "http://[::1]/", "http://", "https:///x", "",
    "http://127.0.0.1/x", "https://example.com/%00", "https://ex\u{e4}mple.com/", "/\u{202e}",
    "https://example.com/dir/name.bin", "////", "\\\\example.org\\x", "https:example.com",
    "https://example.com:65536/", "//example.com:99999999999999999999/", "https://example.com:-1/",
    "http://127.0.0.1:65536/", "/%C9%CC.xls", "/r%E9sum%E9.pdf?x=[1]%2b", "?sig=%2B&t=[v1]", "/%zz",
    "/a/./../b", "https://u:p@example.com/", "https://[::1", "https://example.com:0/", "/\u{FFFD}",
  ]

  private static let names = [
    "../../x", "..", ".", "/etc/passwd", "a/b", "a\\b", "C:\\x", "x.part", ".hidden", "nul",
    "a\u{301}.txt", "\u{202e}cod.exe", "%2e%2e%2fx", "..%2f..%2fx", "=?UTF-8?B?Li4vLi4veA==?=",
    "=?UTF-8?Q?=2E=2E=2Fx?=", "a;b", "a\"b", "\\\"", "name.bin", String(repeating: "n", count: 300),
    String(repeating: "\u{1F600}", count: 80), "\u{0}", " ", "a\tb", "CON", "store", "~", "-rf",
    "\"\u{301}.bin", "a/\u{301}b", "\u{301}.bin", "\u{e9}.bin", "e\u{301}.bin",
  ]

  /// The values of each field.
  static let fields: [String: [String]] = [
    "Content-Length": numbers + ["20", "20", "10", "15"],
    "Content-Range": [
      "bytes 0-19/20", "bytes 5-19/20", "bytes 8-19/20", "bytes 10-19/20", "bytes 10-19/*",
      "bytes */20", "bytes */10", "bytes */*", "bytes 0-0/1", "bytes 4-19/20", "bytes 10-9/20",
      "bytes 10-20/20", "bytes 0-9223372036854775807/*", "bytes 5-9223372036854775806/*",
      "bytes 0-9223372036854775806/9223372036854775807", "Bytes 5-19/20", "bytes=5-19/20",
      "bytes 5-19", "items 5-19/20", "bytes  5-19/20", "bytes 5-19/20, bytes 0-1/2", "bytes 5-/20",
      "bytes -5/20", "bytes 5 - 19/20", "",
    ],
    "ETag": [
      "\"1\"", "\"2\"", "\"9\"", "W/\"1\"", "W/\"2\"", "1", "\"", "\"\"", "", "\"1\", \"2\"", "*",
      "\"a b\"", "\"\u{e4}\"", "\"a\u{308}\"",
    ],
    "Last-Modified": dates,
    "Content-Encoding": [
      "gzip", "identity", "Identity", "", "br, gzip", "x-none", "identity, gzip",
    ],
    "Transfer-Encoding": ["chunked", "gzip, chunked", "identity", "chunked, chunked"],
    "Content-Type": [
      "multipart/byteranges; boundary=x", "text/html", "application/zip", "image/png", "", "a", "/",
    ],
    "Content-Disposition":
      names.flatMap { ["attachment; filename=\"\($0)\"", "attachment; filename=\($0)"] }
      + [
        "attachment", "filename*=UTF-8''%2e%2e%2fx", "attachment; filename*=UTF-8''a%00b",
        "attachment; filename*=utf-8'en'%e2%82%ac.txt", "attachment; filename*=iso-8859-1''%e4",
        "attachment; filename*=UTF-8''%2", "attachment; filename=a; filename*=UTF-8''b", "; ; =",
        "attachment; filename=", "attachment; filename*=x", "attachment; filename=\"a",
      ],
    "Location": locations,
    "Retry-After": numbers + dates + ["120", " 5 ", "-5", "5.5"],
    "Accept-Ranges": ["none", "bytes"],
    "Connection": ["close", "keep-alive", "upgrade"],
    "WWW-Authenticate": ["Basic realm=\"x\"", "Digest", "Bearer", ""],
    "Set-Cookie": [
      "a=b", "a=b; Domain=example.org", "a=b; Path=/; Domain=com", "=", "a=b, c=d; Max-Age=0",
      "a=b; Max-Age=-9223372036854775808", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ],
    "Refresh": ["0; url=https://example.org/"],
    "Content-MD5": ["AAAA"],
    "Digest": ["sha-256=AAAA", "SHA-256=\(sha256)", "md5=AAAA, sha-256=\(sha256)"],
    "Repr-Digest": [
      "sha-256=:AAAA:", "sha-256=:\(sha256):", "sha-512=:\(sha256):, sha-256=:\(sha256):",
      "sha-256=\"\(sha256)\"", "sha-256=:\(sha256)", "sha-256=(:\(sha256):)", "a=?1;b=:AA:",
    ],
    "Trailer": ["ETag"],
    "Link":
      locations.map { "<\($0)>; rel=duplicate" } + [
        "<https://example.org/>; rel=\"duplicate\"; pri=1, </x>; rel=duplicate; pri=-1",
        "<https://example.org/; rel=duplicate", "<>; rel=duplicate", "; rel=duplicate",
        "<x>;rel=\"",
      ],
    "Alt-Svc": ["h3=\":443\""],
    "X": ["", " ", "\t", "a\u{0}b", "\u{e4}"],
  ]
}
