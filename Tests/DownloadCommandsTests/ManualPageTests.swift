import ArgumentParser
import CommandTestSupport
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The manual pages, checked by the programs that show them.
struct ManualPageTests {
  private static let pages = ManualCommand.pages(date: Date(timeIntervalSince1970: 0))

  @Test func `each visible command has a page`() {
    let names = CommandInfo(of: DLStoreCommand.self).visibleCommands.map(\.fullName)
    #expect(Self.pages.map(\.name) == names.map { $0.replacing(" ", with: "-") })
    #expect(Self.pages.first?.name == "dlstore")
    #expect(!Self.pages.contains { $0.name.contains("generate-manual") })
  }

  @Test func `a page has the arguments, the defaults and the examples of its command`() throws {
    let page = try #require(Self.pages.first { $0.name == "dlstore-run" }).text
    for text in [
      ".Dd January 1, 1970\n",
      ".Op Fl \\-max\\-concurrent Ar n", "by default 8.",
      "One of: urlsession, async\\-http\\-client.",
      ".Sh EXAMPLES", "dlstore run \\-\\-max\\-concurrent 3 \\-\\-limit\\-rate 2M",
      ".It Fl \\-continue\\-unvalidated , Fl \\-no\\-continue\\-unvalidated",
      ".Xr dlstore\\-list 1",
    ] {
      #expect(page.contains(text), "\(text) is missing")
    }
  }

  @Test func `the page of the tool lists the commands in groups`() throws {
    let page = try #require(Self.pages.first { $0.name == "dlstore" }).text
    let titles = page.split(separator: "\n").filter { $0.hasPrefix(".Ss ") }
    #expect(titles == FirstScreen.groups.map { ".Ss \($0.title)" })
    for command in CommandInfo(of: DLStoreCommand.self).visibleCommands.dropFirst()
    where command.superCommands == ["dlstore"] {
      #expect(
        page.contains(".It Xr dlstore\\-\(command.commandName.replacing("-", with: "\\-")) 1")
      )
    }
  }

  @Test func `a paragraph that looks like a macro is escaped`() throws {
    #expect(HelpText("a\nb\n\n.c\n\nEXAMPLES:\n  dlstore x\n").paragraphs == ["a b", ".c"])
    #expect(
      HelpText("a\n\nEXAMPLES:\n  dlstore x\n\n  dlstore y").examples == ["dlstore x", "dlstore y"]
    )
  }

  #if os(Linux)
    @Test func `man and mandoc accept the pages that generate-manual writes`() async throws {
      let folder = try TemporaryFolder()
      let made = await dlstore("generate-manual", folder.path("man"))
      #expect(made.status == .done, "\(made.messages)")
      let files = Self.pages.map { folder.path("man/\($0.name).1") }
      let lint = try await Tool.run("mandoc", ["-T", "lint", "-W", "warning"] + files)
      #expect(lint.output == "")
      #expect(lint.status == 0)
      for file in files {
        let shown = try await Tool.run("man", ["--warnings", "-E", "UTF-8", "-l", file])
        #expect(shown.messages == "")
        #expect(shown.status == 0)
        #expect(shown.output.contains("EXAMPLES"))
      }
    }
  #endif
}

/// A program of the system, run by a test.
enum Tool {
  /// Runs the program and waits until it exits.
  static func run(
    _ name: String,
    _ arguments: [String],
    environment additions: [String: String] = [:]
  ) async throws -> (status: Int32, output: String, messages: String) {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    var environment = ProcessInfo.processInfo.environment
    // Man asks the width of the terminal, if there is one.
    environment["MANWIDTH"] = "80"
    environment.merge(additions) { $1 }
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(
      forWritingTo: URL(filePath: try folder.makeFile("out"))
    )
    process.standardError = try FileHandle(forWritingTo: URL(filePath: try folder.makeFile("err")))
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do {
        try process.start()
      } catch {
        continuation.resume(throwing: error)
      }
    }
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }
    return (status, try text("out"), try text("err"))
  }
}
