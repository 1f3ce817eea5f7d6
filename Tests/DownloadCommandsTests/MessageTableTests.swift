import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The situations in which people read a message, each with the test that shows it.
///
/// A situation that is easy to make is one of ``MessageTableTests/rows``; the others need a server, a
/// terminal, a second process or another user, and have a test elsewhere.
struct MessageTableTests {
  /// A situation: words after `dlstore`, and what the tool says.
  struct Row: Sendable, CustomTestStringConvertible {
    var number: Int
    var words: [String]
    var status: CommandLineSupport.ExitStatus
    var says: String

    init(
      _ number: Int,
      _ words: String...,
      status: CommandLineSupport.ExitStatus = .usage,
      says: String
    ) {
      (self.number, self.words, self.status, self.says) = (number, words, status, says)
    }

    var testDescription: String { "\(number): \(words.joined(separator: " "))" }
  }

  /// The store has the downloads `http://h/a`, which is complete, and `http://h/b` to `http://h/r`.
  static let rows = [
    Row(
      45,
      "pause",
      "zzzz",
      status: .failed,
      says: "no download has the URL, the id, the key or the file name 'zzzz'"
    ),
    Row(46, "pause", "b", status: .done, says: ""),
    Row(
      48,
      "add",
      "http://h/taken",
      "-o",
      "b",
      "--if-exists",
      "fail",
      status: .failed,
      says: "/b' is already taken by a download or a file; choose another name"
    ),
    Row(
      49,
      "add",
      "http://h/a",
      "-o",
      "other",
      says: "'http://h/a' is known as "
    ),
    Row(
      51,
      "pause",
      "--all",
      "--tag",
      "x",
      says: "Pass only one of these: names of downloads, options that select them, --all."
    ),
    Row(
      52,
      "pause",
      "--tag",
      "nosuch",
      status: .failed,
      says: "no download with --tag 'nosuch' exists"
    ),
    Row(
      53,
      "get",
      "http://h/x",
      "--conections",
      "3",
      says: "Unknown option '--conections'. Did you mean '--connections'?"
    ),
    Row(
      54,
      "get",
      "http://h/x",
      "--retries",
      "3",
      says: "Unknown option '--retries': use --max-attempts N."
    ),
    Row(
      54,
      "get",
      "http://h/x",
      "--user",
      "me",
      says: "Unknown option '--user': use --netrc, or --header 'Authorization: …'."
    ),
    Row(
      54,
      "get",
      "http://h/x",
      "--dir",
      "/proc/none/x",
      status: .cannotCreate,
      says: "/proc/none"
    ),
    Row(
      54,
      "get",
      "http://h/x",
      "--force",
      says: "Unknown option '--force': use --if-exists replace. This works: 'dlstore "
    ),
    Row(
      54,
      "get",
      "http://h/x",
      "--insecure",
      says: "--ca-certificate"
    ),
    Row(
      55,
      "http://h/x",
      says: "There is no command 'http://h/x'. Did you mean 'dlstore get "
    ),
    Row(
      56,
      "start",
      says: "There is no command 'start'. Did you mean 'run' (the engine) or 'resume' (a download)?"
    ),
    Row(
      57,
      "add",
      "h.example/x",
      status: .done,
      says: "h.example/x is taken as https://h.example/x"
    ),
    Row(
      57,
      "add",
      "nohost",
      says: "'nohost' cannot be downloaded: it does not begin with https:// or http://"
    ),
    Row(
      58,
      "add",
      "http://h/a b",
      says: "a URL contains no blanks or control characters; write %20 for a blank"
    ),
    Row(
      59,
      "get",
      "http://h/x",
      "--timeout",
      "soon",
      says: "--timeout: 'soon' is not a duration such as 30s, 5m or 2h."
    ),
    Row(
      60,
      "get",
      "http://h/x",
      "--limit-rate",
      "fast",
      says: "--limit-rate: 'fast' is not a number of bytes such as 500K, 1.5M or 2MiB."
    ),
    Row(
      60,
      "limit",
      "fast",
      says: "'fast' is not a number of bytes such as 500K, 1.5M or 2MiB, or none."
    ),
    Row(
      61,
      "get",
      "http://h/x",
      "--checksum",
      "sha256:123",
      says: "'sha256:123' is not a digest: sha256 has 64 digits, and this has 3"
    ),
    Row(
      62,
      "get",
      "http://h/x",
      "--priority",
      "high",
      says: "--priority: 'high' is not a whole number from -2147483648 to 2147483647."
    ),
    Row(
      63,
      "get",
      "http://h/x",
      "--header",
      "Foo",
      says: "a header field must have the form 'Name: value'"
    ),
    Row(
      70,
      "purge",
      "--state",
      "waiting",
      says: "standard input is not a terminal: pass --yes to remove, or --dry-run to preview"
    ),
  ]

