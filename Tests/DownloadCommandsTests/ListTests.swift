import CommandTestSupport
import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The output of `list`, run in this process.
struct ListTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  @Test func `a JSON record has exactly the documented keys, in order`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let line = try #require(
      await dlstore("--store", store, "list", "--format", "jsonl").lines.first
    )
    let record = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    )
    let keys = [
      "attempts", "checksum", "completedAt", "connections", "createdAt", "displayURL", "fileStatus",
      "filename", "folder", "heldByHand", "id", "intent", "keepVersions", "keys", "lastError",
      "limitRate", "localPath", "mirrors", "nextRefreshAt", "nextRetryAt", "notBefore", "priority",
      "progress", "refreshEvery", "resume", "state", "tags", "type", "updatedAt", "url",
    ]
    #expect(record.keys.sorted() == keys)
    let places = keys.map { line.range(of: "\"\($0)\":")?.lowerBound }
    #expect(places == places.sorted { ($0 ?? line.endIndex) < ($1 ?? line.endIndex) })
    for key in ["checksum", "completedAt", "lastError", "localPath", "nextRetryAt", "resume"] {
      #expect(record[key] is NSNull)
    }
    let progress = try #require(record["progress"] as? [String: Any])
    #expect(progress["received"] as? Int == 0)
    #expect(progress["expected"] is NSNull && progress["fraction"] is NSNull)
  }

  @Test func `a JSON record has progress, resume data and the last error`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1?token=secret")
    try change("http://a/1?token=secret") { record in
      record.state = .failedPermanent
      record.received = 25
      record.expected = 100
      record.entityTag = "\"e\""
      record.failedAttempts = 2
      record.attempts = [
        Attempt(
          at: Date(timeIntervalSince1970: 0),
          url: record.url,
          failure: DownloadFailure(.refused, "no \(record.url)"),
          received: 25
        )
      ]
    }
    let text = await dlstore("--store", store, "list", "--format", "json").output
    let record = try #require(try objects(text).first)
    let fraction = (record["progress"] as? [String: Any])?["fraction"] as? Double
    #expect(fraction == 0.25)
    #expect(record["state"] as? String == "failed")
    #expect(record["attempts"] as? Int == 2)
    let resume = try #require(record["resume"] as? [String: Any])
    #expect(resume["kind"] as? String == "range")
    #expect(resume["received"] as? Int == 25)
    #expect(resume["validator"] as? String == "\"e\"")
    #expect(
      record["lastError"] as? [String: String] == [
        "at": "1970-01-01T00:00:00.000Z", "code": "refused", "message": "no http://a/1?token=•••",
      ]
    )
  }

  @Test(arguments: [
    (Int64.min, 1 as Int64?, 0.0), (.max, .max, 1), (.max, 1, 1), (0, .min, 1), (.min, .min, 1),
    (-1, .max, 0),
  ])
  func `extreme numbers in a record are shown`(
    received: Int64,
    expected: Int64?,
    fraction: Double
  ) async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    try change("http://a/1") { record in
      record.received = received
      record.expected = expected
      record.priority = .min
      record.failedAttempts = .max
      record.generation = .max
      record.createdAt = Date(timeIntervalSince1970: -.greatestFiniteMagnitude)
      record.updatedAt = Date(timeIntervalSince1970: .nan)
      record.nextRetryAt = Date(timeIntervalSince1970: .infinity)
    }
    for format in ["table", "json", "jsonl", "csv"] {
      let result = await dlstore("--store", store, "list", "--format", format)
      #expect(result.status == .done, "\(result.messages)")
    }
    for flags in [[], ["--json"]] {
      let result = await dlstore(["--store", store, "inspect", "http://a/1"] + flags)
      #expect(result.status == .done, "\(result.messages)")
    }
    let text = await dlstore("--store", store, "list", "--format", "json").output
    let progress = try #require(try objects(text).first?["progress"] as? [String: Any])
    #expect(progress["fraction"] as? Double == fraction)
    for field in ListOrder.Field.allCases {
      let result = await dlstore("--store", store, "list", "--sort", field.rawValue)
      #expect(result.status == .done)
    }
  }

  @Test func `filters, order and limit are applied`() async {
    for (name, tags) in [("b.zip", ["x"]), ("a.iso", ["x", "y"]), ("c.zip", [])] {
      let tags = tags.flatMap { ["--tag", $0] }
      _ = await dlstore(["--store", store, "add", "http://h/\(name)"] + tags)
    }
    func names(_ arguments: String...) async -> [String] {
      let words = ["--store", store, "list", "--format", "csv"] + arguments
      return await dlstore(words).lines.dropFirst().map { line in
        String(line.split(separator: ",", omittingEmptySubsequences: false)[2])
      }
    }
    #expect(await names() == ["b.zip", "a.iso", "c.zip"])
    #expect(await names("--limit", "2") == ["b.zip", "a.iso"])
    #expect(await names("--limit", "0").isEmpty)
    #expect(await names("--sort", "filename") == ["a.iso", "b.zip", "c.zip"])
    #expect(await names("--sort", "filename:desc", "--limit", "1") == ["c.zip"])
    #expect(await names("--sort", "expected:desc") == ["b.zip", "a.iso", "c.zip"])
    #expect(await names("--tag", "x") == ["b.zip", "a.iso"])
    #expect(await names("--tag", "x", "--tag", "y") == ["a.iso"])
    #expect(await names("--type", "zip") == ["b.zip", "c.zip"])
    #expect(await names("--match", "*.zip", "--tag", "x") == ["b.zip"])
    #expect(await names("--match", "http://h/?.iso") == ["a.iso"])
    #expect(await names("--state", "waiting,failed").count == 3)
    #expect(await names("--state", "completed").isEmpty)
  }

  @Test func `an empty list is valid in every format`() async {
    _ = await dlstore("--store", store, "add", "http://a/1")
    func list(_ format: String) async -> String {
      await dlstore("--store", store, "list", "--tag", "none", "--format", format).output
    }
    #expect(await list("json") == "[]\n")
    #expect(await list("jsonl").isEmpty)
    #expect(await list("csv") == RecordColumn.csv.map(\.rawValue).joined(separator: ",") + "\n")
    #expect(await list("table") == "ID  STATE  DONE  RECEIVED  SIZE  FILE  NAME  URL\n")
  }

  @Test func `columns are chosen by the name of a field or a title`() async {
    _ = await dlstore("--store", store, "add", "http://a/1", "--tag", "x", "--tag", "y")
    func list(_ arguments: String...) async -> String {
      await dlstore(["--store", store, "list"] + arguments).output
    }
    #expect(await list("--columns", "name,tags,size") == "NAME  TAGS  SIZE\n1     x y      —\n")
    #expect(await list("--columns", "filename,state", "--no-header") == "1  waiting\n")
    #expect(
      await list("--format", "csv", "--columns", "priority,filename,expected")
        == "priority,filename,expected\n0,1,\n"
    )
    #expect(
      await list("--format", "csv", "--no-header", "--columns", "done,fileStatus") == ",absent\n"
    )
  }

  @Test(arguments: ["nonsense", "", "id,,url", "Nmae"])
  func `an error about an unknown column lists all columns`(columns: String) async {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let result = await dlstore("--store", store, "list", "--columns", columns)
    #expect(result.status == .usage)
    for column in RecordColumn.allCases { #expect(result.messages.contains(column.rawValue)) }
    #expect(result.messages.contains("size"))
  }

  @Test func `every field of the JSON record is a column`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let record = try #require(
      try objects(await dlstore("--store", store, "list", "--format", "json").output).first
    )
    for key in record.keys { #expect(RecordColumn(named: key) != nil, "\(key)") }
  }

  @Test(arguments: [["--columns", "id"], ["--no-header"]], ["json", "jsonl"])
  func `JSON has no columns to choose and no header`(
    option: [String],
    format: String
  ) async {
    let result = await dlstore(["--store", store, "list", "--format", format] + option)
    #expect(result.status == .usage)
  }

  @Test func `byte counts are exact on request`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    try change("http://a/1") { record in
      record.received = 1_234_567
      record.expected = 2_345_678
    }
    let rounded = await dlstore("--store", store, "list", "--columns", "received,size")
    #expect(rounded.lines.last == " 1.2 MiB  2.2 MiB")
    let exact = await dlstore("--store", store, "list", "--columns", "received,size", "--bytes")
    #expect(exact.lines.last == " 1234567  2345678")
  }

  @Test(arguments: ["json", "jsonl", "csv"])
  func `only tables are colored`(format: String) async {
    _ = await dlstore("--store", store, "add", "http://a/1", "--paused")
    func list(_ format: String) async -> String {
      await dlstore("--store", store, "list", "--color", "always", "--format", format).output
    }
    #expect(await !list(format).contains("\u{1B}"))
    #expect(await list("table").contains("\u{1B}[33mpaused\u{1B}[0m"))
  }

  @Test(arguments: ["table", "csv", "json", "jsonl"])
  func `list shows no secret except the key in JSON`(format: String) async {
    let url = "http://me:hush@a/1?X-Amz-Signature=hush"
    _ = await dlstore(
      "--store",
      store,
      "add",
      url,
      "--mirror",
      "http://m/1?token=hush2",
      "--header",
      "Authorization: hush3"
    )
    let text = await dlstore("--store", store, "list", "--format", format).output
    #expect(text.contains("•••"))
    #expect(!text.replacing("\"url\":\"\(url)\"", with: "").contains("hush"))
  }
}
