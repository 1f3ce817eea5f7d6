#if os(Linux)
  import CommandTestSupport
  import DownloadStore
  import FaultServer
  import Foundation
  import ObjectStore
  import TestSupport
  import Testing

  /// The blocks of docs/operations.md that need neither a service manager nor a container, run by a
  /// shell.
  @Suite(.timeLimit(.minutes(10)))
  struct OperationsRecipeTests: StoreSuite {
    private static let blocks: [String] = {
      let parts = DocumentedPage("operations.md").text
        .split(separator: "```", omittingEmptySubsequences: false)
      return parts.enumerated().filter { $0.offset % 2 == 1 && $0.element.hasPrefix("sh\n") }
        .map { String($0.element.dropFirst("sh\n".count)) }
        .filter { block in
          !["docker", "make ", "enable --now"].contains { block.contains($0) }
        }
    }()

    private let folder: TemporaryFolder
    let store: String
    private let server: FaultServer

    init() throws {
      folder = try TemporaryFolder()
      store = folder.path("share/dlstore")
      server = try FaultServer()
      server.route("/ok.bin", Resource(.text("0123456789")))
      for path in ["share", "mnt/new", "mnt/new-disk/files", "backup"] {
        try FileManager.default.createDirectory(
          atPath: folder.path(path),
          withIntermediateDirectories: true
        )
      }
    }

    /// The commands of a block on this store and in this folder, without those of a service manager.
    private func script(_ block: String) -> String {
      block.replacing("~/.local/share/dlstore", with: store).replacing(" /mnt/", with: " mnt/")
        .replacing("=/mnt/", with: "=\(folder.path)/mnt/").replacing(" /backup/", with: " backup/")
        .split(separator: "\n")
        .filter { !$0.hasPrefix("systemctl") && !$0.contains("--watch") }
        // A purge asks on a terminal.
        .map { $0.replacing("purge --state completed", with: "purge --yes --state completed") }
        .map { $0.replacing("purge --orphans", with: "purge --yes --orphans") }
        .joined(separator: "\n")
    }

    @Test func `the page has blocks of each kind`() {
      for word in ["backup --compact", "root set", "verify --accept", "purge --orphans", "stats"] {
        #expect(Self.blocks.contains { $0.contains(word) }, "\(word)")
      }
      #expect(Self.blocks.count == 5, "\(Self.blocks)")
    }

    @Test(arguments: blocks)
    func `a block does what the page says`(block: String) async throws {
      let (ok, bad) = (server.url("/ok.bin"), server.url("/bad.bin"))
      let added = try await DLStoreProcess.run("add", ok, bad, store: store)
      #expect(added.status == 0)
      let ended = try await DLStoreProcess.run("run", "--until-idle", store: store)
      #expect(ended.status == 1)
      let process = try DLStoreProcess(
        [],
        store: store,
        in: folder.path,
        shell: "set -e\n" + script(block)
      )
      let status = try await process.status()
      #expect(status == 0, "\(process.messages)")
      let output = process.output
      switch block {
      case let text where text.contains("backup"):
        for day in ["22", "23"] {
          #expect(try record(ok, folder.path("backup/store-2026-11-\(day)")).state == .completed)
        }
      case let text where text.contains("root set"):
        #expect(output.contains("default") && output.contains("mnt/new-disk/files"))
      case let text where text.contains("--accept"):
        #expect(!FileManager.default.fileExists(atPath: store))
        let moved = folder.path("mnt/new/dlstore")
        let list = try await DLStoreProcess.run("list", "--json", store: moved)
        #expect(list.status == 0 && list.output.contains("\"fileStatus\":\"present\""))
      case let text where text.contains("purge"):
        #expect(output.contains("to remove: 1 record, 0 files, 0 bytes"))
        #expect(try record(ok, store).state == .completed)
      case let text where text.contains("stats"):
        #expect(output.contains("\"filename\":\"bad.bin\""))
      default: Issue.record("the test does not know this block")
      }
    }

    private func record(_ url: String, _ store: String) throws -> DownloadRecord {
      try RecordStore(at: store, access: .readOnly).record(matching: url)
    }
  }
#endif
