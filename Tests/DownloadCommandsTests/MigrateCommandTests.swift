import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The command `migrate`.
struct MigrateCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func makeNotes() throws {
    try Store(at: store, models: [SampleNote.self]).write { try $0.insert(SampleNote(id: 1)) }
  }

  private func migrate(_ arguments: String...) async -> CommandResult {
    await dlstore(["--store", store, "migrate"] + arguments)
  }

  @Test func `a store of downloads needs no steps`() async throws {
    #expect(await dlstore("--store", store, "add", "https://example.com/a").status == .done)
    let result = await migrate()
    #expect(result.status == .done && result.output == "version 1: nothing to migrate\n")
    #expect(await migrate("--check").status == .done)
  }

  @Test func `another store without steps is refused`() async throws {
    try makeNotes()
    let result = await migrate()
    #expect(result.status == .usage && result.messages.contains("objectstore"))
    #expect(await migrate("--status").status == .done)
  }

  @Test func `options that exclude each other are refused`() async throws {
    #expect(await migrate("--status", "--rollback").status == .usage)
    #expect(await migrate("--check", "--dry-run").status == .usage)
  }
}
