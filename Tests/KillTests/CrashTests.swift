import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Responses that crash URLSession's process, and a run that completes nevertheless.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CrashTests {
  /// Legal HTTP that crashes URLSession: a chunked body with a trailer field.
  static let trailer = Fault.rawResponse(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n"
  )

  /// A response that keeps the queue shared by all sessions busy forever.
  static let flood = Fault.rawForEver(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    repeating: "X-A: b\r\n"
  )

  @Test(arguments: [Fault.closeInsideHeader, trailer, flood])
  func `a server that crashes or hangs the process is quarantined, and other downloads complete`(
    _ fault: Fault
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "crash-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let server = try FaultServer()
    defer { server.stop() }
    let body = Body.generated(byteCount: 3_000_000, seed: 1)
    var slow = Resource(body)
    slow.bytesPerSecond = 3_000_000
    server.route("/poison", Resource(body, faults: fault, then: .repeatLast))
    server.route("/good", slow)
    let added = try await BuiltProcess.run(
      ["--store", folder, "add", server.url("/poison"), server.url("/good")])
    #expect(added == 0)

    let code = try await BuiltProcess.run(
      [
        "--store", folder, "run", "--until-idle", "--timeout", "86400", "--transport", "urlsession",
      ]
    )
    #expect(code == 1)
    let store = try RecordStore(at: folder, access: .readWrite)
    let poison = try store.record(matching: server.url("/poison"))
    #expect(poison.state == .failedPermanent)
    #expect(poison.attempts.last?.failure.code == .quarantined)
    // The first start does not count if bytes were synced before the crash.
    try await server.settle()
    #expect((3...4).contains(server.requests.count { $0.target == "/poison" }))
    let good = try store.record(matching: server.url("/good"))
    #expect(good.state == .completed)
    #expect(body.matches(file: "\(folder)/files/good"))

    // Restarting the download allows another three starts.
    server.route("/poison", Resource(body))
    let again = try await BuiltProcess.run(["--store", folder, "add", server.url("/poison")])
    #expect(again == 0)
    let last = try await BuiltProcess.run(
      ["--store", folder, "run", "--until-idle", "--transport", "urlsession"]
    )
    #expect(last == 0)
    #expect(body.matches(file: "\(folder)/files/poison"))
  }
}