  /// The situations with a test elsewhere, by the name of that test.
  static let others: [Int: String] = [
    1: "a host that does not exist is named, and is asked twice",
    2: "a host that does not exist is named, and is asked twice",
    3: "a refused connection is tried twice, and others do not wait longer",
    4: "a proxy that cannot be reached is named",
    5: "a proxy that cannot be reached is named",
    6: "the message says which option, which value, and what is valid",
    7: "the reason why a certificate is rejected is named, and nothing is sent to the server",
    8: "the reason why a certificate is rejected is named, and nothing is sent to the server",
    9: "a certificate of another host is named for a host with a name",
    10: "a failure reads as with the other transport",
    11: "a failure says what happened and what to do",
    12: "a failure says what happened and what to do",
    13: "the login of a URL is sent",
    14: "a failure says what happened and what to do",
    15: "a failure says what happened and what to do",
    16: "a failure says what happened and what to do",
    17: "the message of a status says what it means, with its number and name",
    18: "a refused request for the whole file has its own sentence",
    19: "a failure says what happened and what to do",
    20: "a failure says what happened and what to do",
    21: "the wait that a server asks for is named and kept",
    22: "a server that has answered is tried again, with the number of attempts",
    23: "a silent server is told apart, with the time that was waited",
    24: "a silent server is told apart, with the time that was waited",
    25: "a resumed attempt says at which byte",
    26: "a failure says what happened and what to do",
    27: "a server that breaks off says so, and the next attempt has its byte",
    28: "bytes that cannot be continued are named, with the reason",
    29: "a failure says what happened and what to do",
    30: "a circle of redirects names its last URL",
    31: "a wrong checksum names both, and what to do",
    32: "a full disk is named once, with what to do",
    33: "a full disk is named once, with what to do",
    34: "a folder of another user is named before the request",
    35: "a folder that cannot be created",
    36: "a store of another user is named, with what to do",
    37: "a store on a read-only file system can be listed but not changed",
    38: "a missing store",
    39: "run --until-idle of a missing store is an error, and creates none",
    40: "a second engine is refused, and the error names the first",
    41: "get waits for the engine of a service, and ends with the results",
    42: "a damaged data file",
    43: "an empty data file",
    44: "a file in the place of a store",
    47: "an ambiguous name is listed with the downloads that it may mean",
    50: "a download that another command pauses ends the waiting",
    64: "a line of a list that cannot be used is quoted, and others are added",
    65: "an error in the file names the file, the key and what is expected",
    66: "a setting names its place, its key and what is valid",
    67: "an import of another file",
    68: "a document on a host that does not exist",
    69: "a backup to a name that exists, or without a parent",
    71: "a signal stops get cleanly, and the next get resumes the download",
    72: "a completed download says where it is, how long it took, and whether it is correct",
    73: "many downloads end with the counts, the bytes, the time, and each failure",
    74: "inspect says what happened, and what to do",
    75: "a store without active downloads has nothing to reconcile",
    76: "every decision of the rule table has a sentence",
  ]

  @Test(arguments: rows)
  func `the tool says what happened, to what, and what to do`(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let urls = "abcdefghijklmnopqr".map { "http://h/\($0)" }
    let records = try {
      let opened = try RecordStore(at: store)
      _ = try opened.addNow(urls.map { DownloadRequest(url: $0) })
      try opened.objects.write { tx in
        _ = try tx.update(DownloadRecord.self, key: urls[0]) { $0.state = .completed }
      }
      return try opened.records(DownloadRecord.all)
    }()
    let result = await dlstore(["--store", store] + row.words)
    #expect(result.status == row.status, "\(result.messages)")
    #expect(result.messages.contains(row.says) || row.says.isEmpty, "\(result.messages)")
    #expect(!result.messages.contains("Error(") && !result.messages.contains("mdb_"))
    #expect(records.count == urls.count)
  }

  @Test func `each situation has a test`() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<2 { root.deleteLastPathComponent() }
    var names: Set<String> = []
    for target in ["DownloadCommandsTests", "TransportTests", "DownloadSyncTests"] {
      let files = FileManager.default.enumerator(atPath: root.appending(path: target).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        let path = root.appending(path: "\(target)/\(file)")
        let parts = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "func `")
        names.formUnion(parts.dropFirst().compactMap { $0.components(separatedBy: "`").first })
      }
    }
    let own = Set(Self.rows.map(\.number))
    #expect(own.union(Self.others.keys) == Set(1...76))
    for (number, name) in Self.others {
      #expect(names.contains(name), "\(number): there is no test '\(name)'")
    }
  }
}
