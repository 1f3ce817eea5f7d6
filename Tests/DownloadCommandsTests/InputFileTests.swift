import TestSupport
import Testing

@testable import DownloadCommands

struct InputFileTests {
  @Test func `a plain list has one URL per line`() {
    let file = InputFile("\u{FEFF}http://a/1\r\n\r\n# no\nhttps://b/2")
    #expect(file.entries.map(\.url) == ["http://a/1", "https://b/2"])
    #expect(file.entries.map(\.line) == [1, 4])
    #expect(file.problems.isEmpty)
  }

  @Test func `options apply to the URL above them`() {
    let file = InputFile(
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

  @Test(arguments: [
    "out=../x", "out=/etc/x", "out=a/b", "out=..", "out=", "dir=a/../../b", "dir=..",
  ])
  func `an entry whose path leaves the folder is skipped`(option: String) {
    let file = InputFile("http://a/1\n  \(option)\n  header=A: b\nhttp://b/2")
    #expect(file.entries.map(\.url) == ["http://b/2"])
    #expect(file.problems.map(\.line) == [2])
    #expect(file.problems.allSatisfy { $0.isFatal })
  }

  @Test(arguments: ["split=5", "dir=/home/me", "checksum=md5=00", "nonsense"])
  func `an unknown option is reported and ignored`(option: String) {
    let file = InputFile("http://a/1\n  \(option)")
    #expect(file.entries == [InputFile.Entry(line: 1, url: "http://a/1")])
    #expect(file.problems.map(\.isFatal) == [false])
  }

  @Test func `URLs of other schemes are skipped`() {
    let file = InputFile("magnet:?xt=1\n out=a\nftp://a/1\thttp://a/1")
    #expect(file.entries.map(\.url) == ["http://a/1"])
    #expect(file.problems.map(\.isFatal) == [true, false])
  }

  @Test func `an option before the first URL is reported`() {
    #expect(InputFile(" out=a").problems.map(\.line) == [1])
  }
}
