internal import DownloadStore
internal import DownloadSync
internal import EngineTestSupport
internal import FaultServer
internal import Foundation
internal import ObjectStore
internal import SystemInterface
internal import TestSupport

/// A store whose downloads receive their responses from scripts over a socket, with the transport
/// of this build.
final class SocketDownload {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let server: FaultServer
  private let transport = TransportUnderTest.make(idleTimeout: .seconds(1))

  /// Creates a store in memory and a server.
  init() throws {
    folder = try TemporaryFolder(inMemory: true)
    store = try RecordStore(at: folder.path("store"))
    server = try FaultServer()
  }

  deinit {
    server.stop()
  }

  /// Downloads a file, and checks the result.
  ///
  /// - Returns: A description of what happened.
  /// - Throws: `FuzzViolation`, or an error of the store or the engine.
  func run(_ script: ResponseScript) async throws -> String {
    let store = store
    let authority = "127.0.0.1:\(server.port)"
    if TransportUnderTest.isURLSession,
      script.responses.contains(where: { response in
        WireHead.endsURLSession(
          WireHead.localized(response.head, requestedFrom: "http://\(authority)", authority)
        )
      })
    {
      return "left out"
    }
    let url = "http://\(authority)/dir/name.bin?token=secret-query"
    let scripted = ScriptedServer(
      script,
      joinsFields: TransportUnderTest.isURLSession,
      silenceIsLoss: false
    ) {
      let record = try? store.record(matching: url)
      return (record?.entityTag, record?.lastModified)
    }
    server.route(
      "*",
      Resource { request in
        Self.reply(to: request, by: scripted, from: url, script, authority: authority)
      }
    )
    var request = DownloadRequest(url: url)
    request.headers = Secrets.headers
    if script.has("digest") { request.digest = scripted.healthyDigest }
    try store.addNow([request])
    _ = try await engine(script).run(until: .idle)
    if let violation = scripted.violation { throw violation }
    let record = try store.record(matching: url)
    try DownloadProperties.checkEnd(of: record, in: store, scripted)
    guard try folder.names() == ["store"] else {
      throw FuzzViolation("there is a file next to the store")
    }
    try store.purge(try store.purgePlan([record], withFiles: true))
    guard try folder.names(in: "store/files").isEmpty else {
      throw FuzzViolation("a purge left \(try folder.names(in: "store/files"))")
    }
    let code = record.attempts.last.map { $0.failure.code.rawValue } ?? ""
    return (scripted.statuses + [record.state.rawValue, code]).joined(separator: " ")
  }

  /// Creates an engine with short retry delays.
  private func engine(_ script: ResponseScript) throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = RetryPolicy(
      maximumAttempts: 4,
      base: .milliseconds(1),
      cap: .milliseconds(2),
      longestServerWait: .milliseconds(2)
    )
    options.checkpointBytes = Int64(script.option("checkpoint", in: 1...2_000) ?? 32)
    options.naming = script.has("url") ? .fromURL : .fromResponse
    var environment = EngineEnvironment.live
    environment.wake = { _, post in
      let ticking = Task {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(2))
          post(.ticked)
        }
      }
      return { ticking.cancel() }
    }
    return try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: environment
    )
  }

  // MARK: The server

  private static func reply(
    to request: Request,
    by scripted: ScriptedServer,
    from url: String,
    _ script: ResponseScript,
    authority: String
  ) -> RawReply {
    let host = request["Host"] ?? ""
    let fields = request.fields.map { HeaderField(name: $0.name, value: $0.value) }
    if let violation = Secrets.violation(in: fields, to: "http://\(host)/", from: url) {
      scripted.note(violation)
    }
    let range = request["Range"].flatMap { $0.wholeMatch(of: /bytes=([0-9]+)-/) }
    let answer = scripted.answer(
      offset: range.flatMap { Int64($0.1) } ?? 0,
      validator: request["If-Range"]
    )
    let lines = WireHead.localized(answer.lines, requestedFrom: "http://\(host)", authority)
    if WireHead.isAmbiguous(lines) { scripted.noteAmbiguity() }
    let isChunked = answer.head["Transfer-Encoding"]?.lowercased().contains("chunked") ?? false
    let body = answer.part.bytes(from: 0, count: answer.plan.byteCount)
    var bytes = WireHead.bytes(of: lines)
    guard isChunked else {
      bytes += body
      let ending: RawReply.Ending = script.has("kept") ? .keep : .close
      return RawReply(bytes, ending: answer.plan.ending == .lost ? .reset : ending)
    }
    var place = 0
    while place < body.count {
      let end = min(body.count, place + answer.plan.pieceSize)
      bytes += Array("\(String(end - place, radix: 16))\r\n".utf8) + body[place..<end] + [13, 10]
      place = end
    }
    switch answer.plan.ending {
    case .lost: return RawReply(bytes, ending: .reset)
    case .silent, .stop: return RawReply(bytes)
    case .fitting, .complete:
      let end = Array("0\r\n\r\n".utf8)
      return RawReply(bytes + end, ending: script.has("kept") ? .keep : .close)
    }
  }
}
