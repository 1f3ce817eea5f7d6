import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

#if os(Linux)
  /// A disk of a few megabytes, which only root can mount.
  @Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "mounting a small file system needs root")
  )
  struct FullDiskTests {
    /// A mounted file system of the given size, unmounted when the value is released.
    private final class SmallDisk {
      let path: String

      init(bytes: Int) throws {
        path =
          FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
          atPath: path,
          withIntermediateDirectories: true
        )
        let code = unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)")
        try #require(code == 0, "mount: \(systemErrorText())")
      }

      func grow(to bytes: Int) throws {
        let code = unsafe mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)")
        try #require(code == 0)
      }

      deinit {
        unsafe umount(path)
        try? FileManager.default.removeItem(atPath: path)
      }
    }

    @Test func `a full disk for the files ends the run with 74, and free space lets it continue`()
      async throws
    {
      let disk = try SmallDisk(bytes: 4 << 20)
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "full-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let server = try FaultServer()
      defer { server.stop() }
      let body = Body.generated(byteCount: 8 << 20, seed: 1)
      server.route("/a", Resource(body))
      let arguments = ["--store", folder]
      #expect(try await BuiltProcess.run(arguments + ["add", server.url("/a")]) == 0)
      let log = "\(folder)/log"
      // With several connections, as on a slow machine by default, there would be several gaps.
      let run =
        arguments + ["run", "--until-idle", "--connections", "1", "--output-folder", disk.path]
      #expect(try await BuiltProcess.run(run, output: log) == 74)
      #expect(try String(contentsOfFile: log, encoding: .utf8).contains("full"))
      let store = try RecordStore(at: folder, access: .readOnly)
      let stopped = try store.record(matching: server.url("/a"))
      #expect(stopped.state == .waiting)
      #expect(stopped.received > 0)
      try await server.settle()
      let count = server.requests.count
      try disk.grow(to: 32 << 20)
      #expect(try await BuiltProcess.run(run, output: log) == 0)
      #expect(body.matches(file: "\(disk.path)/a"))
      let next = server.requests.dropFirst(count).first
      let start = "bytes=\(stopped.committed.prefixLength)-"
      #expect(next?["Range"]?.hasPrefix(start) == true, "\(next?["Range"] ?? "none"), not \(start)")
    }

    @Test func `a full disk delays only its own downloads, which continue when space is available`()
      async throws
    {
      let disk = try SmallDisk(bytes: 4 << 20)
      let folder = FileManager.default.temporaryDirectory
        .appending(path: "full-\(UUID().uuidString)").path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let server = try FaultServer()
      defer { server.stop() }
      let body = Body.generated(byteCount: 8 << 20, seed: 2)
      for path in ["/a", "/b", "/c", "/paused"] { server.route(path, Resource(body)) }
      let store = try RecordStore(at: folder)
      func add(_ path: String, _ root: String) throws {
        var request = DownloadRequest(url: server.url(path))
        request.root = root
        request.isPaused = path == "/paused"
        try store.addNow([request])
      }
      let full = try store.root(at: disk.path)
      let other = try store.root(at: "\(folder)/other")
      for path in ["/a", "/b", "/paused"] { try add(path, full) }
      func record(_ path: String) throws -> DownloadRecord {
        try store.record(matching: server.url(path))
      }
      let tool = try BuiltProcess(
        ["--store", folder, "run", "--timeout", "86400"],
        output: "\(folder)/log"
      )
      defer { tool.send(SIGKILL, toGroup: true) }
      try await waitUntil { tool.output.contains("waits for free space") }
      // A download to another volume is not delayed.
      try add("/c", other)
      try await waitUntil { try record("/c").state == .completed }
      for path in ["/a", "/b"] {
        let held = try record(path)
        #expect([.waiting, .running].contains(held.state) && !held.isHeld)
        #expect(held.failedAttempts == 0)
      }
      try disk.grow(to: 32 << 20)
      try await waitUntil {
        try record("/a").state == .completed && record("/b").state == .completed
      }
      #expect(body.matches(file: "\(disk.path)/a") && body.matches(file: "\(disk.path)/b"))
      // The user paused this one.
      #expect(try record("/paused").state == .paused)
      tool.send(SIGTERM)
      #expect(try await tool.exitCode() == 0)
    }

    /// Polls until the condition holds.
    ///
    /// The suite's time limit ends a test whose condition never holds.
    private func waitUntil(_ condition: () throws -> Bool) async throws {
      while try !condition() { try await Task.sleep(for: .milliseconds(20)) }
    }

    @Test func `a store that has lost its lock file is not called damaged on a full disk`()
      async throws
    {
      let disk = try SmallDisk(bytes: 1 << 20)
      let store = disk.path + "/store"
      let log = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: log) }
      #expect(try await BuiltProcess.run(["--store", store, "add", "http://h/a"]) == 0)
      try FileManager.default.removeItem(atPath: store + "/lock.mdb")
      #expect(throws: (any Error).self) {
        try Data(count: 2 << 20).write(to: URL(filePath: disk.path + "/filler"))
      }
      for command in ["list", "stats", "verify"] {
        #expect(try await BuiltProcess.run(["--store", store, command], output: log) == 74)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(text.contains("the disk is full") && !text.contains("damaged"), "\(text)")
      }
      try FileManager.default.removeItem(atPath: disk.path + "/filler")
      #expect(try await BuiltProcess.run(["--store", store, "list"]) == 0)
    }

    @Test func `a full disk for the store ends the command with 74 and loses nothing`()
      async throws
    {
      let disk = try SmallDisk(bytes: 1 << 20)
      let arguments = ["--store", "\(disk.path)/store", "add"]
      var added = 0
      var code: Int32?
      repeat {
        let urls = (added..<added + 100).map {
          "http://127.0.0.1:1/\($0)/\(String(repeating: "x", count: 500))"
        }
        code = try await BuiltProcess.run(arguments + urls)
        if code == 0 { added += 100 }
      } while code == 0
      #expect(code == 74)
      #expect(added > 0)
      let store = try RecordStore(at: "\(disk.path)/store", access: .readOnly)
      #expect(try store.records(DownloadRecord.all).count == added)
      try disk.grow(to: 16 << 20)
      let more = try await BuiltProcess.run(arguments + ["http://127.0.0.1:1/one-more"])
      #expect(more == 0)
    }
  }
#endif
