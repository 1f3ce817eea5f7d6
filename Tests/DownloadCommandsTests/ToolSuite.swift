import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// A store in a folder of its own, and a server.
struct ToolFixture {
  let folder: TemporaryFolder
  let store: String
  let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }
}

extension DLStoreProcess {
  /// Kills a command that runs the engine of a store, and waits for the end of its worker.
  ///
  /// The worker ends by itself after its supervisor, but not at once: until then it goes on with
  /// downloads and posts, and has the engine's lock.
  func kill(withWorkerOn store: String) async throws {
    let lock = try String(contentsOfFile: "\(store)/engine.lock", encoding: .utf8)
    let name = lock.split(separator: "\n").first?.split(separator: " ").last
    let worker = try #require(name.flatMap { pid_t($0) })
    send(SIGKILL)
    _ = try await status()
    // Each thread of the worker has the lock, also when the first one has ended.
    try await wait {
      !DownloadCommandsTests.isRunning(worker) && EngineLock.holder(storePath: store) == nil
    }
  }
}

/// A suite that runs the built `dlstore` on a store, against a server.
protocol ToolSuite {
  var fixture: ToolFixture { get }
}

extension ToolSuite {
  var folder: TemporaryFolder { fixture.folder }
  var store: String { fixture.store }
  var server: FaultServer { fixture.server }

  /// Starts the program.
  func start(_ arguments: String...) throws -> DLStoreProcess {
    try DLStoreProcess(arguments, store: store, in: folder.path)
  }

  /// Runs the program until it exits.
  @discardableResult
  func dlstore(
    _ arguments: String...
  ) async throws -> (status: Int32, output: String, messages: String) {
    let process = try DLStoreProcess(arguments, store: store, in: folder.path)
    return (try await process.status(), process.output, process.messages)
  }

  /// Runs an engine in another process while `body` runs.
  func running(
    _ options: String...,
    body: (DLStoreProcess) async throws -> Void
  ) async throws {
    // On a slow machine a server that stalls may stall for minutes.
    let patience = ["--timeout", "10m", "--lowest-speed-time", "1h"]
    let engine = try DLStoreProcess(["run"] + patience + options, store: store, in: folder.path)
    do {
      try await body(engine)
    } catch {
      engine.send(SIGKILL)
      throw error
    }
    engine.send(SIGTERM)
    #expect(try await engine.status() == 0)
  }

  /// The record of a file of the server.
  func record(_ path: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: server.url(path))
  }

  func waitUntil(_ condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(10)) }
  }
}
