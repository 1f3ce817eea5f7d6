import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport

#if os(Linux)
  /// The recorded session: an engine that is stopped and killed, and commands in other processes.
  struct RecordedSession {
    private(set) var versions: [String: [RecordedRun.Version]] = [:]
    private(set) var marks: [RecordedRun.Mark] = []
    /// The parts of the recording in which bytes of other files are copied.
    private(set) var copies: [Range<Int>] = []
    /// The parts of the recording in which a newer version takes the place of a finished file.
    private(set) var replacements: [Range<Int>] = []
    let diskPath: String
    let logPath: String
    private let storePath: String
    private let foreignPath: String
    private let library: String
    private let server: FaultServer

    init(_ scratch: TemporaryFolder, _ server: FaultServer) async throws {
      self.server = server
      diskPath = scratch.path("disk")
      storePath = scratch.path("disk/store")
      foreignPath = scratch.path("foreign")
      logPath = scratch.path("recording")
      library = scratch.path("recorder.so")
      try await compileRecorder()
      try FileManager.default.createDirectory(
        atPath: diskPath,
        withIntermediateDirectories: true
      )
    }

    mutating func run() async throws {
      // The first transfer of each cannot complete before its command, however slow that is.
      for path in ["/plain", "/changing", "/paused", "/cancelled", "/removed"] {
        route(path, kilobytes: 1_500, kilobytesPerSecond: 700) {
          $0.faults = [.stallAfter(bytes: 1_000_000)]
        }
      }
      route("/late", kilobytes: 1_500, kilobytesPerSecond: 700)
      route("/reset", kilobytes: 1_200) { $0.faults = [.resetEvery(bytes: 300_000)] }
      route("/chunked", kilobytes: 700) { $0.framing = .chunked }
      let early = [
        "/plain", "/changing", "/paused", "/cancelled", "/removed", "/reset", "/chunked",
      ]
      try await run(["add"] + early.map(server.url), after: known(early))
      try await run(
        ["add", "--if-exists", "replace", "-o", "name", server.url("/late")],
        after: known(["/late"])
      )

      // Commands while an engine runs, which does not give the silent transfers up and repeat them.
      let first = try start(
        ["run", "--max-concurrent", "8", "--per-host", "8", "--timeout", "86400"]
      )
      try await wait { try record("/plain").received > 0 && record("/cancelled").received > 0 }
      try await run(["pause", server.url("/paused")])
      try await run(
        ["cancel", server.url("/cancelled")],
        before: ["/cancelled": nil],
        after: ["/cancelled": .cancelled]
      )
      try await run(
        ["remove", server.url("/removed")],
        before: ["/removed": nil],
        after: ["/removed": .gone]
      )
      try await run(["set", server.url("/plain"), "--filename", "another", "--priority", "3"])
      kill(first.processIdentifier, SIGTERM)
      try await first.waitForEnd()

      // Another version for a transfer that is resumed.
      route("/changing", kilobytes: 1_700, kilobytesPerSecond: 700)
      let second = try start(["run"])
      try await wait {
        try record("/changing").received > 0 && record("/changing").entityTag == "\"2\""
      }
      kill(second.processIdentifier, SIGKILL)
      try await second.waitForEnd()

      let rest = ["/plain", "/changing", "/reset", "/chunked", "/late"]
      try await run(["run", "--until-idle"], after: completed(rest))

      // Without an engine: downloads are restarted, removed and purged.
      route("/plain", kilobytes: 900)
      try await run(["restart", server.url("/plain")], before: ["/plain": .known])
      try await run(["resume", server.url("/paused")])
      try await run(["run", "--until-idle"], after: completed(["/plain", "/paused"]))
      try await run(
        ["remove", "--with-file", server.url("/chunked")],
        before: ["/chunked": nil],
        after: ["/chunked": .gone]
      )
      try await run(
        ["purge", "--state", "cancelled", "--yes"],
        before: ["/cancelled": nil],
        after: ["/cancelled": .gone]
      )
      route("/got", kilobytes: 400)
      try await run(
        ["get", "--output-folder", "\(diskPath)/elsewhere", server.url("/got")],
        after: completed(["/got"])
      )

      try await refreshKeepingVersions()
      try await repair()
      try await adopt()

      // Downloads restarted after a power cut need no rate limit.
      for (path, versions) in versions {
        guard let last = versions.last else { continue }
        server.route(path, Resource(last.body, etag: last.tag))
      }
    }

    /// Replaces a finished file by three newer versions, and keeps the last two that were replaced.
    private mutating func refreshKeepingVersions() async throws {
      route("/kept", kilobytes: 300)
      let folder = "\(diskPath)/elsewhere"
      try await run(
        ["get", "--output-folder", folder, "--keep-versions", "2", server.url("/kept")],
        after: completed(["/kept"])
      )
      for replaced in 1...3 {
        route("/kept", kilobytes: 300 + Int64(replaced) * 50)
        let start = logSize
        try await run(
          ["refresh", server.url("/kept")],
          before: ["/kept": .keeps(max(1, replaced - 1)..<replaced, isComplete: false)],
          after: ["/kept": .keeps(max(1, replaced - 1)..<replaced + 1, isComplete: true)]
        )
        replacements.append(start..<logSize)
      }
    }

    /// Damages the last piece of a finished file, and repairs it.
    private mutating func repair() async throws {
      route("/repaired", kilobytes: 2_500)
      let folder = "\(diskPath)/elsewhere"
      try await run(
        ["get", "--output-folder", folder, server.url("/repaired")],
        after: completed(["/repaired"])
      )
      mark(["/repaired": .damaged])
      // The recorder knows absolute paths.
      let damage =
        "printf damaged | dd of='\(folder)/repaired' bs=1 seek=2200000 conv=notrunc 2>/dev/null"
      let shell = Process()
      shell.executableURL = URL(filePath: "/bin/sh")
      shell.arguments = ["-c", damage]
      shell.environment = ProcessInfo.processInfo.environment.merging(recorder) { $1 }
      try await shell.runToEnd()
      let start = logSize
      try await run(
        ["verify-file", "--repair", server.url("/repaired")],
        after: completed(["/repaired"])
      )
      copies.append(start..<logSize)
    }

    /// Adopts the first bytes of a file that another program has begun.
    private mutating func adopt() async throws {
      route("/adopted", kilobytes: 2_000)
      guard let body = versions["/adopted"]?.last?.body else { return }
      try FileManager.default.createDirectory(
        atPath: foreignPath,
        withIntermediateDirectories: true
      )
      let path = "\(foreignPath)/adopted"
      let size = UInt64(body.byteCount)
      try Data(body.bytes(at: 0, count: 1_000_000)).write(to: URL(filePath: path))
      // A control file of aria2: one of three pieces is complete.
      func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe Array($0) }
      }
      let control: [[UInt8]] = [
        [0, 1], bytes(0 as UInt32), bytes(0 as UInt32), bytes(1_000_000 as UInt32), bytes(size),
        bytes(0 as UInt64), bytes(1 as UInt32), [0b1000_0000], bytes(0 as UInt32),
      ]
      try Data(control.joined()).write(to: URL(filePath: path + ".aria2"))
      let whole = "\(foreignPath)/whole"
      try body.write(toFile: whole)
      let digest = try Digest.ofFile(at: whole).text
      let start = logSize
      try await run(
        ["add", server.url("/adopted"), "--adopt", path, "--checksum", digest],
        after: known(["/adopted"])
      )
      copies.append(start..<logSize)
      try await run(["run", "--until-idle"], after: completed(["/adopted"]))
    }

    private var logSize: Int {
      (try? FileManager.default.attributesOfItem(atPath: logPath)[.size] as? Int) ?? 0
    }

    private func known(_ paths: [String]) -> [String: RecordedRun.Promise?] {
      Dictionary(uniqueKeysWithValues: paths.map { ($0, .known) })
    }

    private func completed(_ paths: [String]) -> [String: RecordedRun.Promise?] {
      Dictionary(uniqueKeysWithValues: paths.map { ($0, .completed) })
    }

    private mutating func route(
      _ path: String,
      kilobytes: Int64,
      kilobytesPerSecond: Int64? = nil,
      _ change: (inout Resource) -> Void = { _ in }
    ) {
      let number = versions[path, default: []].count + 1
      let seed = UInt64(versions.count * 10 + number)
      let body = Body.generated(byteCount: kilobytes * 1_000 + 123, seed: seed)
      var resource = Resource(body, etag: "\"\(number)\"")
      resource.bytesPerSecond = kilobytesPerSecond.map { $0 * 1_000 }
      change(&resource)
      versions[path, default: []].append(RecordedRun.Version(tag: "\"\(number)\"", body: body))
      server.route(path, resource)
    }

    private func record(_ path: String) throws -> DownloadRecord {
      try RecordStore(at: storePath, access: .readOnly).record(matching: server.url(path))
    }

    /// Polls until the condition holds.
    ///
    /// The suite's time limit ends a test whose condition never holds.
    private func wait(_ condition: () throws -> Bool) async throws {
      while try !condition() { try await Task.sleep(for: .milliseconds(10)) }
    }

    /// Runs a command until it ends, and records its promises.
    private mutating func run(
      _ arguments: [String],
      before: [String: RecordedRun.Promise?] = [:],
      after: [String: RecordedRun.Promise?] = [:]
    ) async throws {
      mark(before)
      let process = try start(arguments)
      try await process.waitForEnd()
      guard process.terminationReason == .exit, process.terminationStatus == 0 else {
        throw RecordedRun.Failure(description: "\(arguments): \(process.terminationStatus)")
      }
      mark(after)
    }

    private mutating func mark(_ promises: [String: RecordedRun.Promise?]) {
      guard !promises.isEmpty else { return }
      marks.append(RecordedRun.Mark(end: logSize, promises: promises))
    }

    private func start(_ arguments: [String]) throws -> Process {
      try RecordedRun.start(
        arguments,
        storePath: storePath,
        environment: recorder
      )
    }

    /// The variables that make a program record its system calls.
    private var recorder: [String: String] {
      ["LD_PRELOAD": library, "DLSTORE_RECORD_ROOT": diskPath, "DLSTORE_RECORD_LOG": logPath]
    }

    /// Swift uses clang for linking, so clang exists wherever this test was built.
    private func compileRecorder() async throws {
      let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Recorder/recorder.c").path
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "clang", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, source,
        "-ldl", "-lpthread",
      ]
      try await process.runToEnd()
      guard process.terminationStatus == 0 else {
        throw RecordedRun.Failure(description: "clang cannot compile \(source)")
      }
    }
  }
#endif
