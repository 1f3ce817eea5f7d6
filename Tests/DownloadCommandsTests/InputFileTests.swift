import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

struct InputFileTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func inputFile(_ text: String) throws -> InputFile {
    try InputFile(folder.makeFile("list", text))
  }

  @Test func `a plain list has one URL per line`() throws {
    let file = try inputFile("\u{FEFF}http://a/1\r\n\r\n# no\nhttps://b/2")
    #expect(file.entries.map(\.url) == ["http://a/1", "https://b/2"])
    #expect(file.entries.map(\.line) == [1, 4])
    #expect(file.problems.isEmpty)
  }

  @Test(arguments: ["\n", "\r\n", "\r"])
  func `each kind of line end ends a list, too`(end: String) throws {
    let file = try inputFile(["http://a/1", "http://a/2", ""].joined(separator: end))
    #expect(file.entries.map(\.url) == ["http://a/1", "http://a/2"])
  }

  @Test func `options apply to the URL above them`() throws {
    let file = try inputFile(
      "http://a/1\thttp://m/1\n  out=x y.zip\n\tdir=sub/dir\n"
        + " checksum=sha-256=\(String(repeating: "a", count: 64))\n header=A: b\n header=C: d\n"
        + "http://b/2\n"
    )
    #expect(
      file.entries == [
        InputFile.Entry(
          line: 1,
          url: "http://a/1",
          mirrors: ["http://m/1"],
          filename: "x y.zip",
          folder: "sub/dir",
          checksum: "sha-256=" + String(repeating: "a", count: 64),
          headers: ["A: b", "C: d"]
        ),
        InputFile.Entry(line: 7, url: "http://b/2"),
      ]
    )
    #expect(file.problems.isEmpty)
  }

  @Test func `a name may begin with a combining mark`() throws {
    let file = try inputFile("http://a/1\n out=\u{301}x\nhttp://a/2\n out=sub/\u{301}x\n")
    #expect(file.problems.isEmpty)
    #expect(file.entries.map(\.filename) == ["\u{301}x", "\u{301}x"])
    #expect(file.entries.map(\.folder) == [nil, "sub"])
  }

  @Test(arguments: ["./x", "sub/./x", "sub//x", ".//sub/x"])
  func `a dot and a doubled slash in the name of a file are nothing`(path: String) throws {
    let file = try inputFile("http://a/1\n out=\(path)\n")
    #expect(file.problems.isEmpty)
    #expect(file.entries.map(\.filename) == ["x"])
    #expect(file.entries.map(\.folder) == [path.contains("sub") ? "sub" : nil])
  }

  @Test(arguments: [
    "out=../x", "out=/etc/x", "out=a/../b", "out=a/.", "out=.", "out=a/", "out=..", "out=",
    "dir=a/../../b", "dir=..", "dir=/a/../b",
    "dir=/a/../\u{301}b", "out=/\u{301}x",
  ])
  func `an entry whose path leaves the folder is skipped`(option: String) throws {
    let file = try inputFile("http://a/1\n  \(option)\n  header=A: b\nhttp://b/2")
    #expect(file.entries.map(\.url) == ["http://b/2"])
    #expect(file.problems.map(\.line) == [2])
    #expect(file.problems.allSatisfy { $0.isFatal })
  }

  @Test(arguments: [
    "all-proxy=x", "conditional-get=true", "split=0", "dir=~/x", "checksum=adler32=00", "nonsense",
    "gid=00",
    "gid=0123456789abcdeg",
  ])
  func `an unknown option is reported and ignored`(option: String) throws {
    let file = try inputFile("http://a/1\n  \(option)")
    #expect(file.entries == [InputFile.Entry(line: 1, url: "http://a/1")])
    #expect(file.problems.map(\.isFatal) == [false])
  }

  @Test(arguments: ["piece-length=2M", "file-allocation=none", "max-tries=3", "enable-rpc=false"])
  func `an option that aria2 stores and that does not change the download is left out`(
    option: String
  ) throws {
    let file = try inputFile("http://a/1\n  \(option)")
    #expect(file.entries == [InputFile.Entry(line: 1, url: "http://a/1")])
    #expect(file.problems.isEmpty)
  }

  @Test func `a download with a digest that is none is skipped, with its line`() throws {
    let file = try inputFile("http://a/1\n checksum=md5=zz\nhttp://a/2\n")
    #expect(file.entries.map(\.url) == ["http://a/2"])
    let problem = try #require(file.problems.first)
    #expect(problem.line == 2 && problem.isFatal && problem.isBadValue)
    #expect(problem.message.hasPrefix("'md5:zz' is not a digest: "), "\(problem.message)")
  }

  @Test func `URLs of other schemes are skipped`() throws {
    let file = try inputFile("magnet:?xt=1\n out=a\nftp://a/1\thttp://a/1")
    #expect(file.entries.map(\.url) == ["http://a/1"])
    #expect(file.problems.map(\.isFatal) == [true, false])
  }

  @Test func `an option before the first URL is reported`() throws {
    #expect(try inputFile(" out=a").problems.map(\.line) == [1])
  }

  @Test func `an unsupported option is reported once, with its count`() throws {
    let file = try inputFile(
      "http://a/1\n all-proxy=p\n x=1\nhttp://a/2\n all-proxy=p\n all-proxy=p"
    )
    #expect(file.problems.map(\.line) == [2, 3])
    #expect(
      file.problems.map(\.message) == [
        "skipped the unsupported option 'all-proxy' (3 times)",
        "skipped the unsupported option 'x'",
      ]
    )
  }

  @Test(arguments: [
    "Authorization: Bearer hush", "hush", "http://me:hush@h/?token=hush=1", "hush:x=y",
    "he ader=hush",
    "gid=hush", "split=hush", "max-download-limit=hush", "dir=~/hush", "out=../hush", "dir=../hush",
    "checksum=hush",
  ])
  func `a message repeats nothing of a malformed line`(line: String) throws {
    let file = try inputFile("http://a/1\n \(line)\n")
    #expect(file.problems.count == 1)
    #expect(file.problems.allSatisfy { !$0.message.contains("hush") }, "\(file.problems)")
  }

  @Test(arguments: [
    "referer=*", "referer=http://me:hush@a/1#x", "header=REFERER: http://me:hush@a/1",
  ])
  func `no Referer has user info or a fragment`(option: String) throws {
    let file = try inputFile("http://me:hush@a/1#x\n \(option)\n")
    let lines = file.entries.flatMap(\.headers)
    #expect(try lines.map { try HeaderField(line: $0).value } == ["http://a/1"])
  }

  @Test func `a header field replaces the option of its name, and the last option counts`() throws {
    let file = try inputFile(
      "http://a/1\n user-agent=Y\n user-agent=Z\n referer=http://r\n header=user-agent: X\n"
        + " header=A: b\n header=\n http-user=u\n header=Authorization: c\n"
        + "http://a/2\n user-agent=Y\n user-agent=Z\nhttp://a/3\n user-agent=\n"
    )
    #expect(
      file.entries.map(\.headers) == [
        ["Referer: http://r", "user-agent: X", "A: b", "Authorization: c"], ["User-Agent: Z"], [],
      ]
    )
    #expect(file.problems.isEmpty)
  }

  @Test func `a line that is neither UTF-8 nor a URL is not quoted`() throws {
    let path = folder.path("list")
    let bytes =
      Array("http://a/1\n".utf8) + [0xD7, 0x8A, 0xFF] + Array("\n out=x\nhttp://b/2\n".utf8)
    try Data(bytes).write(to: URL(filePath: path))
    let file = try InputFile(path)
    #expect(file.entries.map(\.url) == ["http://a/1", "http://b/2"])
    #expect(file.problems.map(\.message) == ["this line is neither text in UTF-8 nor a URL"])
    #expect(file.problems.map(\.line) == [2] && file.problems.allSatisfy(\.isFatal))
  }

  @Test func `a URL that is not UTF-8 is requested as its bytes are`() throws {
    let path = folder.path("gbk")
    let bytes =
      Array("http://a/".utf8) + [0xC9, 0xCC] + Array(".xls?x=".utf8) + [0xE9]
      + Array("\thttp://b/".utf8) + [0xFF] + Array("\n# ".utf8) + [0xFF] + Array("\n out=".utf8)
      + [0xC9, 0xCC] + Array("\nhttp://c/1\n header=A: ".utf8) + [0xE9]
      + Array("\n out=c\nhttp://d/é\n".utf8)
    try Data(bytes).write(to: URL(filePath: path))
    let file = try InputFile(path)
    #expect(file.entries.map(\.url) == ["http://a/%C9%CC.xls?x=%E9", "http://d/é"])
    #expect(file.entries.map(\.mirrors) == [["http://b/%FF"], []])
    #expect(file.entries.map(\.filename) == [nil, nil])
    #expect(file.problems.map(\.line) == [3, 5])
    #expect(file.problems.map(\.isFatal) == [false, true])
  }

  @Test func `a session of aria2 is read with all options that a record can express`() throws {
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    let file = try inputFile(Self.session)
    #expect(
      file.entries == [
        InputFile.Entry(
          line: 1,
          url: "http://127.0.0.1:8123/paused.bin?x=1",
          folder: "rel/dir",
          bytesPerSecond: 1000,
          headers: ["Authorization: Basic am9lOnMgcA=="],
          gid: "e0d9c11f6643e4f7"
        ),
        InputFile.Entry(
          line: 7,
          url: "http://127.0.0.1:8123/missing",
          absoluteFolder: "/srv/dl",
          bytesPerSecond: 1000,
          gid: "1671cefa1fb51cad",
          isPaused: true
        ),
        InputFile.Entry(
          line: 12,
          url: "http://127.0.0.1:8123/big.bin",
          mirrors: ["http://127.0.0.1:8124/big.bin"],
          filename: "big file.bin",
          folder: "sub",
          absoluteFolder: "/srv/dl",
          checksum: "sha-256=\(digest)",
          bytesPerSecond: 1000,
          connections: 3,
          headers: [
            "Referer: http://127.0.0.1/page", "User-Agent: Tester/1.0", "X-One: 1",
            "Authorization: Bearer abc",
          ],
          gid: "0123456789abcdef"
        ),
      ]
    )
    #expect(file.problems.isEmpty)
  }

  @Test func `only allow-overwrite says what is done if a name is taken`() throws {
    let file = try inputFile(
      "http://a/1\n allow-overwrite=true\nhttp://a/2\n allow-overwrite=false\nhttp://a/3\n"
        + "http://a/4\n auto-file-renaming=false\nhttp://a/5\n auto-file-renaming=false\n"
        + "http://a/6\n auto-file-renaming=false\n allow-overwrite=true\n"
    )
    #expect(file.entries.map(\.collision) == [.replace, .number, nil, nil, nil, .replace])
    #expect(
      file.problems.map(\.message) == [
        "skipped the unsupported option 'auto-file-renaming' (2 times)"
      ]
    )
    // The line of the first of them.
    #expect(file.problems.map(\.line) == [7])
    #expect(file.problems.allSatisfy { !$0.isFatal })
  }

  @Test func `max-download-limit accepts byte counts with units, and 0 for no limit`() throws {
    let values: [(String, Int64?)] = [
      ("1000", 1000), ("500K", 512_000), ("2m", 2 << 20), ("0", nil), ("fast", nil), ("-1", nil),
    ]
    for (text, limit) in values {
      let file = try inputFile("http://a/1\n max-download-limit=\(text)\n")
      #expect(file.entries.map(\.bytesPerSecond) == [limit])
      #expect(file.problems.isEmpty == (limit != nil || text == "0"))
    }
  }

  /// A session written by `aria2c --save-session` (1.36.0), with the folder renamed, and with the
  /// line `pause=true` that aria2c writes for a paused download.
  static let session = """
    http://127.0.0.1:8123/paused.bin?x=1\t
     gid=e0d9c11f6643e4f7
     dir=rel/dir
     max-download-limit=1000
     http-user=joe
     http-passwd=s p
    http://127.0.0.1:8123/missing\t
     gid=1671cefa1fb51cad
     dir=/srv/dl
     pause=true
     max-download-limit=1000
    http://127.0.0.1:8123/big.bin\thttp://127.0.0.1:8124/big.bin\t
     gid=0123456789abcdef
     dir=/srv/dl
     out=sub/big file.bin
     split=3
     referer=http://127.0.0.1/page
     max-download-limit=1000
     checksum=sha-256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
     user-agent=Tester/1.0
     header=X-One: 1
     header=Authorization: Bearer abc

    """
}
