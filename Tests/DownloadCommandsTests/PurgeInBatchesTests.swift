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

  /// The data file of a store with the downloads, of which each test purges a copy.
  private static let dataFile: Result<Data, any Error> = Result {
    let folder = try TemporaryFolder()
    try RecordStore(at: folder.path("store")).addNow(
      (0..<count).map { number in
        var request = DownloadRequest(url: "http://h.example/f/\(number).bin")
        request.isPaused = true
        return request
      }
    )
    return try Data(contentsOf: URL(filePath: folder.path("store/data.mdb")))
  }

  init() throws {
    folder = try TemporaryFolder()
    let data = try Self.dataFile.get()
    try data.write(to: URL(filePath: folder.makeFile("store/data.mdb")))
    store = try RecordStore(at: folder.path("store"))
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

  /// The test holds the store's write lock, so the purge waits in its first transaction.
  @Test func `Ctrl-C in the first of four transactions leaves the others`() async throws {
    try store.addNow(
      (0..<2 * PurgeList.standardBatchSize).map { number in
        var request = DownloadRequest(url: "http://h.example/g/\(number).bin")
        request.isPaused = true
        return request
      }
    )
    let count = try recordCount()
    let lock = WriteLock(store)
    let purge = try DLStoreProcess(
      ["purge", "--state", "paused", "--yes"],
      store: store.path,
      in: folder.path
    )
    try await purge.wait { Self.signals("SigCgt", of: purge).contains(true) || !purge.isRunning }
    purge.send(SIGINT)
    // Dispatch blocks the signal in the thread that has received it, and then reads it.
    try await purge.wait {
      (Self.signals("SigBlk", of: purge).contains(true)
        && !Self.signals("ShdPnd", of: purge).contains(true)) || !purge.isRunning
    }
    lock.release()
    #expect(try await purge.status() == 130)
    let left = try recordCount()
    #expect(left > 0 && left >= count - 3 * PurgeList.standardBatchSize)
    #expect(purge.messages.contains("repeat the command"))
    #expect(purge.output.contains("removed: \(count - left) records, 0 files, 0 bytes"))
  }

  /// Whether SIGINT is in a set of signals, for each thread of a process.
  private static func signals(_ name: String, of process: DLStoreProcess) -> [Bool] {
    let path = "/proc/\(process.id)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return threads.compactMap { thread in
      let text = try? String(contentsOfFile: "\(path)/\(thread)/status", encoding: .utf8)
      let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
      return line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
        .map { $0 >> (SIGINT - 1) & 1 == 1 }
    }
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

/// Holds the write lock of a store until it is released.
private final class WriteLock: Sendable {
  private let end = DispatchSemaphore(value: 0)

  /// Returns when the lock is held.
  init(_ store: RecordStore) {
    let begun = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [end] in
      try? store.objects.write { _ in
        begun.signal()
        end.wait()
      }
    }
    begun.wait()
  }

  func release() { end.signal() }
}
