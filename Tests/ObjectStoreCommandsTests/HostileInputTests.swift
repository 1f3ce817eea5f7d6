import CommandTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

/// Folders that are no stores, damaged stores, and values that control a terminal.
struct HostileInputTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("store")
  }

  private static let readers = [
    ["models"], ["query", "Note"], ["get", "Note", "1"], ["stats"], ["export"], ["verify"],
    ["repair"], ["compact"], ["migrate"], ["watch"], ["backup", "/nowhere/x"],
    ["import", "--format", "csv", "--model", "Note", "/dev/null"],
  ]

  @Test(arguments: readers)
  func `a missing store is an error, and none is created`(command: [String]) async {
    let result = await objectstore([path] + command)
    #expect(result.status == .notFound && result.output.isEmpty, "\(result)")
    #expect(result.messages.contains("\(path): there is no store here"), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: readers)
  func `another file in the place of a store is an error`(command: [String]) async throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let file = path + "/data.mdb"
    func fails(_ statuses: CommandLineSupport.ExitStatus..., about what: String) async {
      let result = await objectstore([path] + command)
      #expect(statuses.contains(result.status), "\(what): \(result)")
      #expect(result.messages.hasPrefix("objectstore: ") || !result.output.isEmpty, "\(result)")
    }
    #expect(unsafe mkfifo(file, 0o600) == 0)
    await fails(.permissionDenied, about: "a FIFO")
    try FileManager.default.removeItem(atPath: file)
    try Data(repeating: 7, count: 8_192).write(to: URL(filePath: file))
    await fails(.damaged, about: "a text file")
    try FileManager.default.removeItem(atPath: file)
    try Data().write(to: URL(filePath: file))
    await fails(.damaged, .notFound, about: "an empty file")
    let folderItself = await objectstore([file] + command)
    #expect(folderItself.status == .cannotCreate || folderItself.status == .notFound)
  }

  @Test func `a repair that can save nothing does not advise a repair`() async throws {
    let file = URL(filePath: path + "/data.mdb")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(repeating: 7, count: 8_192).write(to: file)
    for words in [["repair"], ["repair", "--into", folder.path("saved")]] {
      let result = await objectstore([path] + words)
      #expect(result.status == .damaged)
      #expect(result.messages.contains("nothing can be saved"), "\(result.messages)")
      #expect(!result.messages.contains("'repair'"), "\(result.messages)")
    }
    #expect(try Data(contentsOf: file).count == 8_192)
  }

  @Test func `a file in the place of a store's folder is named as one`() async throws {
    let file = try folder.makeFile("note", "")
    for command in ["models", "stats", "verify", "compact"] {
      let result = await objectstore(file, command)
      #expect(result.status == .notFound, "\(result.messages)")
      #expect(
        result.messages == "objectstore: \(file) is not a folder; name the folder of a store\n"
      )
    }
  }

  @Test func `a damaged page is reported, and what is readable is saved`() async throws {
    try await Store(at: path, models: [SampleNote.self]).write { tx in
      for id in 1...2_000 { try tx.insert(SampleNote(id: id)) }
    }
    let file = URL(filePath: path + "/data.mdb")
    var bytes = try Data(contentsOf: file)
    // A page of records: overwritten behind the header, which the page check cannot notice.
    let text = Data("the text of note 1000".utf8)
    let place = try #require(bytes.range(of: text))
    bytes.replaceSubrange(place, with: Data(repeating: 0xEE, count: text.count))
    try bytes.write(to: file)
    let verify = await objectstore(path, "verify")
    #expect(verify.status == .damaged && verify.output.contains("record: object"), "\(verify)")
    let json = await objectstore(path, "verify", "--json")
    #expect(json.status == .damaged && json.output.contains("\"valid\": false"))
    let into = await objectstore(path, "repair", "--into", folder.path("saved"))
    #expect(into.status == .done && into.output.contains("lost: 1 object of Note"), "\(into)")
    #expect(await objectstore(folder.path("saved"), "query", "Note", "--count").output == "1999\n")
    let inPlace = await objectstore(path, "repair")
    #expect(inPlace.status == .done && inPlace.output.contains("data.mdb.damaged"), "\(inPlace)")
  }

  @Test func `texts that control a terminal are shown without their effect`() async throws {
    try await Store(at: path, models: [SampleNote.self]).write { tx in
      try tx.insert(SampleNote(id: 1, text: "a\u{1B}[2J\u{202E}b\rc"))
    }
    for arguments in [
      ["query", "Note"], ["query", "Note", "--format", "json"], ["get", "Note", "1"],
      ["query", "Note", "--where", "text=\u{1B}[2J"], ["query", "\u{1B}[2J"],
    ] {
      let result = await objectstore([path] + arguments)
      let shown = (result.output + result.messages).unicodeScalars
      #expect(!shown.contains { ["\u{1B}", "\u{202E}", "\r"].contains($0) }, "\(arguments)")
    }
    let exact = await objectstore(path, "query", "Note", "--format", "csv")
    #expect(exact.output.contains("a\u{1B}[2J\u{202E}b\rc"))
  }

  @Test func `a message repeats only the beginning of a long name in a file`() async throws {
    try await Store(at: path, models: [SampleNote.self]).write { tx in
      try tx.insert(SampleNote(id: 1, text: "one"))
    }
    let lines = await objectstore(path, "export").output
    let name = String(repeating: "n", count: 5_000)
    for (old, new) in [
      (#""name":"Note""#, #""name":"\#(name)""#), (#""model":"Note""#, #""model":"\#(name)""#),
      (#""text":"one""#, #""\#(name)":"one""#),
    ] {
      #expect(lines.contains(old), "\(lines)")
      let file = try folder.makeFile("long.jsonl", lines.replacing(old, with: new))
      let result = await objectstore(folder.path("copy"), "import", file)
      #expect(result.status == .damaged, "\(old)")
      #expect(result.messages.contains("nnn…"), "\(old)")
      #expect(result.messages.utf8.count < 1_000, "\(old)")
    }
  }

  @Test func `a large value is exported and imported`() async throws {
    let text = String(repeating: "é\u{0}\"\\", count: 300_000)
    try await Store(at: path, models: [SampleNote.self]).write { tx in
      try tx.insert(SampleNote(id: 1, text: text))
    }
    let lines = await objectstore(path, "export").output
    let file = try folder.makeFile("large.jsonl", lines)
    #expect(await objectstore(folder.path("copy"), "import", file).output == "objects: 1 added\n")
    let copy = try Store(at: folder.path("copy"), models: [SampleNote.self])
    #expect(try await copy.read { try $0.find(SampleNote.self, key: 1)?.text } == text)
  }

  @Test func `an argument that is not UTF-8 is a usage error`() async throws {
    let result = try await BuiltProcess.run(shell: "objectstore \"$(printf 'a\\377')\" models")
    #expect(result.status == 64 && result.messages.contains("argument 1 is not valid UTF-8"))
  }

  #if os(Linux)
    @Test func `a current folder whose path is not UTF-8 is a usage error`() async throws {
      try await Store(at: path, models: [SampleNote.self]).write { tx in
        try tx.insert(SampleNote(id: 1))
      }
      let result = try await BuiltProcess.run(
        in: folder.path,
        shell: """
          mkdir "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" && objectstore '\(path)' backup copy
          status=$?
          objectstore --help > /dev/null && echo "$status $(ls -A | wc -l)"
          """
      )
      #expect(result.output == "64 0\n")
      #expect(
        result.messages
          == "objectstore: the path of the current folder is not valid UTF-8: change to another folder\n"
      )
    }
  #endif

  @Test func `a closed pipe ends a query quietly`() async throws {
    try await Store(at: path, models: [SampleNote.self]).write { tx in
      for id in 1...5_000 { try tx.insert(SampleNote(id: id)) }
    }
    let result = try await BuiltProcess.run(
      shell: "objectstore '\(path)' query Note --format csv | head -n 1"
    )
    #expect(result.status == 0 && result.output == "id,text,rank\n" && result.messages.isEmpty)
  }
}
