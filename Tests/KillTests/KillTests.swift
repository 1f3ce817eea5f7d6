import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import Testing

/// How often the engine is killed; `DLSTORE_KILLS` sets another number.
private let kills = ProcessInfo.processInfo.environment["DLSTORE_KILLS"].flatMap(Int.init) ?? 100

/// `kill -9` at any moment, again and again, on a server that resets connections as well.
@Suite(.serialized, .timeLimit(.minutes(10 + kills / 20)))
struct KillTests {
  @Test func `SC13 no kill loses a byte, fetches a checkpointed one again or lies about progress`()
    throws
  {
    let scene = try KillScene()
    var random = SystemRandomNumberGenerator()
    for kill in 1...kills {
      try scene.keepBusy()
      let engine = try ToolProcess(["--store", scene.storePath, "run"], output: scene.logPath)
      // A kill needs a moment to fall on; which one it falls on is left to chance.
      usleep(UInt32.random(in: 30_000...1_700_000, using: &random))
      // Half of the kills hit the process that was started, the others its children too.
      engine.signal(SIGKILL, wholeGroup: Bool.random(using: &random))
      #expect(engine.wait().exitCode == nil, "the engine ended by itself: \(engine.text)")
      try scene.expectHonest(after: kill)
    }
    let end = try ToolProcess.run(
      ["--store", scene.storePath, "run", "--until-idle"],
      output: scene.logPath
    )
    #expect(end.exitCode == 0)
    try scene.expectComplete()
  }
}

/// A store, a hostile server, and the promises that must hold after each kill.
private final class KillScene {
  private static let byteCount: Int64 = 4_000_000
  private static let atOnce = 4

  let folder: URL
  let storePath: String
  let logPath: String
  private let server: FaultServer
  private let store: DownloadStore
  private var bodies: [String: Body] = [:]
  /// By path, how many bytes the store has promised after the last kill.
  private var promised: [String: Int64] = [:]
  /// By path, the stamp of a finished file whose bytes were compared.
  private var compared: [String: FileStamp] = [:]
  private var checkedRequests = 0

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "kills-\(UUID().uuidString)")
    storePath = folder.appending(path: "store").path
    logPath = folder.appending(path: "log").path
    server = try FaultServer()
    store = try DownloadStore(at: storePath)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Adds downloads so that there is always something to kill.
  func keepBusy() throws {
    let open = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    for _ in open.count..<max(open.count, Self.atOnce) {
      let path = "/file-\(bodies.count)"
      let body = Body.generated(byteCount: Self.byteCount, seed: UInt64(bodies.count + 1))
      // Half of the servers reset each connection after 1.5 MB.
      var resource =
        bodies.count.isMultiple(of: 2)
        ? Resource(body, faults: .resetEvery(bytes: 1_500_000), then: .repeatLast)
        : Resource(body)
      resource.bytesPerSecond = 1_500_000
      server.route(path, resource)
      bodies[path] = body
      try store.add([DownloadRequest(url: server.url(path))])
    }
  }

  /// What must be true right after a kill.
  func expectHonest(after kill: Int) throws {
    // The requests of the run that was killed kept what the store had promised before it.
    let requests = server.requests
    for request in requests[checkedRequests...] {
      let first = Self.firstByte(of: request["Range"])
      let promise = promised[request.target] ?? 0
      #expect(
        first >= promise,
        "kill \(kill): \(request.target) was asked for from \(first), \(promise) bytes were safe"
      )
    }
    checkedRequests = requests.count
    let roots = try store.roots()
    for (path, body) in bodies {
      let record = try store.record(named: server.url(path))
      let layout = try roots.layout(of: record)
      let facts = FileFacts(of: record, in: layout)
      #expect(record.state != .failedPermanent, "kill \(kill): \(record.attempts)")
      if facts.final == .missing {
        #expect(facts.partialSize >= record.received, "kill \(kill): \(record)")
      }
      let file = facts.final == .missing ? layout.partialPath : layout.finalPath
      let stamp = FileStamp(ofFileAt: file)
      // A whole file that was compared and is the same since is not read again after each kill.
      if record.state != .completed || stamp == nil || stamp != compared[path] {
        #expect(
          try Self.prefix(of: file, count: record.received, matches: body),
          "kill \(kill): bytes on disk differ from those of \(path)"
        )
      }
      compared[path] = record.state == .completed ? stamp : nil
      #expect(record.received >= promised[path] ?? 0)
      promised[path] = record.received
    }
  }

  func expectComplete() throws {
    for (path, body) in bodies {
      let record = try store.record(named: server.url(path))
      #expect(record.state == .completed)
      #expect(body.matches(file: try store.roots().layout(of: record).finalPath))
    }
    #expect(bodies.count >= Self.atOnce)
  }

  private static func firstByte(of range: String?) -> Int64 {
    guard let range, let dash = range.lastIndex(of: "-") else { return 0 }
    return Int64(range[range.index(range.startIndex, offsetBy: 6)..<dash]) ?? 0
  }

  private static func prefix(of file: String, count: Int64, matches body: Body) throws -> Bool {
    guard count > 0 else { return true }
    let handle = try FileHandle(forReadingFrom: URL(filePath: file))
    defer { try? handle.close() }
    let bytes = try handle.read(upToCount: Int(count)) ?? Data()
    return bytes.count == Int(count) && body.matches(bytes.span, at: 0)
  }
}
