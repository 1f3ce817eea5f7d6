import CommandTestSupport
import DownloadStore
import Foundation
import ObjectStore
import ObjectStoreMaintenance
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Temporary files of `export`, `backup` and `import` when the process is stopped or was killed.
@Suite(.timeLimit(.minutes(10)))
struct UnfinishedOutputTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func add(_ count: Int) throws {
    try RecordStore(at: store).addNow(
      (0..<count).map { number in
        var request = DownloadRequest(url: "http://h.example/\(number)")
        request.isPaused = true
        return request
      }
    )
  }

  private func names(_ prefix: String) throws -> [String] {
    try folder.names().filter { $0.hasPrefix(prefix) }.sorted()
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
  func `a stopped import leaves no new store`(signal: Int32, code: Int32) async throws {
    try add(1)
    let export = await dlstore("--store", store, "export").output
    let new = folder.path("new")
    let pipe = Pipe()
    let process = try DLStoreProcess(
      ["import", "-"],
      store: new,
      in: folder.path,
      input: pipe.fileHandleForReading
    )
    // The file has no end yet.
    try pipe.fileHandleForWriting.write(contentsOf: Data(export.utf8))
    try await process.wait {
      let names = try? FileManager.default.contentsOfDirectory(atPath: new)
      return names?.contains { $0.hasPrefix("data.mdb.new-") } == true || !process.isRunning
    }
    process.send(signal)
    #expect(try await process.status() == code, "\(process.messages)")
    #expect(!FileManager.default.fileExists(atPath: new))
    withExtendedLifetime(pipe) {}
  }

  @Test func `an import that begins while its process ends leaves no new store`() async throws {
    try add(1)
    let file = folder.path("export")
    #expect(await dlstore("--store", store, "export", "-o", file).status == .done)
    let new = folder.path("new")
    await #expect(processExitsWith: .success) { [file = file as String, new = new as String] in
      let export = try FileHandle(forReadingFrom: URL(filePath: file))
      Store.abandonUnfinishedWork()
      #expect(throws: StoreError.self) {
        try Store.importJSONLines(
          from: export.fileDescriptor,
          named: file,
          intoStoreAt: new
        )
      }
    }
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test(arguments: [["export", "-o", "out"], ["backup", "out"]])
  func `a stopped command leaves no temporary file`(arguments: [String]) async throws {
    try add(4_000)
    var status: Int32 = 0
    // The command may end before the signal.
    while status == 0 {
      try? FileManager.default.removeItem(atPath: folder.path("out"))
      let process = try DLStoreProcess(arguments, store: store, in: folder.path)
      try await process.wait {
        (try? names("out.partial-").isEmpty) == false || !process.isRunning
      }
      if process.isRunning { process.send(SIGTERM) }
      status = try await process.status()
      #expect(try names("out.partial-").isEmpty)
    }
    #expect(status == 143)
  }

  @Test func `a command removes what killed processes left for its output, and nothing else`()
    async throws
  {
    try add(1)
    for name in ["out.partial-1-2", "out.partial-x", "out.partial-3", "other.partial-1-2"] {
      _ = try folder.makeFile(name, "x")
    }
    let other = try folder.makeFile("out.partial-3-4", "x")
    let locked = open(other, O_RDONLY)
    #expect(flock(locked, LOCK_EX | LOCK_NB) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("out.partial-5-6"),
      withDestinationPath: folder.path("other.partial-1-2")
    )
    let path = folder.path("out")
    #expect(await dlstore("--store", store, "export", "-o", path).status == .done)
    let left = ["out", "out.partial-3", "out.partial-3-4", "out.partial-5-6", "out.partial-x"]
    #expect(try names("out") == left)
    #expect(close(locked) == 0)
    // A folder of a backup.
    let partial = folder.path("copy.partial-7-8")
    try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: false)
    try Data("x".utf8).write(to: URL(filePath: partial + "/data.mdb"))
    #expect(await dlstore("--store", store, "backup", folder.path("copy")).status == .done)
    #expect(try names("copy") == ["copy"])
    #expect(try Store.verify(at: folder.path("copy")).isValid)
  }
}
