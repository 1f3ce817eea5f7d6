import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// `--key`, and what shows and takes a key.
@Suite(.timeLimit(.minutes(10)))
struct KeyOptionTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 300_000, seed: 7)

  init() throws {
    fixture = try ToolFixture()
  }

  @Test func `two URLs with one key are one download, which each command finds by the key`()
    async throws
  {
    server.route("/b", Resource(body))
    let first = try await dlstore("add", server.url("/a"), "--key", "model@v1", "-o", "model.bin")
    #expect(first.status == 0 && first.output.contains("new"))
    let get = try await dlstore("get", server.url("/b"), "--key", "model@v1", "-o", "-")
    #expect(get.status == 0, "\(get.messages)")
    let list = try await dlstore("list", "--format", "json")
    #expect(list.output.contains(#""keys":["model@v1"]"#), "\(list.output)")
    #expect(list.output.components(separatedBy: #""id":"#).count == 2)
    for arguments in [["inspect"], ["cat"], ["list"], ["remove"]] {
      let process = try DLStoreProcess(arguments + ["model@v1"], store: store, in: folder.path)
      #expect(try await process.status() == 0, "\(arguments): \(process.messages)")
    }
  }

  @Test func `a key survives an export and an import`() async throws {
    #expect(try await dlstore("add", server.url("/a"), "--key", "k", "--paused").status == 0)
    #expect(try await dlstore("export", "-o", folder.path("all.jsonl")).status == 0)
    let new = folder.path("new")
    let imported = try await DLStoreProcess.run("import", folder.path("all.jsonl"), store: new)
    #expect(imported.status == 0, "\(imported.messages)")
    #expect(try RecordStore(at: new, access: .readOnly).record(matching: "k").keys == ["k"])
  }

  @Test func `an imported record loses a key that another one has`() async throws {
    #expect(try await dlstore("add", server.url("/a"), "--key", "k", "--paused").status == 0)
    #expect(try await dlstore("export", "-o", folder.path("all.jsonl")).status == 0)
    let new = folder.path("new")
    let added = try await DLStoreProcess.run(
      "add",
      server.url("/other"),
      "--key",
      "k",
      "--paused",
      store: new
    )
    #expect(added.status == 0)
    let imported = try await DLStoreProcess.run("import", folder.path("all.jsonl"), store: new)
    #expect(imported.status == 0, "\(imported.messages)")
    let message = "left out the key 'k' of \(server.url("/a")): another download has it"
    #expect(imported.messages.contains(message), "\(imported.messages)")
    #expect(!imported.messages.contains("another id or file name"))
    let records = try RecordStore(at: new, access: .readOnly).records()
    #expect(records.count == 2)
    #expect(records.first { $0.url == server.url("/a") }?.keys == [])
  }

  @Test func `a wrong use of --key says what to do`() async throws {
    let two = try await dlstore("add", server.url("/a"), server.url("/b"), "--key", "k")
    #expect(two.status == 64 && two.messages.contains("--key requires exactly one URL"))
    let empty = try await dlstore("add", server.url("/a"), "--key", "")
    #expect(empty.status == 64 && empty.messages.contains("1 to 1024 bytes"), "\(empty.messages)")
    let md5 = ["9e107d9d372bb6826bd81d3542a419d6", "00000000000000000000000000000000"]
    let known = try await dlstore("add", server.url("/a"), "--key", "k", "--checksum", md5[0])
    #expect(known.status == 0)
    let other = try await dlstore("add", server.url("/b"), "--key", "k", "--checksum", md5[1])
    #expect(other.status == 1 && other.messages.contains("requires md5:9e10"), "\(other.messages)")
    let taken = try await dlstore("add", server.url("/a"), "--key", "other")
    #expect(taken.status == 1 && taken.messages.contains("has another key or digest"))
  }

  @Test func `get with another key and checksum downloads another file of a known URL`()
    async throws
  {
    func digest(_ body: Body) -> String {
      var hasher = DigestHasher(.sha256)
      hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
      return hasher.digest.text
    }
    let url = server.url("/x")
    server.route("/x", Resource(body))
    let files = folder.path("files")
    let words = ["get", url, "--key", "a", "--checksum", digest(body), "--output-folder", files]
    let process = try DLStoreProcess(words, store: store, in: folder.path)
    #expect(try await process.status() == 0, "\(process.messages)")
    let newer = Body.generated(byteCount: 200_000, seed: 8)
    server.route("/x", Resource(newer, etag: "\"2\""))
    let other = folder.path("other")
    let second = try await dlstore(
      "get",
      url,
      "--key",
      "b",
      "--checksum",
      digest(newer),
      "--refresh",
      "--output-folder",
      other
    )
    #expect(second.status == 0, "\(second.messages)")
    #expect(body.matches(file: "\(files)/x") && newer.matches(file: "\(other)/x"))
    let third = try await dlstore("get", url, "--key", "c", "--output-folder", folder.path("c"))
    #expect(third.status == 1, "\(third.messages)")
    #expect(third.messages.contains("has another key or digest"), "\(third.messages)")
  }
}
