import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands
@testable import DownloadServer

/// The commands that `dlstore --server` has a server run.
@Suite struct RemoteCommandTests {
  @Test(arguments: [
    ["list", "--state", "failed", "--format=json"], ["ls"], ["inspect", "8c2b", "--json"],
    ["add", "https://example.com/a", "-o", "sub/a.iso", "--tag", "x"], ["pause", "--all"],
    ["remove", "a.iso", "--with-file", "--yes"], ["stats", "--json"], ["limit"], ["limit", "2M"],
  ])
  func `commands about records are allowed`(arguments: [String]) throws {
    let command = try RemoteCommand(arguments)
    #expect(
      command.isChange == ["add", "pause", "remove"].contains(command.name)
        || arguments.last == "2M"
    )
  }

  @Test(arguments: [
    ["run"], ["get", "https://example.com/a"], ["backup", "/tmp/x"], ["store", "models"],
    ["--store", "x"],
    [], ["list", "--watch"], ["list", "--store", "/other"], ["list", "--config=x"],
    ["add", "--input-file", "/etc/passwd"], ["add", "-i/etc/passwd"], ["add", "-"],
    ["add", "x", "--metalink", "/etc/passwd"], ["add", "x", "--cookie-file=c"], ["add", "--", "x"],
    ["add", "x", "-o", "/etc/cron.d/x"], ["add", "x", "--output=/x"],
    ["add", "x", "--folder", "~/x"],
    ["add", "x", "-o/etc/x"], ["list", "--immutable"], ["inspect", "x", "--reveal-secrets"],
    ["cancel", "x", "-qy"], ["verify-file", "x"], ["cat", "x"], ["root", "set", "a", "/"],
  ])
  func `nothing else is, whoever asks`(arguments: [String]) {
    #expect(throws: RemoteCommand.Refusal.self) { try RemoteCommand(arguments) }
  }

  @Test func `a command has the output and the exit code that it has on that machine`() async throws
  {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    for arguments in [
      ["list"], ["add", "https://example.com/a?token=hush", "--tag", "x"], ["list"],
      ["list", "--format", "json"], ["list", "--state", "nothing"], ["inspect", "nothing"],
      ["inspect", "a", "--json"], ["pause", "a"], ["pause", "a", "b"], ["stats"],
      ["remove", "--all"], ["list", "--sort", "wrong"],
    ] {
      let local = await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
      let remote = await RemoteExecution.run(arguments, onStoreAt: store, mayChange: true)
      #expect(remote.status == local.status.rawValue, "\(arguments)")
      // The second run of a change changes nothing.
      if ["list", "inspect"].contains(arguments[0]) {
        #expect(remote.output == local.output, "\(arguments)")
        // The harness of the tests prints errors of the parser in another way than the program.
        // The path of the store is none of the client's machine.
        let messages = local.messages.replacing(" --store \(store)", with: "")
        #expect(remote.status == 64 || remote.messages == messages, "\(arguments)")
      }
    }
    let refused = await RemoteExecution.run(["pause", "a"], onStoreAt: store, mayChange: false)
    #expect(refused.status == 64 && refused.messages.contains("POST"))
  }

  @Test(arguments: [
    ["add", "https://example.com/a", "--folder", ".ssh"],
    ["add", "https://example.com/a", "--folder=b/.ssh/c"],
    ["add", "https://example.com/a", "-o", "b/.ssh/a"],
  ])
  func `no command of a client adds to a hidden folder, however it is named`(
    arguments: [String]
  ) async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    _ = await RemoteExecution.run(["add", "https://h/b"], onStoreAt: store, mayChange: true)
    let remote = await RemoteExecution.run(arguments, onStoreAt: store, mayChange: true)
    let listed = await dlstore("list", "--store", store, "--format", "json")
    #expect(remote.status != 0 && remote.messages.contains("hidden"), "\(remote.messages)")
    #expect(!listed.output.contains("example.com"), "\(listed.output)")
    // A user of the machine may.
    let local = await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
    #expect(local.status == .done, "\(local.messages)")
  }

  @Test func `the server and its token come before the command or from the environment`() throws {
    let none: [String: String] = [:]
    #expect(try RemoteServer(["list"], environment: none)?.url == nil)
    let given = ["--server", "https://h:1/", "--token-file=t", "list", "--json"]
    let server = try #require(try RemoteServer(given, environment: none))
    #expect(server.url == "https://h:1" && server.command.arguments == ["list", "--json"])
    let variable = ["DLSTORE_SERVER": "http://127.0.0.1:1"]
    #expect(try RemoteServer(["pause", "--all"], environment: variable)?.command.isChange == true)
    for local in [["config"], ["help"], ["--version"], ["list", "--store", "x"], []] {
      let server = try RemoteServer(local, environment: variable)
      #expect(server?.url == nil, "\(local)")
    }
    for wrong in [["--server", "h", "list"], ["--server"], ["--token-file", "t", "list"]] {
      #expect(throws: CommandFailure.self) { try RemoteServer(wrong, environment: none) }
    }
    #expect(throws: CommandFailure.self) { try RemoteServer(["run"], environment: variable) }
  }

  @Test func `thousands of names are refused before a server cuts them off`() async throws {
    let names = (0..<5_000).map { "download-\($0).iso" }
    let given = ["--server", "http://127.0.0.1:1", "list"] + names
    let server = try RemoteServer(given, environment: [:])
    let failure = await #expect(throws: CommandFailure.self) { _ = try await server?.run() }
    #expect(failure?.status == .usage && failure?.message?.contains("--match") == true)
  }
}
