import DownloadStore
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// `purge` of more records than one transaction removes.
@Suite(.timeLimit(.minutes(10)))
struct PurgeInBatchesTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private static let count = PurgeList.standardBatchSize + 4_000

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow(
      (0..<Self.count).map { number in
        var request = DownloadRequest(url: "http://h.example/f/\(number).bin")
        request.isPaused = true
        return request
      }
    )
  }

  private func recordCount() throws -> Int {
    try store.objects.read { tx in try tx.count(DownloadRecord.all) }
  }

  @Test func `Ctrl-C stops between two transactions, and repeating removes the rest`() async throws
  {
    let purge = try DLStoreProcess(
      ["purge", "--state", "paused", "--yes"],
      store: store.path,
      in: folder.path
    )
    try await purge.wait {
      ((try? recordCount()) ?? 0) < Self.count || !purge.isRunning
    }
    purge.send(SIGINT)
    let status = try await purge.status()
    let left = try recordCount()
    #expect(status == (left > 0 ? 130 : 0) || left == 0, "\(status): \(purge.messages)")
    #expect(purge.output.contains("to remove: \(Self.count) records, 0 files, 0 bytes"))
    #expect(purge.output.contains("removed: \(Self.count - left) records, 0 files, 0 bytes"))
    #expect((Self.count - left).isMultiple(of: PurgeList.standardBatchSize) || left == 0)
    #expect(purge.messages.contains("repeat the command") == (status == 130))
    #expect(try await DLStoreProcess.run("verify", store: store.path).status == 0)

    let again = try await DLStoreProcess.run(
      "purge",
      "--state",
      "paused",
      "--yes",
      store: store.path
    )
    #expect(again.status == 0)
    #expect(try recordCount() == 0)
  }

  @Test func `a kill keeps whole batches, and repeating removes the rest`() async throws {
    let arguments = ["purge", "--state", "paused", "--yes"]
    let purge = try DLStoreProcess(arguments, store: store.path, in: folder.path)
    try await purge.wait {
      ((try? recordCount()) ?? 0) < Self.count || !purge.isRunning
    }
    purge.send(SIGKILL)
    _ = try await purge.status()
    let left = try recordCount()
    #expect((Self.count - left).isMultiple(of: PurgeList.standardBatchSize) || left == 0)
    #expect(try await DLStoreProcess.run("verify", store: store.path).status == 0)
    let again = try DLStoreProcess(arguments, store: store.path, in: folder.path)
    #expect(try await again.status() == 0)
    #expect(try recordCount() == 0)
  }
}
