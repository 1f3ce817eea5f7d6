import CommandTestSupport
import DownloadReports
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Texts of servers and users that would control a terminal if printed unchanged.
private enum HostileText {
  /// Texts that `add` accepts as filenames; it removes control characters.
  static let samples = [
    "\u{1B}[2J\u{1B}[H", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;ZXZpbA==\u{7}", "\u{1B}c",
    "\u{9B}31m", "\u{9D}0;title\u{9C}", "\u{90}q\u{9C}", "\u{85}", "a\rb", "a\u{8}\u{8}b",
    "a\u{7}b",
    "a\u{7F}b", "a\nb", "a\r\nb", "a\tb", "\u{1}", "\u{202E}gpj.exe", "\u{202A}a\u{202C}",
    "\u{2066}a\u{2069}", "\u{200E}", "\u{200F}", "\u{61C}", "\u{2028}", "\u{2029}",
  ]

  static let all = samples.joined(separator: "-")

  /// Scalars that control a terminal or mislead a reader.
  ///
  /// A line feed ends a line of the program's output.
  static func steering(_ text: String) -> [String] {
    text.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control: scalar != "\n"
      case .lineSeparator, .paragraphSeparator: true
      default: scalar.properties.isBidiControl
      }
    }
    .map { "U+" + String($0.value, radix: 16) }
  }
}

struct HostileTextTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  /// Adds a download with the text in every field that a server or a user can set.
  private func add(_ text: String) async throws {
    let result = await dlstore(
      "--store",
      store,
      "add",
      "http://a/1",
      "-o",
      text,
      "--tag",
      text,
      "--type",
      text
    )
    #expect(result.status == .done, "\(result.messages)")
    try change("http://a/1") { record in
      record.state = .failedPermanent
      record.received = 5
      record.entityTag = text
      record.lastModified = text
      record.attempts = [
        Attempt(
          at: Date(timeIntervalSince1970: 0),
          url: record.url,
          failure: DownloadFailure(.refused, text),
          received: 0
        )
      ]
    }
  }

  private func entries() throws -> [DownloadEntry] {
    let store = try RecordStore(at: store, access: .readOnly)
    let roots = try store.roots()
    return try store.records(DownloadRecord.all).map { DownloadEntry($0, roots) }
  }

  @Test(arguments: HostileText.samples)
  func `JSON output preserves every character and escapes those that control a terminal`(
    text: String
  ) async throws {
    try await add(text)
    for format in ["json", "jsonl"] {
      let output = await dlstore("--store", store, "list", "--format", format).output
      #expect(HostileText.steering(output) == [])
      let data = Data(output.utf8)
      let value = try JSONSerialization.jsonObject(with: data)
      let record = try #require((value as? [[String: Any]])?.first ?? value as? [String: Any])
      #expect(record["type"] as? String == text)
      #expect(record["tags"] as? [String] == [text])
      #expect((record["lastError"] as? [String: String])?["message"] == text)
    }
    for arguments in [["inspect", "http://a/1", "--json"], ["reconcile", "--json"]] {
      let output = await dlstore(["--store", store] + arguments).output
      #expect(HostileText.steering(output) == [])
    }
  }

  @Test(arguments: HostileText.samples)
  func `CSV output preserves every character in a pipe and is safe on a terminal`(
    text: String
  ) async throws {
    try await add(text)
    let piped = await dlstore("--store", store, "list", "--format", "csv").output
    #expect(piped.components(separatedBy: text).count > 4)

    var shown = ""
    let entries = try entries()
    try ListOutput(format: .csv).render(
      { try entries.forEach($0) },
      style: TerminalStyle(width: 80),
      to: { shown += String(decoding: $0, as: UTF8.self) }
    )
    #expect(HostileText.steering(shown) == [])
    #expect(shown.split(separator: "\n").count == 2)
  }

  @Test(arguments: HostileText.samples)
  func `human-readable output is safe`(text: String) async throws {
    try await add(text)
    for arguments in [
      ["list"], ["inspect", "http://a/1"], ["reconcile"], ["explain", "http://a/1"],
      ["pause", "http://a/1"], ["set", "http://a/1", "--filename", text + "2"],
      ["purge", "--tag", text, "--dry-run"], ["pause", "--tag", "x" + text], ["pause", text],
      ["inspect", text], ["add", "http://b/\(text)"], ["list", "--sort", text],
      ["add", "http://b/1", "--header", "\(text): 1"],
      ["add", "http://b/1", "--header", "a: \(text)", "--checksum", text],
      ["add", "--input-file", folder.path(text)], ["resume-data", folder.path(text)],
    ] {
      let result = await dlstore(["--store", store] + arguments)
      #expect(HostileText.steering(result.output) == [], "\(arguments)")
      #expect(HostileText.steering(result.messages) == [], "\(arguments)")
      #expect(!(result.output + result.messages).isEmpty, "\(arguments)")
    }
  }
}

