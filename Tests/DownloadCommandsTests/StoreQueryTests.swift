import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The commands `store models`, `store query` and `store get`.
struct StoreQueryTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func makeNotes(_ notes: SampleNote...) throws {
    try Store(at: store, models: [SampleNote.self]).write { tx in
      for note in notes { try tx.insert(note) }
    }
  }

  private func inspect(_ arguments: String...) async -> CommandResult {
    await dlstore(["--store", store, "store"] + arguments)
  }

  /// The keys of the notes that a query lists, in its order.
  private func ids(_ arguments: String...) async -> [String] {
    let words = ["--store", store, "store", "query", "Note", "--fields", "id", "--format", "csv"]
    return await dlstore(words + arguments).lines.dropFirst().map { $0 }
  }

  @Test(arguments: [["models"], ["query", "Note"], ["get", "Note", "1"]])
  func `no store is created`(arguments: [String]) async {
    #expect(await dlstore(["--store", store, "store"] + arguments).status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `the built tool reads any store`() async throws {
    try makeNotes(SampleNote(id: 1, text: "one"), SampleNote(id: 2, text: "two", rank: 7))
    let query = try await DLStoreProcess.run(
      "store",
      "query",
      "Note",
      "--where",
      "rank=7",
      "--format",
      "jsonl",
      store: store
    )
    #expect(query.status == 0 && query.output == "{\"id\":2,\"text\":\"two\",\"rank\":7}\n")
    let get = try await DLStoreProcess.run("store", "get", "Note", "1", store: store)
    #expect(get.status == 0 && get.output == "id    1\ntext  one\nrank  —\n")
    let unknown = try await DLStoreProcess.run("store", "get", "Note", "3", store: store)
    #expect(unknown.status == 1 && unknown.output.isEmpty)
  }

  @Test func `store models describes fields and indexes`() async throws {
    try makeNotes(SampleNote(id: 1))
    let list = await inspect("models")
    #expect(list.lines.last == "Note         1  id: int64       3  text")
    let fields = await inspect("models", "Note")
    #expect(fields.lines.count == 4 && fields.lines[1].hasPrefix("id     int64"))
    let models = try objects(await inspect("models", "--json").output)
    #expect(models[0]["layout"] as? String == "sequential")
    let index = try #require((models[0]["indexes"] as? [[String: Any]])?.first)
    #expect(index["fields"] as? [String] == ["text"] && index["unique"] as? Bool == false)
    let field = try #require((models[0]["fields"] as? [[String: Any]])?.last)
    #expect(field["name"] as? String == "rank" && field["optional"] as? Bool == true)
  }

  @Test func `filters, order and limit are applied`() async throws {
    try makeNotes(
      SampleNote(id: 3, text: "b", rank: 2),
      SampleNote(id: 1, text: "a"),
      SampleNote(id: 2, text: "b", rank: 9)
    )
    #expect(await ids() == ["3", "1", "2"])
    #expect(await ids("--limit", "2") == ["3", "1"])
    #expect(await ids("--limit", "0") == [])
    #expect(await ids("--limit", "0", "--sort", "id") == [])
    #expect(await ids("--where", "text=b") == ["3", "2"])
    #expect(await ids("--where", "text=b", "--limit", "1") == ["3"])
    #expect(await ids("--where", "text=b", "--where", "rank=9") == ["2"])
    #expect(await ids("--where", "rank=null") == ["1"])
    #expect(await ids("--where", "text=") == [])
    #expect(await ids("--sort", "id") == ["1", "2", "3"])
    #expect(await ids("--sort", "rank:desc") == ["2", "3", "1"])
    #expect(await ids("--sort", "rank") == ["3", "2", "1"])
    #expect(await ids("--sort", "text:desc", "--limit", "2") == ["3", "2"])
  }

  @Test func `every format is valid, also without objects`() async throws {
    try makeNotes(SampleNote(id: 1, text: "a, \"b\""), SampleNote(id: 2))
    let list = try objects(await inspect("query", "Note", "--format", "json").output)
    #expect(list.map { $0["id"] as? Int } == [1, 2])
    #expect(await inspect("query", "Note", "--format", "csv").lines[1] == "1,\"a, \"\"b\"\"\",")
    func empty(_ format: String) async -> String {
      await inspect("query", "Note", "--where", "id=9", "--format", format).output
    }
    #expect(await empty("json") == "[]\n")
    #expect(await empty("jsonl") == "")
    #expect(await empty("csv") == "id,text,rank\n")
    #expect(await empty("table") == "id  text  rank\n")
  }

  @Test func `mistakes in names and values are explained`() async throws {
    try makeNotes(SampleNote(id: 1))
    func fails(
      _ status: CommandLineSupport.ExitStatus,
      _ text: String,
      _ arguments: String...
    ) async {
      let result = await dlstore(["--store", store, "store"] + arguments)
      #expect(result.status == status && result.messages.contains(text), "\(result)")
      #expect(result.output.isEmpty)
    }
    await fails(.failed, "Did you mean 'Note'?", "query", "Notes")
    await fails(.failed, "The models are: Note", "get", "Task", "1")
    await fails(.usage, "Did you mean 'text'?", "query", "Note", "--where", "txt=1")
    await fails(.usage, "Did you mean 'rank'?", "query", "Note", "--sort", "rnk")
    await fails(.usage, "Did you mean 'rank'?", "query", "Note", "--fields", "id,rnk")
    await fails(.usage, "which is of type int64", "query", "Note", "--where", "id=one")
    await fails(.usage, "or null", "query", "Note", "--where", "rank=one")
    await fails(.usage, "write FIELD=VALUE", "query", "Note", "--where", "rank")
    await fails(.usage, "--limit", "query", "Note", "--limit", "-1")
    await fails(.usage, "is not a key of Note", "get", "Note", "one")
  }

  @Test func `the secrets of downloads are shown only on request`() async throws {
    let url = "http://me:hush@a/1?token=hush"
    _ = await dlstore("--store", store, "add", url, "--header", "Authorization: hush2")
    let id = RecordIdentity.id(forURL: url)
    let secret = Data("hush2".utf8).base64EncodedString().prefix(4)
    for format in ["table", "csv", "jsonl"] {
      for model in ["DownloadRecord", "RequestHeaders"] {
        let shown = await inspect("query", model, "--format", format)
        #expect(shown.status == .done)
        // In JSON the primary key is exact.
        let hasKeyOnly = format == "jsonl" && model == "DownloadRecord"
        #expect(shown.output.contains("•••") != hasKeyOnly)
        #expect(!shown.output.replacing("\"url\":\"\(url)\"", with: "").contains("hush"))
        #expect(!shown.output.contains(secret))
      }
    }
    #expect(await inspect("get", "RequestHeaders", id, "--json").output.contains("•••"))
    let revealed = await inspect("get", "RequestHeaders", id, "--json", "--reveal-secrets").output
    #expect(!revealed.contains("•••"))
    #expect(await inspect("get", "DownloadRecord", url, "--reveal-secrets").output.contains("hush"))
    #expect(!(await inspect("get", "DownloadRecord", url + "x").messages.contains("hush")))
  }

  @Test func `texts that control a terminal are shown without their effect`() async throws {
    try makeNotes(SampleNote(id: 1, text: "a\u{1B}[2J\u{202E}b\rc"))
    let query = ["query", "Note", "--format"]
    for arguments in [query + ["table"], query + ["json"], ["get", "Note", "1"]] {
      let text = await dlstore(["--store", store, "store"] + arguments).output
      #expect(text.contains("a") && text.contains("b"))
      #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{202E}", "\r"].contains($0) })
    }
    let exact = await inspect("query", "Note", "--format", "csv").output
    #expect(exact.contains("a\u{1B}[2J\u{202E}b\rc"))
  }

  // MARK: Values

  @Test(
    arguments: [
      ("true", .bool, .bool(true)), ("1", .bool, nil), ("-128", .signed(bits: 8), .signed(-128)),
      ("128", .signed(bits: 8), nil), ("", .signed(bits: 64), nil),
      ("18446744073709551615", .unsigned(bits: 64), .unsigned(.max)),
      ("-1", .unsigned(bits: 8), nil), ("1.5", .double, .double(1.5)), ("x", .double, nil),
      ("-inf", .double, .double(-.infinity)), ("2.5", .float, .float(2.5)),
      ("12.50", .decimal, .decimal(12.5)), ("", .string, .string("")),
      ("null", .string, .string("null")), ("aGk=", .data, .data(Data("hi".utf8))),
      ("hi", .data, nil), ("x", .uuid, nil), ("x", .array(.string), nil),
      ("x", .dictionary(.string, .string), nil),
      ("0", .date, .date(Date(timeIntervalSinceReferenceDate: 0))),
    ] as [(String, FieldType, StoredValue?)]
  )
  func `values are parsed by type`(text: String, type: FieldType, value: StoredValue?) {
    #expect(StoredFieldText.value(text, of: type) == value)
  }

  @Test(arguments: [
    ("2026-01-31", 86_400.0), ("2026-01-31T00:00:00Z", 1), ("2026-01-31T00:00:00.000Z", 0.001),
  ])
  func `a date covers the span of its text`(text: String, span: Double) throws {
    let start = try Date.ISO8601FormatStyle().parse("2026-01-31T00:00:00Z")
    let dates = try #require(StoredFieldText.dates(text))
    #expect(dates.contains(start) && dates.contains(start.addingTimeInterval(span * 0.99)))
    #expect(!dates.contains(start.addingTimeInterval(span)))
    #expect(!dates.contains(start.addingTimeInterval(-0.000_1)))
  }

  @Test(arguments: [
    "", "2026", "2026-01-31T", "2026-13-01", "2026-01-31T00:00:00+02:00", "yesterday",
  ])
  func `a text that is no date is refused`(text: String) {
    #expect(StoredFieldText.dates(text) == nil)
  }

  @Test func `the date that a table shows finds its object`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let words = ["query", "DownloadRecord", "--fields", "createdAt", "--format", "csv"]
    let time = try #require(await dlstore(["--store", store, "store"] + words).lines.last)
    for (text, count) in [(time, 1), ("2001-01-01", 0)] {
      let condition = ["--where", "createdAt=\(text)", "--format", "jsonl"]
      let found = await dlstore(["--store", store, "store", "query", "DownloadRecord"] + condition)
      #expect(found.status == .done && found.lines.count == count)
    }
  }

  // MARK: Order

  @Test(arguments: ["", "x:", "x:up", ":desc", "x:desc:"])
  func `a text that is no order is refused`(text: String) {
    #expect(StoredOrderOption(text) == nil)
  }
}
