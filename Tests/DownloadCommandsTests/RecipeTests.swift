#if os(Linux)
  import CommandTestSupport
  import DownloadStore
  import FaultServer
  import Foundation
  import ObjectStore
  import TestSupport
  import Testing

  /// The recipes of docs/cli.md, run by a shell as they are written.
  @Suite(.timeLimit(.minutes(10)))
  struct RecipeTests: StoreSuite {
    /// A block of code of the page, or a line of cron or of a unit in one.
    struct Recipe: Sendable, CustomTestStringConvertible {
      var text: String

      var testDescription: String { text }
    }

    /// The recipes that need neither cron nor systemd.
    static let all: [Recipe] = {
      let page = DocumentedPage("cli.md").text
      guard let start = page.firstRange(of: "\n## Recipes\n"),
        let end = page.firstRange(of: "\n## Exit codes\n")
      else { return [] }
      let parts = page[start.upperBound..<end.lowerBound]
        .split(separator: "```", omittingEmptySubsequences: false)
      return parts.enumerated().filter { $0.offset % 2 == 1 }.flatMap { commands(in: $0.element) }
    }()

    private static func commands(in block: Substring) -> [Recipe] {
      let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
      let text = lines.dropFirst().joined(separator: "\n")
      switch lines.first ?? "" {
      case "sh":
        // A line that only asks does not depend on another one.
        guard !text.contains("systemctl") else { return [] }
        let parts = text.contains("jq") ? text.split(separator: "\n").map(String.init) : [text]
        return parts.map { Recipe(text: $0) }
      case "":
        // The five fields of the time.
        return lines.dropFirst().compactMap { line in
          let words = line.split(separator: " ", maxSplits: 5)
          return words.count == 6 ? Recipe(text: String(words[5])) : nil
        }
      case "ini":
        let starts = lines.filter { $0.hasPrefix("ExecStart=") }
          .map {
            $0.dropFirst("ExecStart=".count).trimmingPrefix("-").replacing("%h", with: "$PWD")
          }
        return starts.isEmpty ? [] : [Recipe(text: starts.joined(separator: "\n"))]
      default: return []
      }
    }

    private let folder: TemporaryFolder
    let store: String
    private let server: FaultServer

    init() throws {
      folder = try TemporaryFolder()
      store = folder.path("store")
      server = try FaultServer()
      server.route("/ok.bin", Resource(.text("0123456789")))
      server.route("/new.bin", Resource(.text("new")))
    }

    @Test func `the page has recipes of each kind`() {
      let texts = Self.all.map(\.text)
      for word in ["retry", "inspect", "--quiet", "--limit-rate", "localPath", "add'", "@tsv"] {
        #expect(texts.contains { $0.contains(word) }, "\(word)")
      }
      #expect(Self.all.count == 10, "\(texts)")
    }

    @Test(arguments: all)
    func `a recipe does what the page says`(recipe: Recipe) async throws {
      let (ok, bad) = (server.url("/ok.bin"), server.url("/bad.bin"))
      try Data("\(server.url("/new.bin"))\n".utf8).write(
        to: URL(filePath: folder.path("mirror.txt"))
      )
      let first = try await DLStoreProcess.run("add", ok, bad, store: store)
      #expect(first.status == 0)
      let ended = try await DLStoreProcess.run("run", "--until-idle", store: store)
      #expect(ended.status == 1)
      let failed = try record(bad)
      #expect(failed.state == .failedPermanent)
      var script = recipe.text.replacing("8c2b47", with: failed.id.prefix(8))
      if script.contains("retry") { server.route("/bad.bin", Resource(.text("good"))) }
      if script.contains("--on-complete") {
        // The recipe runs until it is stopped.
        script = "dlstore add -i mirror.txt\n" + script.replacing("run", with: "run --until-idle")
      }
      let process = try DLStoreProcess(
        [],
        store: store,
        in: folder.path,
        shell: "set -e\n" + script
      )
      let status = try await process.status()
      #expect(status == 0, "\(process.messages)")
      let output = process.output
      switch recipe.text {
      case let text where text.contains("retry"):
        #expect(try record(bad).state == .completed)
      case let text where text.contains("inspect"):
        #expect(output.contains("the server has no such file") && output.contains("bad.bin"))
      case let text where text.contains("mirror.txt"):
        #expect(try record(server.url("/new.bin")).state == .completed)
      case let text where text.contains("--on-complete"):
        let done = try String(contentsOfFile: folder.path("done.txt"), encoding: .utf8)
        #expect(done == "\(store)/files/new.bin\n")
      case let text where text.contains("xargs -0"):
        #expect(output == "10 \(store)/files/ok.bin\n")
      case let text where text.contains("-r .localPath"):
        #expect(output == "\(store)/files/ok.bin\n")
      case let text where text.contains("| add'"):
        #expect(output == "10\n")
      case let text where text.contains("group_by"):
        #expect(output == "completed 1\nfailed 1\n")
      case let text where text.contains("@tsv"):
        #expect(output == "bad.bin\tthe server has no such file (404 Not Found)\n")
      default:
        Issue.record("the test does not know this recipe")
      }
    }

    private func record(_ url: String) throws -> DownloadRecord {
      try RecordStore(at: store, access: .readOnly).record(matching: url)
    }
  }
#endif
