import CommandTestSupport

#if os(Linux)
  import DownloadStore
  import FaultServer
  import Foundation
  import ObjectStore
  import TestSupport
  import Testing

  @testable import CommandLineSupport
  @testable import DownloadCommands

  /// The built program in a shell in tmux.
  @Suite(.timeLimit(.minutes(10)))
  struct TmuxTests: StoreSuite {
    private let folder: TemporaryFolder
    let store: String

    init() throws {
      folder = try TemporaryFolder()
      store = folder.path("store")
    }

    private func terminal(columns: Int, lines: Int = 24) async throws -> Tmux {
      try await Tmux(columns: columns, lines: lines, store: store, in: folder.path)
    }

    /// A server with slow files: no download ends before the test does.
    private func slowServer(_ names: [String]) throws -> FaultServer {
      let server = try FaultServer()
      for (index, name) in names.enumerated() {
        var resource = Resource(.generated(byteCount: 100 << 20, seed: UInt64(index)))
        // The last byte never arrives.
        (resource.bytesPerSecond, resource.rateGate) = (200_000, Gate())
        // Without an entity tag a file is not split, and several connections would be faster.
        resource.etag = nil
        server.route("/\(name)", resource)
      }
      return server
    }

    private func isBar(_ line: String) -> Bool { line.contains("[") && line.contains("%") }
    private func isSummary(_ line: String) -> Bool { line.contains(" remaining") }

    @Test(arguments: [40, 60, 80, 200])
    func `list shows every name, and aligns its columns`(columns: Int) async throws {
      let names = [
        "film.mkv", "日本語.zip", "👨‍👩‍👧 🇩🇪 👍🏽.jpg", "שלום 2024.pdf", "e\u{301}clair.txt",
        "a-name-that-is-much-longer-than-the-column-and-the-terminal-because-it-never-ends.iso",
      ]
      for (index, name) in names.enumerated() {
        let added = await dlstore("--store", store, "add", "http://h/\(index)", "-o", name)
        #expect(added.status == .done)
      }
      let terminal = try await terminal(columns: columns)
      try terminal.type("clear; dlstore list --color never; echo end")
      let screen = try await terminal.wait { $0.last == "$" && $0.contains("end") }
      let table = screen.prefix { $0 != "end" }
      // A line that wraps would be a line more.
      #expect(table.count == names.count + 1, "\(screen)")
      for name in ["film.mkv", "日本語.zip", "שלום 2024.pdf", "a-name-that-is"] {
        #expect(table.contains { $0.contains(name) }, "\(screen)")
      }
    }

    @Test func `columns stay aligned after an emoji sequence`() async throws {
      let names = ["x", "👨‍👩‍👧 🇩🇪 👍🏽 ❤\u{FE0F}", "日本", "שלום"]
      for (index, name) in names.enumerated() {
        let url = "http://h/\(index)"
        let added = await dlstore("--store", store, "add", url, "-o", name, "--priority", "7")
        #expect(added.status == .done)
      }
      let terminal = try await terminal(columns: 60)
      try terminal.type("clear; dlstore list --columns name,priority --no-header; echo end")
      try await terminal.wait { $0.last == "$" && $0.contains("end") }
      let columns = try terminal.columns(of: "7", count: names.count)
      #expect(Set(columns).count == 1, "\(columns)")
    }

    @Test func `progress bars survive narrowing and widening`() async throws {
      let names = ["one.bin", "two.bin", "three.bin"]
      let server = try slowServer(names)
      let terminal = try await terminal(columns: 200)
      let urls = names.map { server.url("/\($0)") }.joined(separator: " ")
      try terminal.type("clear; dlstore get \(urls)")
      for columns in [200, 80, 40, 60, 200, 40, 200] {
        try terminal.resize(columns: columns, lines: 24)
        // A frame that is on its way during the resize is drawn for the old size, and can leave lines
        // above. LiveRegionTests checks that nothing else does.
        try await terminal.wait { lines in
          let drawn = lines.suffix(names.count + 1)
          return drawn.count { isSummary($0) } == 1
            && lines.last?.contains("3 remaining") == true
            && names.allSatisfy { name in drawn.count { $0.hasPrefix(name) } == 1 }
            && lines.allSatisfy { $0.count <= columns }
        }
      }
      #expect(try !terminal.isCursorVisible)
      try terminal.press("C-c")
      try await terminal.wait { $0.last == "$" }
      #expect(try terminal.isCursorVisible)
      try terminal.type("echo status $?")
      try await terminal.wait { $0.contains("status 130") }
    }

    @Test(arguments: ["get", "list --watch"])
    func `Ctrl-Z restores the terminal, and fg draws again`(command: String) async throws {
      let server = try slowServer(["one.bin"])
      let url = server.url("/one.bin")
      let terminal = try await terminal(columns: 100)
      var engine: DLStoreProcess?
      if command == "get" {
        try terminal.type("clear; dlstore get \(url)")
      } else {
        engine = try DLStoreProcess(["get", url], store: store, in: folder.path)
        try await engine?.message("started")
        try terminal.type("clear; dlstore \(command)")
      }
      for _ in 0..<2 {
        try await terminal.wait { $0.contains(where: isBar) && $0.contains(where: isSummary) }
        #expect(try !terminal.isCursorVisible)
        try terminal.press("C-z")
        let stopped = try await terminal.wait {
          $0.contains { $0.contains("Stopped") } && $0.last == "$"
        }
        #expect(!stopped.contains(where: isBar) && !stopped.contains(where: isSummary))
        #expect(try terminal.isCursorVisible)
        try terminal.type("clear; fg")
      }
      try await terminal.wait { $0.contains(where: isSummary) }
      try terminal.press("C-c")
      try await terminal.wait { $0.last == "$" }
      #expect(try terminal.isCursorVisible)
      engine?.send(SIGKILL)
    }

    @Test func `a background job draws no bars, and continues`() async throws {
      let server = try slowServer(["one.bin"])
      let url = server.url("/one.bin")
      let terminal = try await terminal(columns: 80)
      try terminal.type("clear; dlstore get \(url)")
      try await terminal.wait { $0.contains(where: isSummary) }
      try terminal.press("C-z")
      try await terminal.wait { $0.contains { $0.contains("Stopped") } }
      let records = try RecordStore(at: store, access: .readOnly)
      let received = try records.record(matching: url).received
      try terminal.type("clear; bg; echo end")
      let screen = try await terminal.wait { lines in
        try lines.contains("end") && records.record(matching: url).received > received
      }
      #expect(!screen.contains(where: isBar) && !screen.contains(where: isSummary), "\(screen)")
    }

    @Test func `list --watch shows the progress of another process`() async throws {
      let server = try slowServer(["one.bin"])
      let engine = try DLStoreProcess(
        ["get", server.url("/one.bin")],
        store: store,
        in: folder.path
      )
      try await engine.message("started")
      let terminal = try await terminal(columns: 120)
      try terminal.type("clear; echo before; dlstore list --watch")
      let screen = try await terminal.wait { lines in
        lines.contains { $0.contains("one.bin") && $0.contains("KiB/s") && $0.contains("[") }
      }
      #expect(screen.first?.contains("1 remaining") == true && !screen.contains("before"))
      try terminal.resize(columns: 40, lines: 10)
      try await terminal.wait { lines in
        // The least important columns are dropped, and nothing wraps.
        lines.contains { $0.contains("running") && $0.contains("one.bin") } && lines.count == 4
          && !lines.contains { $0.contains("SIZE") }
      }
      try terminal.press("C-c")
      try await terminal.wait { $0.last == "$" && $0.contains("before") }
      engine.send(SIGKILL)
    }

    @Test(arguments: [60, 80, 200])
    func `keys of list --watch pause, resume, retry, filter, sort and quit`(
      columns: Int
    )
      async throws
    {
      for name in ["a.bin", "b.bin", "c.bin"] {
        _ = await dlstore("--store", store, "add", "http://h/\(name)")
      }
      try change("http://h/b.bin") { record in
        record.state = .failedPermanent
        let failure = DownloadFailure(.notFound, "the server has no such file")
        record.attempts = [Attempt(at: Date(), url: "", failure: failure, received: 0)]
      }
      func state(_ name: String) throws -> String {
        try RecordStore(at: store, access: .readOnly).record(matching: "http://h/\(name)").state
          .rawValue
      }
      let terminal = try await terminal(columns: columns, lines: 10)
      try terminal.type("clear; dlstore list --watch; echo status $?")
      // The failed one is first, and selected, with its reason.
      let screen = try await terminal.wait { lines in
        // The keys are drawn last.
        lines.contains { $0.hasPrefix(">") && $0.contains("b.bin") && $0.contains("the server") }
          && lines.last?.hasPrefix("q quit") == true
      }
      #expect(screen.allSatisfy { $0.count <= columns } && screen.count <= 10)
      #expect(screen.last?.hasPrefix("q quit") == true)
      try terminal.press("j")
      try await terminal.wait { $0.contains { $0.hasPrefix(">") && $0.contains("a.bin") } }
      try terminal.press("p")
      try await terminal.wait { $0.last == "paused a.bin" }
      #expect(try state("a.bin") == "paused")
      try terminal.press("r")
      try await terminal.wait { $0.last == "resumed a.bin" }
      #expect(try state("a.bin") == "waiting")
      try terminal.press("f")
      try terminal.press("f")
      try await terminal.wait { lines in
        !lines.contains { $0.contains("a.bin") } && lines.contains { $0.contains("b.bin") }
      }
      try terminal.press("t")
      try await terminal.wait { $0.last == "resumed b.bin" }
      #expect(try state("b.bin") == "waiting")
      try terminal.press("s")
      try terminal.press("q")
      try await terminal.wait { $0.contains("status 0") && $0.last == "$" }
      #expect(try terminal.isCursorVisible)
      // The terminal echoes again.
      try terminal.type("echo visi''ble")
      try await terminal.wait { $0.contains("visible") && $0.contains("$ echo visi''ble") }
    }
  }
#endif
