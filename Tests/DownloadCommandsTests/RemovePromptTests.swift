import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

#if os(Linux)
  /// Commands that ask on a terminal before they change several downloads.
  @Suite(.timeLimit(.minutes(10)))
  struct RemovePromptTests {
    private let folder: TemporaryFolder
    private let store: RecordStore

    init() throws {
      folder = try TemporaryFolder()
      store = try RecordStore(at: folder.path("store"))
      let urls = ["http://h.example/1", "http://h.example/2"]
      _ = try store.addNow(urls.map { DownloadRequest(url: $0) })
    }

    private func start(_ arguments: String..., on terminal: PseudoTerminal) throws -> DLStoreProcess
    {
      try DLStoreProcess(arguments, store: store.path, in: folder.path, input: terminal.handle)
    }

    private func count() throws -> Int { try store.records(DownloadRecord.all).count }

    @Test(arguments: [("y\n", 0, 0), ("yes\n", 0, 0), ("n\n", 1, 2), ("\n", 1, 2), ("\u{4}", 1, 2)])
    func `remove asks, and removes only after yes`(
      answer: String,
      status: Int32,
      left: Int
    ) async throws {
      let terminal = try PseudoTerminal()
      let remove = try start("remove", "--all", on: terminal)
      try await remove.message("Remove these 2 downloads? [y/N] ")
      for id in try store.records(DownloadRecord.all).map(\.id) {
        #expect(remove.messages.contains("  \(id)  "))
      }
      #expect(try count() == 2)
      terminal.press(answer)
      #expect(try await remove.status() == status)
      #expect(try count() == left)
      if left > 0 { #expect(remove.messages.hasSuffix("dlstore: nothing was changed\n")) }
    }

    @Test func `Ctrl-C at the prompt removes nothing`() async throws {
      let terminal = try PseudoTerminal()
      let remove = try start("remove", "1", "2", on: terminal)
      try await remove.message("Remove these 2 downloads? [y/N] ")
      remove.send(SIGINT)
      #expect(try await remove.status() == 130)
      #expect(try count() == 2)
    }

    @Test func `the question says what is deleted`() async throws {
      let finished = folder.path("store/files/1")
      try FileManager.default.createDirectory(
        atPath: folder.path("store/files"),
        withIntermediateDirectories: true
      )
      try Data("12345".utf8).write(to: URL(filePath: finished))
      try await store.objects.write { tx in
        var record = try #require(try tx.find(DownloadRecord.self, key: "http://h.example/1"))
        record.state = .completed
        record.fileIdentity = FileIdentity(ofFileAt: finished)
        try tx.upsert(record)
      }
      let terminal = try PseudoTerminal()
      let remove = try start("remove", "--all", "--with-files", on: terminal)
      try await remove.message("Remove these 2 downloads, and delete 1 file, 5 bytes? [y/N] ")
      terminal.press("n\n")
      #expect(try await remove.status() == 1)
      #expect(FileManager.default.fileExists(atPath: finished))
    }

    @Test func `one download is removed without a question`() async throws {
      let terminal = try PseudoTerminal()
      let remove = try start("remove", "1", on: terminal)
      #expect(try await remove.status() == 0)
      #expect(try count() == 1 && !remove.messages.contains("[y/N]"))
    }
  }
#endif
