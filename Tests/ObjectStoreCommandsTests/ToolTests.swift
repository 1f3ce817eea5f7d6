import CommandTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

/// The commands of `objectstore`, on stores with models of every kind.
struct ToolTests {
  private let folder: TemporaryFolder
  private let path: String
  private static let models: [any Model.Type] = [SampleShelf.self, SamplePage.self]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("store")
  }

  private func makeShelves() throws {
    var first = SampleShelf(1, "atlas", height: 30, load: 1.5, tags: ["a", "b"])
    first.rows = ["x", "y"]
    first.counts = ["k": 7]
    first.at = Date(timeIntervalSince1970: 1_769_846_400)
    let shelves = [
      first, SampleShelf(2, "bible", height: 20, load: -2, tags: ["b"]),
      SampleShelf(3, "atoms", height: 10, load: 0, tags: []),
    ]
    try Store(at: path, models: Self.models).write { tx in
      for shelf in shelves { try tx.insert(shelf) }
      try tx.insert(SamplePage("http://h/1", shelf: 1, bytes: Data([0xFF, 0x00])))
      try tx.insert(SamplePage("http://h/2"))
    }
  }

  private func ids(_ arguments: String...) async -> [String] {
    let words = [path, "query", "Shelf", "--fields", "id", "--format", "csv"]
    return await objectstore(words + arguments).lines.dropFirst().map { $0 }
  }

  private func expect(
    _ status: CommandLineSupport.ExitStatus,
    _ text: String,
    _ arguments: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let result = await objectstore(arguments)
    #expect(result.status == status, "\(result)", sourceLocation: sourceLocation)
    #expect(result.messages.contains(text), "\(result)", sourceLocation: sourceLocation)
    #expect(result.output.isEmpty, "\(result)", sourceLocation: sourceLocation)
  }

  // MARK: Arguments

  @Test(arguments: [
    (["notes", "query", "Note"], ["query", "notes", "Note"]),
    (["query", "notes", "Note"], ["query", "notes", "Note"]),
    (["notes"], ["models", "notes"]), (["notes", "--json"], ["models", "notes", "--json"]),
    (["./query", "stats"], ["stats", "./query"]), (["query"], ["query"]), ([], []),
    (["--help"], ["--help"]), (["help", "query"], ["help", "query"]),
    (["notes", "qurey", "Note"], ["qurey", "notes", "Note"]),
    (["qurey", "folder"], ["qurey", "folder"]), (["qurey", "x"], ["x", "qurey"]),
  ])
  func `the folder may come before or after the command`(words: [String], arranged: [String]) {
    let commands = ObjectStoreCommand.commandNames
    #expect(commands.isSuperset(of: ["query", "models", "watch", "help"]))
    let result = FolderFirst.arranged(words, commands: commands) { $0 == "folder" }
    #expect(result == arranged)
  }

  @Test func `a command that does not exist is answered with the nearest one`() async throws {
    try makeShelves()
    await expect(.usage, "There is no command 'qurey'. Did you mean 'query'?", path, "qurey")
    await expect(.usage, "There is no command 'stat'. Did you mean 'stats'?", "stat", path)
    await expect(.usage, "Did you mean '--where'?", path, "query", "Shelf", "--wher", "id=1")
  }

  @Test func `help, the version and the models need no command`() async throws {
    try makeShelves()
    let help = await objectstore("--help")
    #expect(help.status == .done && help.output.contains("READING SUBCOMMANDS:"))
    let version = await objectstore("--version")
    #expect(version.output == "objectstore \(Version.number)\n")
    let models = await objectstore("models", path)
    #expect(await objectstore(path) == models)
    #expect(await objectstore(path, "query", "--help").output.contains("objectstore query"))
  }

  // MARK: Reading

  @Test func `models describes fields, indexes, columns and layouts`() async throws {
    try makeShelves()
    let list = await objectstore(path, "models")
    #expect(list.lines[1] == "Page         2  url: string       3  shelf")
    #expect(list.lines[2] == "Shelf        3  id: int64         9  name tags at")
    let fields = await objectstore(path, "models", "Shelf")
    #expect(fields.lines.contains { $0.hasPrefix("height") && $0.contains("column") })
    #expect(
      fields.lines.contains { $0.hasPrefix("counts") && $0.contains("dictionary<string,int64>") }
    )
    let json = await objectstore(path, "models", "--json").output
    let models = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
    )
    #expect(models.map { $0["layout"] as? String } == ["byKey", "sequential"])
  }

  @Test(arguments: [
    ("id=2", ["2"]), ("id!=2", ["1", "3"]), ("height<20", ["3"]), ("height<=20", ["2", "3"]),
    ("height>20", ["1"]), ("height>=20", ["1", "2"]), ("load<0", ["2"]),
    ("load>=-0.0", ["1", "3"]),
    ("name~to", ["3"]), ("name^=at", ["1", "3"]), ("name~", ["1", "2", "3"]), ("name>=b", ["2"]),
    ("name<atlasx", ["1"]), ("tags=b", ["1", "2"]), ("tags!=a", ["2", "3"]), ("rows=x", ["1"]),
    ("at=2026-01-31", ["1"]), ("at>=2026-01-31", ["1"]), ("at>2026-01-31", []),
    ("at<=2026-01-31", ["1"]), ("at<2026-01-31", []), ("at=null", ["2", "3"]),
    ("at!=null", ["1"]), ("at!=2026-01-30", ["1"]), ("at<2027-01-01", ["1"]),
  ])
  func `conditions compare values, and no order finds a missing one`(
    condition: String,
    expected: [String]
  ) async throws {
    try makeShelves()
    #expect(await ids("--where", condition) == expected)
    let count = await objectstore(path, "query", "Shelf", "--where", condition, "--count")
    #expect(count.output == "\(expected.count)\n")
  }

  @Test func `conditions, order and limit combine`() async throws {
    try makeShelves()
    #expect(
      await ids("--where", "height>=10", "--where", "tags=b", "--sort", "load") == ["2", "1"]
    )
    #expect(await ids("--where", "name>=a", "--limit", "2") == ["1", "2"])
    #expect(await ids("--where", "name^=a", "--sort", "height", "--limit", "1") == ["3"])
    #expect(await objectstore(path, "query", "Shelf", "--count", "--limit", "2").output == "2\n")
    #expect(await objectstore(path, "query", "Page", "--count").output == "2\n")
  }

  @Test func `values of every kind are shown`() async throws {
    try makeShelves()
    let shelf = await objectstore(path, "get", "Shelf", "1", "--json").output
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(shelf.utf8)) as? [String: Any]
    )
    #expect(
      object["tags"] as? [String] == ["a", "b"] && object["rows"] as? [String] == ["x", "y"]
    )
    #expect(object["counts"] as? [String: Int] == ["k": 7])
    let text = await objectstore(path, "get", "Shelf", "1").lines
    #expect(text.contains("at      2026-01-31T08:00:00.000Z") && text.contains("size    4 bytes"))
    let page = await objectstore(path, "query", "Page", "--where", "shelf=1", "--format", "csv")
    #expect(page.output == "url,shelf,bytes\nhttp://h/1,1,/wA=\n")
    #expect(await objectstore(path, "get", "Page", "http://h/2").status == .done)
    await expect(.failed, "Page has no object with the key 'x'", path, "get", "Page", "x")
  }

  @Test func `mistakes in names, values and operators are explained`() async throws {
    try makeShelves()
    let query = [path, "query", "Shelf", "--where"]
    await expect(.failed, "Did you mean 'Shelf'?", path, "query", "Shelv")
    await expect(
      .usage,
      "Did you mean 'height'?",
      query[0],
      query[1],
      query[2],
      query[3],
      "heigt=1"
    )
    for (condition, text) in [
      ("height=tall", "which is of type int64"), ("height~1", "'~' does not apply to height"),
      ("tags<b", "'<' does not apply to tags"), ("size=x", "which is of type"),
      ("height", "is not a condition"), ("=1", "is not a condition"), ("height=", "a whole number"),
    ] {
      let result = await objectstore(query + [condition])
      #expect(result.status == .usage && result.messages.contains(text), "\(condition): \(result)")
    }
  }

  // MARK: Copying and maintenance

  @Test func `an export is imported into an equal store`() async throws {
    try makeShelves()
    let file = folder.path("all.jsonl")
    #expect(await objectstore(path, "export", "-o", file).status == .done)
    await expect(.cannotCreate, "already exists", path, "export", "-o", file)
    let copy = folder.path("copy")
    #expect(await objectstore(copy, "import", file).output == "objects: 5 added\n")
    let exported = await objectstore(path, "export")
    // The numbers of objects that are stored by key differ between stores, and so does their order.
    let copied = await objectstore(copy, "export")
    func objects(_ result: CommandResult) -> [String] {
      result.lines.map { $0.replacing(/"object":\d+/, with: "") }.sorted()
    }
    #expect(objects(copied) == objects(exported))
    let shelves = await objectstore(path, "export", "--model", "Shelf")
    #expect(shelves.lines.count == exported.lines.count - 2)
    let again = await objectstore(copy, "import", file, "--if-known", "replace")
    #expect(again.output == "objects: 0 added, 5 unchanged\n")
    #expect(await objectstore(copy, "verify").output.hasSuffix("5 objects: no problems\n"))
  }

  @Test func `stats, backup, compact and repair work on any store`() async throws {
    try makeShelves()
    let stats = await objectstore(path, "stats")
    #expect(stats.lines.contains { $0.hasPrefix("Shelf") } && !stats.output.contains("engine"))
    let copy = folder.path("copy")
    #expect(await objectstore(path, "backup", copy, "--compact").status == .done)
    #expect(await objectstore(copy, "query", "Shelf", "--count").output == "3\n")
    await expect(.cannotCreate, "already exists", path, "backup", copy)
    #expect(await objectstore(copy, "compact").output.hasPrefix("saved "))
    #expect(await objectstore(copy, "repair").output.hasSuffix("5 objects: no problems\n"))
    let saved = await objectstore(path, "repair", "--into", folder.path("saved"))
    #expect(saved.lines.first == "repaired: copied 5 objects into a new file", "\(saved)")
    #expect(saved.status == .done && !saved.output.contains("damaged file"))
  }

  @Test func `a store that another process has open is not compacted`() async throws {
    try makeShelves()
    let store = try Store(at: path, models: Self.models)
    let result = try await BuiltProcess.run(path, "compact")
    #expect(result.status == 1 && result.messages.contains("another process has"), "\(result)")
    withExtendedLifetime(store) {}
  }

  // MARK: Watching

  @Test func `watch prints the commits of other processes until it is stopped`() async throws {
    try makeShelves()
    let watch = try BuiltProcess(program: "objectstore", [path, "watch"], in: "/")
    let store = try Store(at: path, models: Self.models)
    // The process does not say when it has begun, so write until it has seen a commit.
    try await watch.wait {
      _ = try? store.write { tx in try tx.update(SampleShelf.self, key: 3) { $0.load += 1 } }
      return !watch.output.isEmpty || !watch.isRunning
    }
    try await store.write { tx in
      try tx.insert(SampleShelf(10, "new"))
      try tx.update(SampleShelf.self, key: 1) { $0.load = 9 }
    }
    try await store.write { tx in
      _ = try tx.delete(SampleShelf.self, key: 10)
      try tx.insert(SamplePage("http://h/9"))
    }
    try await store.write { tx in try tx.upsert(SamplePage("http://h/9", shelf: 2)) }
    try await watch.wait { watch.output.contains("Page  updated") || !watch.isRunning }
    watch.send(SIGINT)
    #expect(try await watch.status() == 0, "\(watch.messages)")
    let lines = watch.output.split(separator: "\n").suffix(4)
      .map { $0.drop { $0.isNumber }.trimmingCharacters(in: .whitespaces) }
    #expect(
      lines == [
        "Shelf  inserted 10  updated 1 (load)", "Page  inserted http://h/9", "Shelf  deleted 10",
        "Page  updated http://h/9 (shelf)",
      ],
      "\(watch.output)"
    )
  }

  @Test func `a commit in JSON has the keys of its objects`() throws {
    let commit = StoredCommit(
      number: 7,
      changes: [
        StoredCommit.Changes(
          model: "Shelf",
          inserted: [.signed(1)],
          updated: [StoredCommit.Update(key: .signed(2), fields: ["name"])],
          deleted: [.signed(3)]
        ), StoredCommit.Changes(model: "Page", coversAllObjects: true),
      ]
    )
    #expect(
      CommitLines(commit, models: ["Shelf"]).json.text
        == #"{"commit":7,"changes":[{"model":"Shelf","anyObject":false,"inserted":[1],"#
        + #""updated":[{"key":2,"fields":["name"]}],"deleted":[3]}]}"#
    )
    #expect(CommitLines(commit, models: ["Page"]).text == "7  Page  any object\n")
    #expect(CommitLines(commit, models: ["Other"]).isEmpty)
  }
}
