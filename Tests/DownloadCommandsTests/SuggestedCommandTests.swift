import CommandTestSupport
import DownloadReports
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Commands in messages, which work when they are copied.
struct SuggestedCommandTests {
  @Test(arguments: [
    ("/data/downloads", "/data/downloads"), ("/my data", #""/my data""#), ("", #""""#),
    ("http://h/x?a=b&c", #""http://h/x?a=b&c""#), (#"a"$b`\"#, #""a\"\$b\`\\""#),
    ("it's", #""it's""#), ("a!b", #""a"\!"b""#), ("grün", "grün"), ("*", #""*""#),
    // Each of these is one Character with its neighbor.
    ("a\"\u{301}b", "\"a\\\"\u{301}b\""), ("`\u{301};id`\u{301}", "\"\\`\u{301};id\\`\u{301}\""),
    ("\u{D4E}`id`", "\"\u{D4E}\\`id\\`\""), ("a!\u{FE0F}", "\"a\"\\!\"\u{FE0F}\""),
  ])
  func `a word is quoted if a shell would change it`(word: String, quoted: String) {
    #expect(ShellWord.quoted(word) == quoted)
  }

  @Test(arguments: [
    (["list"], ""), (["--store", "/a", "list"], " --store /a"),
    (["list", "--store=/a"], " --store /a"),
    (["list", "--config", "c", "--store", "/my a"], #" --store "/my a" --config c"#),
    (["--store", "/a", "--store", "/b"], " --store /b"), (["get", "--", "--store", "/a"], ""),
    (["--store"], ""),
  ])
  func `the options that name the store are repeated`(_ arguments: [String], _ options: String) {
    #expect(SuggestedCommand.repeatedOptions(of: arguments) == options)
  }

  #if os(Linux)
    @Test func `a command in a message works when it is copied`() async throws {
      let folder = try TemporaryFolder()
      let store = folder.path("my store")
      let other = folder.path("other")
      func run(_ script: String) async throws -> (status: Int32, output: String, messages: String) {
        try await DLStoreProcess.run(store: other, in: folder.path, shell: script)
      }
      let missing = try await run("dlstore list --store 'my store'")
      #expect(missing.status == 66)
      let add = try #require(missing.messages.firstMatch(of: /'(dlstore add URL .*?)' creates/))
      let url = "http://127.0.0.1:1/a"
      #expect(try await run(String(add.output.1).replacing("URL", with: url)).status == 0)
      let paused = try await run("dlstore add \(url) --paused --store 'my store'")
      let pause = try #require(paused.messages.firstMatch(of: /'(dlstore pause .*?)' pauses/))
      let done = try await run(String(pause.output.1))
      #expect(done.status == 0 && done.output.contains("paused"), "\(paused.messages)")
      #expect(try await run("dlstore list").status == 66, "\(store) is not the usual one")
    }
  #endif
}
