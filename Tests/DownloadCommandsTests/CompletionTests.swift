import ArgumentParser
import CommandTestSupport
import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Completions, computed in this process and typed into real shells.
struct CompletionTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func completions(
    _ word: StoreCompletion.TypedWord,
    _ shell: CompletionShell
  ) throws
    -> [String]
  {
    try StoreCompletion.downloads(completing: word, in: store, for: shell)
  }

  @Test(arguments: [
    ("wai", ["waiting"]), ("f", ["failed", "finalizing"]), ("waiting,ru", ["waiting,running"]),
    ("waiting,wai", []), ("x", []),
  ])
  func `the last state of a list is completed`(text: String, states: [String]) {
    #expect(StoreCompletion.states(completing: text) == states)
  }

  @Test func `ids and URLs of the store are completed`() async throws {
    _ = await dlstore("--store", store, "add", "http://a:80/x.bin", "http://b/y")
    let id = RecordIdentity.id(forURL: "http://a:80/x.bin")
    let start = String(id.prefix(3))
    #expect(try completions(.init(start), .bash) == [id])
    #expect(try completions(.init(start.uppercased()), .fish) == ["\(id)\tx.bin"])
    #expect(try completions(.init(start), .zsh) == ["\(id):x.bin"])
    #expect(try completions(.init("http://a"), .zsh) == ["http\\://a\\:80/x.bin:x.bin"])
    #expect(try completions(.init(""), .bash).count == 2)
    #expect(try completions(.init("zz"), .bash) == [])
  }

  @Test func `bash replaces only the part after the last colon`() async throws {
    _ = await dlstore("--store", store, "add", "http://a:80/x.bin")
    for (words, completion) in [
      (["dlstore", "inspect", "http"], "http://a:80/x.bin"),
      (["dlstore", "inspect", "http", ":"], "//a:80/x.bin"),
      (["dlstore", "inspect", "http", ":", "//a"], "//a:80/x.bin"),
      (["dlstore", "inspect", "http", ":", "//a", ":", "80"], "80/x.bin"),
    ] {
      let word = StoreCompletion.TypedWord(words, words.count - 1, .bash)
      #expect(try completions(word, .bash) == [completion])
    }
  }

  @Test func `names that a shell would evaluate are left out`() async throws {
    let urls = [
      "http://a/$(touch${IFS}x)", "http://a/`x`", "http://a/?x&y", "http://a/x;y", "http://a/'",
    ]
    let added = await dlstore(["--store", store, "add"] + urls)
    #expect(added.status == .done, "\(added.messages)")
    #expect(try completions(.init("http"), .bash) == [])
    let all = try completions(.init(""), .zsh)
    #expect(all.count == urls.count)
    for completion in all {
      #expect(completion.allSatisfy { $0.isASCII && !"$`&;'\\\"(){}<>|*?[]#!~ \n\t".contains($0) })
    }
  }

  @Test func `downloads are completed although no variable and no file sets the store`()
    async throws
  {
    _ = await dlstore("--store", store, "add", "http://a/x")
    let words = ["dlstore", "--store", store, "inspect", ""]
    let process = try BuiltProcess(
      program: "dlstore",
      ["---completion", "inspect", "--", "positional@0", "4", "0"] + words,
      in: folder.path,
      environment: ["SAP_SHELL": "bash", "XDG_CONFIG_HOME": folder.path("none")]
    )
    #expect(try await process.status() == 0)
    #expect(process.output == "\(RecordIdentity.id(forURL: "http://a/x"))\n")
  }

  @Test func `at most 200 downloads are offered, and none without a store`() async throws {
    #expect(throws: (any Error).self) { try completions(.init(""), .bash) }
    let requests = (0..<250).map { DownloadRequest(url: "http://a/\($0)") }
    _ = try await RecordStore(at: store).add(requests)
    #expect(try completions(.init(""), .bash).count == 200)
  }

  #if os(Linux)
    @Test(arguments: [
      (
        CompletionShell.bash, "dlstore.bash", "bash --norc --noprofile -i",
        "source FOLDER/dlstore.bash"
      ),
      (
        .zsh, "_dlstore", "zsh -f -i",
        "fpath=(FOLDER $fpath); autoload -Uz compinit; compinit -u -d FOLDER/dump"
      ),
      (.fish, "dlstore.fish", "fish --no-config -i", "source FOLDER/dlstore.fish"),
    ])
    func `a shell completes commands, flags, states and downloads`(
      shell: CompletionShell,
      file: String,
      command: String,
      setup: String
    ) async throws {
      let url = "http://a/x"
      let id = RecordIdentity.id(forURL: url)
      var hostile = DownloadRequest(url: "http://b/$(touch${IFS}canary)")
      hostile.filename = "$(touch canary)"
      var quoted = DownloadRequest(url: url)
      quoted.filename = "`touch canary`;x'"
      _ = try await RecordStore(at: store).add([hostile, quoted])
      _ = try folder.makeFile(file, DLStoreCommand.completionScript(for: shell))
      let terminal = try PseudoTerminal()
      let process = try DLStoreProcess(
        [],
        store: store,
        in: folder.path,
        shell: "stty cols 250 rows 50; exec setsid --ctty --wait \(command)",
        environment: ["TERM": "vt100", "HOME": folder.path],
        terminal: terminal.handle
      )
      terminal.type("\(setup.replacing("FOLDER", with: folder.path)); echo REA''DY")
      try await process.wait { terminal.text.contains("READY") }
      for (typed, completed) in [
        ("reconc", "reconcile"), ("list --wat", "list --watch"),
        ("list --state wai", "list --state waiting"),
        ("list --state paused,ru", "list --state paused,running"),
        ("list --format jsonl --sort pri", "list --format jsonl --sort priority"),
        ("inspect \(id.prefix(6))", "inspect \(id)"), ("pause http://a", "pause \(url)"),
        ("inspect http://b", "inspect http://b"),
      ] {
        // The completed line becomes the arguments of echo.
        terminal.type("dlstore \(typed)\t\u{01}echo LI''NE ")
        let line = "LINE dlstore \(completed)"
        do {
          try await process.wait { terminal.text.contains(line) }
        } catch {
          Issue.record("'\(typed)' was not completed to '\(completed)': \(terminal.text)")
          throw error
        }
      }
      terminal.type("exit")
      _ = try await process.status()
      // A name that the shell evaluates leaves this file behind.
      #expect(!FileManager.default.fileExists(atPath: folder.path("canary")))
    }
  #endif
}
