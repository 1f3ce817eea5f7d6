import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Downloads that are removed with their files, which cannot be deleted yet.
@Suite(.timeLimit(.minutes(10)))
struct UnfinishedRemovalTests {
  private let folder: TemporaryFolder
  private let server: FaultServer
  private var store: String { folder.path("store") }
  private var file: String { folder.path("files/a") }

  init() throws {
    folder = try TemporaryFolder()
    server = try FaultServer()
    server.route("/a", Resource(.generated(byteCount: 5_000, seed: 1)))
  }

  /// Removes a finished download while its folder is missing, and returns its id.
  private func removeWithoutFolder() async throws -> String {
    let url = server.url("/a")
    let files = folder.path("files")
    #expect(await dlstore("--store", store, "get", url, "--output-folder", files).status == .done)
    let id = try RecordStore(at: store, access: .readOnly).record(matching: url).id
    try FileManager.default.moveItem(atPath: files, toPath: folder.path("away"))
    let removed = await dlstore("--store", store, "remove", "a", "--with-file", "--yes")
    #expect(removed.status == .failed)
    #expect(removed.messages.contains("purge \(id)"), "\(removed.messages)")
    return id
  }

  private func mountFolder() throws {
    try FileManager.default.moveItem(atPath: folder.path("away"), toPath: folder.path("files"))
  }

  private var recordCount: Int {
    get throws { try RecordStore(at: store, access: .readOnly).records().count }
  }

  @Test func `purge of a removed download forgets it, and its file stays`() async throws {
    let id = try await removeWithoutFolder()
    let purged = await dlstore("--store", store, "purge", id, "--yes")
    #expect(purged.status == .done && purged.output.contains("removed: 1 record"))
    #expect(try recordCount == 0)
    try mountFolder()
    #expect(await dlstore("--store", store, "run", "--until-idle").status == .done)
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test(arguments: [true, false])
  func `purge --with-files completes a removal`(byID: Bool) async throws {
    let id = try await removeWithoutFolder()
    let selection = byID ? [id] : ["--match", "*"]
    let purge = ["--store", store, "purge", "--with-files", "--yes"] + selection
    // The folder is still missing.
    #expect(await dlstore(purge).status == .failed)
    #expect(try recordCount == 1)
    try mountFolder()
    let purged = await dlstore(purge)
    #expect(purged.status == .done, "\(purged.messages)")
    #expect(try recordCount == 0 && !FileManager.default.fileExists(atPath: file))
  }
}