#if os(Linux)
  /// The built program on a terminal.
  @Suite(.timeLimit(.minutes(10)))
  struct TerminalTests {
    private let folder: TemporaryFolder
    private let store: String

    init() throws {
      folder = try TemporaryFolder()
      store = folder.path("store")
    }

    /// Runs the program, and returns its exit code and its output on the terminal.
    private func run(
      _ arguments: [String],
      terminal type: String = "dumb",
      typing answer: String? = nil
    ) async throws -> (status: Int32, text: String) {
      let terminal = try PseudoTerminal()
      if let answer { terminal.type(answer) }
      let process = try DLStoreProcess(
        arguments,
        store: store,
        in: folder.path,
        environment: ["TERM": type],
        terminal: terminal.handle
      )
      try await process.wait {
        _ = terminal.text
        return !process.isRunning
      }
      return (try await process.status(), terminal.text)
    }

    @Test func `no text of a user controls the terminal`() async throws {
      let text = HostileText.all
      let list = try folder.makeFile(
        "list",
        "ftp://\(text)\nhttp://c/1\n out=a/\(text)\n \(text)=1\n"
      )
      let added = try await run([
        "add", "http://a/1", "-o", text, "--tag", text, "--type", text,
      ])
      #expect(added.status == 0, "\(added.text)")
      let commands = [
        ["list"], ["list", "--format", "json"], ["list", "--format", "jsonl"],
        ["list", "--format", "csv"], ["inspect", "http://a/1"],
        ["inspect", "http://a/1", "--json"],
        ["explain", "http://a/1"], ["reconcile"], ["reconcile", "--json"], ["pause", "http://a/1"],
        ["set", "http://a/1", "--filename", "2" + text], ["purge", "--tag", text, "--dry-run"],
        // Rejected by the argument parser.
        ["list", text], ["list", "--sort", text], ["list", "--\(text)"], ["list", "--limit", text],
        [text], ["explain", "--stored", text], ["add", "http://b/1", "-o", "../" + text],
        ["run", "--transport", text], ["run", "--limit-rate", text],
        ["set", "x", "--priority", text],
        ["resume-data", "x", "--repair", text],
        // Rejected by the commands.
        ["add", text], ["add", "--input-file", list], ["add", "--input-file", text],
        ["inspect", text], ["remove", text], ["pause", "--tag", "x" + text], ["resume-data", text],
        ["get", "http://b/1", "--output-folder", "list/" + text], ["list", "--store", text],
      ]
      for command in commands {
        let result = try await run(command)
        #expect(HostileText.steering(result.text) == [], "\(command)")
        #expect(!result.text.isEmpty, "\(command)")
      }
      let asked = try await run(["purge", "--tag", text], typing: "n")
      #expect(asked.status == 1 && asked.text.contains("[y/N]"))
      #expect(HostileText.steering(asked.text) == [])
    }

    @Test(arguments: ["dumb", "xterm"])
    func `no text of a server controls the terminal`(type: String) async throws {
      let server = try FaultServer()
      // Header fields contain no C0 control except the tab: the transport rejects the others.
      let text = "\u{9B}31m\u{9D}0;t\u{9C}\u{85}\u{202E}gpj.exe\u{2066}\u{200F}\u{2028}"
      var coded = Resource(.text("x"))
      coded.fields = [Field("Content-Encoding", text)]
      var named = Resource(.text("x"))
      named.fields = [Field("Content-Disposition", "attachment; filename=\"a\(text)b\"")]
      server.route("/coded", coded)
      server.route("/named", named)
      server.route("/moved", Resource(redirectTo: "ftp://\(text)/"))
      for path in ["/coded", "/named", "/moved"] {
        let result = try await run(
          ["get", server.url(path), "--max-attempts", "1"],
          terminal: type
        )
        // The progress display itself moves the cursor. A carriage return before a line feed is one
        // Character with it, but a scalar of its own.
        let movement = /\u{1B}\[(\?(25|2026)[lh]|[0-9]*[AJKHGm])|\r/
        let rest = result.text.replacing(movement.matchingSemantics(.unicodeScalar), with: "")
        #expect(HostileText.steering(rest) == [], "\(path)")
        #expect(!rest.isEmpty)
        for format in ["table", "json", "csv"] {
          let listed = try await run(["list", "--format", format])
          #expect(HostileText.steering(listed.text) == [], "\(path) \(format)")
        }
      }
    }

    @Test func `resume data is not written to a terminal`() async throws {
      let golden =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ResumeDataTests/Fixtures/ios10.plist").path
      let result = try await run(["resume-data", golden, "--repair", "ios11", "-o", "-"])
      #expect(result.status == 64)
      #expect(!result.text.contains("plist") && result.text.contains("-o"), "\(result.text)")
    }
  }
#endif
