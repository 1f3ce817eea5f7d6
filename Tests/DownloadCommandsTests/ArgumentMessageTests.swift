import ArgumentParser
import CommandTestSupport
import DownloadReports
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What people read about arguments, settings and input files that cannot be used.
struct ArgumentMessageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Words after `dlstore`, and the first line of the message, without the program's name.
  struct Case: Sendable, CustomTestStringConvertible {
    var words: [String]
    var line: String

    init(_ words: String..., says line: String) {
      self.words = words
      self.line = line
    }

    var testDescription: String { words.joined(separator: " ") }
  }

  static let cases = [
    Case(
      "get",
      "http://h/x",
      "--proxy",
      "ftp://x",
      says: "Error: --proxy: 'ftp' is not a proxy protocol: use http, https, socks5, socks5h."
    ),
    Case(
      "get",
      "http://h/x",
      "--max-concurrent",
      "abc",
      says: "Error: --max-concurrent: 'abc' is not a whole number of at least 1."
    ),
    Case(
      "get",
      "http://h/x",
      "--max-concurrent",
      "0",
      says: "Error: --max-concurrent: '0' is not a whole number of at least 1."
    ),
    Case(
      "get",
      "http://h/x",
      "--priority",
      "high",
      says: "Error: --priority: 'high' is not a whole number from -2147483648 to 2147483647."
    ),
    Case(
      "serve",
      "--port",
      "99999",
      says: "Error: --port: '99999' is not a whole number from 0 to 65535."
    ),
    Case(
      "cat",
      "x",
      "--from",
      "9223372036854775808",
      says: "Error: --from: '9223372036854775808' is not a whole number of at least 0."
    ),
    Case("list", "--limit", "-1", says: "Error: --limit: '-1' must not be negative."),
    Case(
      "list",
      "--limit",
      "-x",
      says: "Error: --limit: '-x' is not a value, because it begins with a hyphen."
    ),
    Case(
      "list",
      "--match",
      "*[a-z",
      says: "Error: --match: '[' is never closed in '*[a-z'; write [[] for the character."
    ),
    Case(
      "run",
      "--transport",
      "carrier-pigeon",
      says: "Error: --transport: 'carrier-pigeon' is not one of 'urlsession' and "
        + "'async-http-client'."
    ),
    Case(
      "get",
      "http://h/x",
      "--checksum",
      "sha256:123",
      says: "Error: 'sha256:123' is not a digest: sha256 has 64 digits, and this has 3"
    ),
    Case(
      "get",
      "http://h/x",
      "--checksum",
      "sha3:12",
      says: "Error: 'sha3:12' is not a digest: write md5:, sha1:, sha256: or sha512: and "
        + "hexadecimal digits"
    ),
    Case(
      "get",
      "http://h/x",
      "--checksum",
      "md5:zz",
      says: "Error: 'md5:zz' is not a digest: it has other characters than hexadecimal digits"
    ),
    Case(
      "get",
      "http://h/x",
      "--header",
      "Foo",
      says: "Error: a header field must have the form 'Name: value'"
    ),
    Case(
      "get",
      "http://h/x",
      "--dir",
      "",
      says: "Error: --output-folder requires the path of a folder."
    ),
    Case(
      "get",
      "http://h/x",
      "--on-error",
      "",
      says: "Error: --on-error requires a command."
    ),
    Case(
      "get",
      "http://h:99999/x",
      says: "'http://h:99999/x' cannot be downloaded: a port is a number from 1 to 65535"
    ),
    Case(
      "get",
      "http://h/a b",
      says: "'http://h/a•••' cannot be downloaded: a URL contains no blanks or control "
        + "characters; write %20 for a blank"
    ),
    Case(
      "get",
      "http://[fe80::1%25eth0]:80/a",
      says: "'http://[fe80::1%25eth0]:80/a' cannot be downloaded: zones of IPv6 addresses, such as "
        + "%eth0, are not supported"
    ),
    Case("get", "ftp://h/a", says: "'ftp://h/a' cannot be downloaded: only http and https are"),
    Case(
      "add",
      "http:///a",
      says: "'http:///a' cannot be downloaded: it names no host; did you mean 'http://a'?"
    ),
    Case(
      "add",
      "http://h/x",
      "--folder",
      "../x",
      says:
        "Error: --folder must be below the folder for files, and '../x' is not: use -o /PATH/NAME "
        + "or the option --output-folder of 'get' for another place."
    ),
    Case(
      "get",
      "http://h/x",
      "--retry-wait",
      "-1",
      says: "Error: --retry-wait: '-1' must not be negative."
    ),
    Case(
      "get",
      "http://h/x",
      "--output-folder",
      "",
      says: "Error: --output-folder requires the path of a folder."
    ),
    Case("limit", "-1", says: "Error: Unknown option '-1': no value here may be negative."),
    Case("get", "--versoin", says: "Error: Unknown option '--versoin'. Did you mean '--version'?"),
    Case(
      "push",
      says: "Error: There is no command 'push'. Nothing is uploaded: 'add' stores a URL, and 'get' "
        + "downloads it."
    ),
    Case("get", says: "Error: Nothing to download: give a URL, --input-file or --metalink."),
    Case(
      "get",
      "http://h/x",
      "--conections",
      "3",
      says: "Error: Unknown option '--conections'. "
        + "Did you mean '--connections'?"
    ),
  ]

  @Test(arguments: cases)
  func `the message says which option, which value, and what is valid`(_ given: Case) async throws {
    let store = folder.path("store")
    let result = await dlstore(["--store", store] + given.words)
    #expect(result.status == .usage)
    // A command in this process says the parser's lines as one, without line feeds.
    let first = result.messages.split { $0 == "\n" || $0 == "\u{FFFD}" }.first ?? ""
    #expect(first.trimmingPrefix("dlstore: ") == given.line)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a setting names its place, its key and what is valid`() async throws {
    let path = try folder.makeFile("c.json", #"{"max-concurrent": "x"}"#)
    let process = try await DLStoreProcess.run(
      "--config",
      path,
      "list",
      store: folder.path("store")
    )
    #expect(process.status == 64)
    #expect(
      process.messages.hasPrefix("dlstore: \(path): max-concurrent: 'x' is not a whole number ")
    )
    let unknown = try folder.makeFile("d.json", #"{"max-concurent": 3}"#)
    let other = try await DLStoreProcess.run("--config", unknown, "list", store: folder.path("s"))
    #expect(
      other.messages
        == "dlstore: \(unknown): there is no setting 'max-concurent'. Did you mean "
        + "'max-concurrent'?\n"
    )
  }

  @Test func `a wrong value of an option with fixed words names the nearest one and lists all`()
    async throws
  {
    for (words, said) in [
      (["list", "--sort", "sise"], "size"), (["list", "--sort", "nmae:desc"], "name"),
      (["list", "--columns", "nam"], "name"), (["list", "--columns", "id,stat"], "state"),
      (["list", "--state", "done"], "completed"), (["purge", "--state", "runing"], "running"),
      (["add", "http://h/x", "--if-exists", "skip"], "keep"),
      (["add", "http://h/x", "--if-exists", "overwrite"], "replace"),
      (["get", "http://h/x", "--preallocate", "falloc"], "full"),
      (["list", "--format", "ndjson"], "jsonl"), (["list", "--color", "yes"], "always"),
      (["list", "--color", "off"], "never"), (["run", "--transport", "url-session"], "urlsession"),
      (["explain", "--stored", "paussed"], "paused"),
    ] {
      let result = await dlstore(words)
      #expect(result.status == .usage)
      let line = String(result.messages.prefix { $0 != "\u{FFFD}" })
      #expect(line.hasSuffix(" Did you mean '\(said)'?"), "\(line)")
      #expect(line.components(separatedBy: said).count > 2, "\(line) lists no values")
    }
  }

  @Test func `fields and columns are named by the titles of the table, in any case`() throws {
    #expect(ListOrder("size:desc") == ListOrder("expected:desc"))
    #expect(ListOrder("NAME") == ListOrder("filename") && ListOrder("Name") != nil)
    #expect(RecordColumn(named: "SIZE") == .expected && RecordColumn(named: "lasterror") != nil)
    #expect(ListOrder("resume") == nil && ListOrder("size:up") == nil)
    let list = try ListCommand.parse(["--columns", "ID,Name,DONE"])
    #expect(list.display.columns == [.id, .filename, .fraction])
  }

  @Test(arguments: [
    ("htp://h/x", "http://h/x"), ("htps://h/x?a=b", "https://h/x?a=b"), ("http:/h/x", "http://h/x"),
    ("http//h/x", "http://h/x"), ("https:h.example/x", "https://h.example/x"),
    ("htttps://h/x", "https://h/x"), ("hhtp://h/x", "http://h/x"), ("ttps://h/x", "https://h/x"),
    ("httsp://h/x", "https://h/x"), ("HTP://h/x", "http://h/x"), ("http;//h/x", "http://h/x"),
    ("https:\\\\h", "https://h"), ("http:///h/x", "http://h/x"),
    ("http:://h/x", "http://h/x"),
    ("htp://h/x?token=hush", "http://h/x?token=•••"),
  ])
  func `a mistyped scheme gets the URL that was probably meant`(
    _ typed: String,
    _ meant: String
  ) async throws {
    let store = folder.path("store")
    for words in [["add", typed], ["add", "http://h/a", "--mirror", typed]] {
      let result = await dlstore(["--store", store] + words)
      #expect(result.status == .usage)
      #expect(result.messages.contains("; did you mean '\(meant)"), "\(result.messages)")
      #expect(!result.messages.contains("hush"))
    }
    let list = try folder.makeFile("urls.txt", "\(typed)\n")
    let result = await dlstore("--store", store, "add", "--input-file", list)
    #expect(result.status == .failed && result.messages.contains("did you mean"))
  }

  @Test(arguments: ["ftp://h/x", "sftp://h/x", "file:///x", "data:,x", "magnet:?xt=1", "nohost/x"])
  func `another scheme gets no suggestion`(_ typed: String) async {
    let result = await dlstore("--store", folder.path("store"), "add", typed)
    #expect(
      result.status == .usage && !result.messages.contains("did you mean"),
      "\(result.messages)"
    )
  }

  @Test func `the path of a file in the place of a URL gets a hint`() async throws {
    let list = try folder.makeFile("urls.txt", "http://h/1\n")
    let result = await dlstore("--store", folder.path("store"), "add", list)
    #expect(result.status == .usage)
    #expect(result.messages.contains("is a file: to download the URLs in it, use --input-file"))
  }

  @Test func `a line of a list that cannot be used is quoted, and others are added`() async throws {
    let list = try folder.makeFile("urls.txt", "http://h/1\nftp://h/2\nhttp://h/4 x\n")
    let result = await dlstore("--store", folder.path("store"), "add", "--input-file", list)
    #expect(result.status == .failed && result.lines.count == 1)
    let why = "does not begin with https:// or http://"
    for (line, message) in [
      (2, "'ftp://h/2' \(why)"),
      (3, "'http://h/4•••' cannot be downloaded: a URL contains no blanks"),
    ] {
      #expect(result.messages.contains("\(list):\(line): \(message)"), "\(result.messages)")
    }
  }

  @Test(arguments: [
    (
      "Error: The value 'a' is invalid for '--x <bytes/s>': 'a' is no rate.",
      "Error: --x: 'a' is no rate."
    ),
    ("Error: The value 'a' is invalid for '--x <colour>'\nUsage: …", nil),
    (
      "Error: The value '' is invalid for '--n <duration>'\nUsage: …",
      "Error: --n: '' is not a duration such as 30s, 5m or 2h.\nUsage: …"
    ),
    ("Error: Unknown option '--y'", nil), ("", nil),
  ])
  func `only messages about the value of an option are changed`(
    _ message: String,
    _ plain: String?
  ) {
    #expect(ParserMessage.plain(message) == plain ?? message)
  }
}
