import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

#if os(Linux)
  /// `purge` with a confirmation prompt on a terminal.
  @Suite(.timeLimit(.minutes(10)))
  struct PurgePromptTests {
    private let folder: TemporaryFolder
    private let store: RecordStore
    private let records: [DownloadRecord]

    init() throws {
      folder = try TemporaryFolder()
      store = try RecordStore(at: folder.path("store"))
      let urls = ["http://h.example/1", "http://h.example/2"]
      records = try store.addNow(urls.map { DownloadRequest(url: $0) }).map(\.record)
      let roots = try store.roots()
      for record in records {
        let layout = try roots.layout(of: record)
        try FileManager.default.createDirectory(
          atPath: layout.folderPath,
          withIntermediateDirectories: true
        )
        try Data("12345".utf8).write(to: URL(filePath: layout.partialPath))
      }
      try store.objects.write { tx in
        for url in urls {
          _ = try tx.update(DownloadRecord.self, key: url) { record in
            record.state = .failedPermanent
            record.received = 5
          }
        }
      }
    }

    private func exists(_ record: DownloadRecord) throws -> Bool {
      let path = try store.roots().layout(of: record).partialPath
      return FileManager.default.fileExists(atPath: path)
    }

    @Test func `a download resumed during the prompt is kept`() async throws {
      let terminal = try PseudoTerminal()
      let purge = try DLStoreProcess(
        ["purge", "--state", "failed"],
        store: store.path,
        in: folder.path,
        input: terminal.handle
      )
      try await purge.message("Remove them?")
      #expect(purge.output.contains("to remove: 2 records, 2 files, 10 bytes"))
      try store.apply(.resume(immediately: false), to: .matching(records[0].id))
      terminal.type("y")
      #expect(try await purge.status() == 1)
      #expect(purge.output.contains("removed: 1 record, 1 file, 5 bytes"))
      #expect(
        purge.messages.contains(
          "kept \(records[0].id): it was failed and is now waiting; run purge again to remove it"
        )
      )
      #expect(try store.records(DownloadRecord.all).map(\.id) == [records[0].id])
      #expect(try exists(records[0]))
      #expect(try !exists(records[1]))
    }

    @Test(arguments: [("y", 0, 0), ("n", 1, 2)])
    func `unchanged downloads are deleted if the user agrees`(
      answer: String,
      status: Int32,
      left: Int
    ) async throws {
      let terminal = try PseudoTerminal()
      let purge = try DLStoreProcess(
        ["purge", "--state", "failed"],
        store: store.path,
        in: folder.path,
        input: terminal.handle
      )
      try await purge.message("Remove them?")
      terminal.type(answer)
      #expect(try await purge.status() == status)
      #expect(try store.records(DownloadRecord.all).count == left)
      #expect(try records.filter(exists).count == left)
    }
  }
#endif
