import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The options of `serve`, and the server as a process.
@Suite(.timeLimit(.minutes(10)))
struct ServeOptionTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  @Test(arguments: [
    ["--listen", "0.0.0.0"], ["--listen", "10.0.0.1:80", "--token-file", "t"],
    ["--listen", "::", "--token-file", "t", "--certificate", "c"],
    ["--listen", "example.com", "--insecure"], ["--socket", "s", "--port", "1"],
    ["--socket", "s", "--certificate", "c", "--key", "k"], ["--socket", ""], ["--key", "k"],
    ["--listen", "127.0.0.1:1", "--port", "2"], ["--listen", "a b"], ["--listen", "h:x"],
    ["--json", "--json-events"],
  ])
  func `a server that others could misuse is refused`(options: [String]) {
    #expect(throws: (any Error).self) {
      _ = try DLStoreCommand.parseAsRoot(["serve", "--store", store] + options)
    }
  }

  @Test(arguments: [
    [], ["--listen", "127.0.0.2:80"], ["--listen", "[::1]:80"], ["--listen", "::1"],
    ["--listen", "localhost", "--port", "80"], ["--socket", "s"],
    ["--listen", "0.0.0.0", "--token-file", "t", "--insecure"],
    ["--listen", "::", "--token-file", "t", "--certificate", "c", "--key", "k"],
  ])
  func `a server for this machine, or with a token and TLS, is accepted`(options: [String]) throws {
    _ = try DLStoreCommand.parseAsRoot(["serve", "--store", store] + options)
  }

  @Test func `a token file is created for this user only, and refused if others can read it`()
    throws
  {
    let path = folder.path("token")
    let token = try TokenFile.read(path)
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(permissions as? Int == 0o600 && token.count == 32)
    let again = try TokenFile.read(path)
    #expect(again == token)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    let failure = #expect(throws: CommandFailure.self) { try TokenFile.read(path) }
    #expect(failure?.status == .permissionDenied)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try Data("short".utf8).write(to: URL(filePath: path))
    #expect(throws: CommandFailure.self) { try TokenFile.read(path) }
    #expect(throws: CommandFailure.self) { try TokenFile.read(folder.path) }
  }

  #if Server && os(Linux)
    @Test(arguments: [[], ["--run"]], [SIGINT, SIGTERM, SIGHUP])
    func `serve prints its address, and a signal ends it`(
      options: [String],
      signal: Int32
    )
      async throws
    {
      let socket = folder.path("s")
      let process = try DLStoreProcess(
        ["serve", "--json", "--allow-changes", "--socket", socket] + options,
        store: store,
        in: folder.path
      )
      try await process.wait { process.output.hasSuffix("\n") }
      let data = Data(process.output.utf8)
      let line = try JSONSerialization.jsonObject(with: data) as? [String: Any]
      #expect(line?["socket"] as? String == socket && line?["allowsChanges"] as? Bool == true)
      process.send(signal)
      let status = try await process.status()
      #expect(status == 0, "\(process.messages)")
      #expect(!FileManager.default.fileExists(atPath: socket))
    }

    #if AsyncHTTPClient
      @Test func `after a crash, serve can be reached at the address that it has printed`()
        async throws
      {
        let process = try DLStoreProcess(
          ["serve", "--run", "--json", "--port", "0"],
          store: store,
          in: folder.path
        )
        try await process.wait { process.output.hasSuffix("\n") }
        let output = process.output
        let line = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        let url = try #require(line?["url"] as? String)
        let children = "/proc/\(process.id)/task/\(process.id)/children"
        let text = try String(contentsOfFile: children, encoding: .utf8)
        let worker = try #require(text.split(separator: " ").first.flatMap { pid_t($0) })
        kill(worker, SIGABRT)
        try await process.message("restarting it")
        // The next worker opens its port a moment later.
        let deadline = ContinuousClock.now + hangLimit
        var answer = (status: Int32(-1), output: "", messages: "")
        while answer.status != 0, ContinuousClock.now < deadline, process.isRunning {
          answer = try await DLStoreProcess.run("--server", url, "stats", store: store)
        }
        #expect(answer.status == 0, "\(answer.messages)\(process.messages)")
        #expect(process.output == output)
        process.send(SIGTERM)
        #expect(try await process.status() == 0, "\(process.messages)")
      }
    #endif

    #if AsyncHTTPClient && os(Linux)
      @Test func `after a crash, serve prints its new address if its port is taken`() async throws {
        let other = try DLStoreProcess(
          ["serve", "--allow-changes", "--json", "--port", "0"],
          store: folder.path("other"),
          in: folder.path
        )
        try await other.wait { other.output.hasSuffix("\n") }
        let taken = try port(in: other.output)
        // The shell is the supervisor of a worker that is to use the port of the other server.
        let variables =
          "DLSTORE_WORKER=$$ DLSTORE_PREVIOUS_EXIT=crashed DLSTORE_WORKER_PORT=\(taken)"
        let process = try DLStoreProcess(
          [],
          store: store,
          in: folder.path,
          shell: "\(variables) dlstore serve --run --json --port 0 3> /dev/null; exit $?"
        )
        try await process.wait { process.output.hasSuffix("\n") }
        #expect(try port(in: process.output) != taken)
        // The kernel ends the worker with the shell.
        process.send(SIGTERM)
        _ = try await process.status()
        other.send(SIGTERM)
        #expect(try await other.status() == 0, "\(other.messages)")
      }

      private func port(in output: String) throws -> Int {
        let line = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return try #require(line?["port"] as? Int)
      }
    #endif

    @Test func `serve without changes creates no store`() async throws {
      let result = try await DLStoreProcess.run("serve", "--port", "0", store: store)
      #expect(result.status == 66 && result.messages.contains("creates a store"))
    }
  #endif
}
