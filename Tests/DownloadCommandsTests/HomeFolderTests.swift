#if os(Linux)
  import FaultServer
  import Foundation
  import TestSupport
  import Testing

  /// No command creates files in the user's folders, apart from a store in its usual place.
  @Suite(.timeLimit(.minutes(10)))
  struct HomeFolderTests {
    private let folder: TemporaryFolder
    private let server: FaultServer

    init() throws {
      folder = try TemporaryFolder()
      server = try FaultServer()
      server.route("/a.bin", Resource(.text("a")))
      server.route("/b.bin", Resource(.text("b")))
      try FileManager.default.createDirectory(
        atPath: folder.path("home"),
        withIntermediateDirectories: true
      )
    }

    /// Runs commands one after the other, and returns the names below the home folder after each.
    private func files(after commands: [String]) async throws -> String {
      let home = folder.path("home")
      let script = commands.map { command in
        // The status is that of a command that failed.
        "dlstore \(command) >>out 2>&1 || echo '\(command): status' $?\nfind \"$HOME\" -mindepth 1"
      }
      let process = try DLStoreProcess(
        [],
        store: folder.path("store"),
        in: folder.path,
        shell: script.joined(separator: "\n"),
        environment: [
          "HOME": home, "XDG_DATA_HOME": "\(home)/data", "XDG_CACHE_HOME": "\(home)/cache",
          "XDG_CONFIG_HOME": "\(home)/config", "XDG_STATE_HOME": "\(home)/state",
        ]
      )
      #expect(try await process.status() == 0)
      return process.output
    }

    @Test func `the home folder stays empty after each command`() async throws {
      let (a, b) = (server.url("/a.bin"), server.url("/b.bin"))
      // That of "a".
      let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
      let names = try await files(after: [
        "", "add \(a) --checksum sha256:\(digest)", "run --until-idle", "get \(b)", "list",
        "inspect a.bin", "stats", "pause --all",
        "resume --all", "retry", "restart a.bin", "cancel a.bin", "remove b.bin",
        "set a.bin --priority 1",
        "limit 2M",
        "limit none", "purge --state failed --dry-run", "restart a.bin", "run --until-idle",
        "verify-file a.bin", "cat a.bin --from 1",
        "root list",
        "verify", "verify --repair", "reconcile --apply", "backup copy", "compact",
        "export --output out.jsonl", "import out.jsonl", "config", "explain --stored running",
        "store models", "help",
      ])
      #expect(names == "")
    }

    @Test func `URLSession gets no cache on disk`() async throws {
      let names = try await files(after: ["get \(server.url("/a.bin")) --transport urlsession"])
      #expect(!names.contains("cache") && !names.contains("status"), "\(names)")
    }
  }
#endif
