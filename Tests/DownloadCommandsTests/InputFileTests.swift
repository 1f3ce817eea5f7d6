import TestSupport
import Testing

@testable import DownloadCommands

struct InputFileTests {
  @Test func `a plain list is one URL a line`() {
    let file = InputFile("\u{FEFF}http://a/1\r\n\r\n# no\nhttps://b/2")
    #expect(file.entries.map(\.url) == ["http://a/1", "https://b/2"])
    #expect(file.entries.map(\.line) == [1, 4])
    #expect(file.problems.isEmpty)
  }

  @Test func `options belong to the URL above them`() {
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
  func `a way out of the folder leaves the download out`(option: String) {
    let file = InputFile("http://a/1\n  \(option)\n  header=A: b\nhttp://b/2")
    #expect(file.entries.map(\.url) == ["http://b/2"])
    #expect(file.problems.map(\.line) == [2])
    #expect(file.problems.allSatisfy { $0.isFatal })
  }

  @Test(arguments: ["split=5", "dir=/home/me", "checksum=md5=00", "nonsense"])
  func `an option that is not known is reported and left out`(option: String) {
    let file = InputFile("http://a/1\n  \(option)")
    #expect(file.entries == [InputFile.Entry(line: 1, url: "http://a/1")])
    #expect(file.problems.map(\.isFatal) == [false])
  }

  @Test func `other schemes are left out`() {
    let file = InputFile("magnet:?xt=1\n out=a\nftp://a/1\thttp://a/1")
    #expect(file.entries.map(\.url) == ["http://a/1"])
    #expect(file.problems.map(\.isFatal) == [true, false])
  }

  @Test func `an option before any URL is reported`() {
    #expect(InputFile(" out=a").problems.map(\.line) == [1])
  }
}
