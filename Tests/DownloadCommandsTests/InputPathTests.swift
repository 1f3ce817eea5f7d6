import ArgumentParser
import CommandTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Arguments that name a file to be read, and lead to none.
struct InputPathTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Commands that read a file in the place of `FILE`.
  private static let commands: [[String]] = [
    ["import", "FILE"], ["import", "--format", "aria2", "FILE"], ["resume-data", "FILE"],
    ["add", "--input-file", "FILE"], ["add", "--metalink", "FILE"],
    ["add", "http://h/x", "--cookie-file", "FILE"], ["add", "http://h/x", "--netrc-file", "FILE"],
    ["add", "http://h/x", "--checksum-file", "FILE"],
    ["get", "--input-file", "FILE"], ["get", "--metalink", "FILE"],
  ]

  private func run(_ words: [String], _ path: String) async -> CommandResult {
    await dlstore(["--store", folder.path("store")] + words.map { $0 == "FILE" ? path : $0 })
  }

  @Test(arguments: Self.commands)
  func `a folder in the place of a file is named as one`(words: [String]) async {
    // Its name does not look like a secret.
    let result = await run(words, "/usr/lib")
    #expect(result.status == .usage, "\(result.messages)")
    let text = result.messages.replacing("'", with: "")
    #expect(text.contains("/usr/lib is a folder, not a file"), "\(result.messages)")
  }

  @Test(arguments: Self.commands)
  func `a missing file is an error of its own, and so is a loop of links`(words: [String]) async {
    let loop = folder.path("loop")
    #expect(unsafe symlink(loop, loop) == 0)
    for (path, reason) in [
      (folder.path("none"), "No such file or directory"),
      (loop, "Too many levels of symbolic links"),
    ] where words.first != "get" || path != loop {
      let result = await run(words, path)
      #expect(result.status == .notFound, "\(result.messages)")
      #expect(result.messages.contains("cannot read \(path): \(reason)"), "\(result.messages)")
    }
  }

  @Test func `the certificate and the key of a server are read before it starts`() throws {
    let file = try folder.makeFile("c.pem", "")
    for (path, status) in [
      (folder.path("none"), ExitStatus.notFound), (folder.path, ExitStatus.usage),
    ] {
      for (certificate, key) in [(path, file), (file, path)] {
        let options = ["serve", "--certificate", certificate, "--key", key]
        let command = try DLStoreCommand.parseAsRoot(options) as? ServeCommand
        let serving = try #require(command?.serving)
        let failure = #expect(throws: CommandFailure.self) { try serving.options(token: nil) }
        #expect(failure?.status == status && failure?.message?.contains(path) == true)
      }
    }
  }

  @Test func `a folder in the place of the configuration file is named as one`() {
    let failure = #expect(throws: CommandFailure.self) {
      try Configuration(["list", "--config", folder.path], environment: [:])
    }
    #expect(failure?.status == .usage)
    #expect(
      failure?.message == "the configuration file \(folder.path) is a folder, not a file"
    )
  }

  @Test func `an unreadable configuration file in HOME is no mistake of --config`() throws {
    // A link to itself, which root cannot open either.
    let path = folder.path("home/.config/dlstore/config.json")
    try FileManager.default.createDirectory(
      atPath: folder.path("home/.config/dlstore"),
      withIntermediateDirectories: true
    )
    #expect(unsafe symlink(path, path) == 0)
    let failure = #expect(throws: CommandFailure.self) {
      try Configuration(["list"], environment: ["HOME": folder.path("home")])
    }
    let message = failure?.message ?? ""
    #expect(message.contains("$HOME") && !message.contains("--config"), "\(message)")
  }
}
