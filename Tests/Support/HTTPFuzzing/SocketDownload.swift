internal import DownloadStore
internal import DownloadSync
internal import FaultServer
internal import Foundation
internal import FuzzSupport
internal import ObjectStore
internal import SystemInterface
internal import TestSupport
internal import TransportTesting

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
    if TransportUnderTest.isURLSession,
      script.responses.contains(where: { WireHead.endsURLSession($0.head) })
    {
      return "left out"
    }
    let store = store
    let authority = "127.0.0.1:\(server.port)"
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
      cap: .milliseconds(2)
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

/// A response head as sent through the socket.
enum WireHead {
  /// The lines, with every `Location` on this machine: a fuzzer connects to no other.
  static func localized(
    _ lines: [[UInt8]],
    requestedFrom base: String,
    _ authority: String
  ) -> [[UInt8]] {
    let port = authority.split(separator: ":").last ?? ""
    return lines.compactMap { line in
      let text = String(decoding: line, as: UTF8.self)
      guard text.lowercased().hasPrefix("location") else { return line }
      // The server does not support TLS.
      let local = text.replacing("https:", with: "http:").replacing("example.com", with: authority)
        .replacing("example.org", with: "localhost:\(port)")
      let location = local.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
      // The transport refuses what cannot be requested.
      guard let url = try? RequestURL(base).resolving(location) else { return Array(local.utf8) }
      let isHere = ["127.0.0.1", "localhost"].contains(url.host)
      return isHere && url.port == Int(port) ? Array(local.utf8) : nil
    }
  }

  /// The bytes of the complete head.
  static func bytes(of lines: [[UInt8]]) -> [UInt8] {
    lines.flatMap { $0 + [13, 10] } + [13, 10]
  }

  /// Whether URLSession on Linux is known to end the process when it reads the head.
  ///
  /// It computes progress as `Double`, which rounds the largest lengths to 2^63, and then traps. It
  /// takes a line that begins with NUL for the end of a response that it then lacks.
  /// `URLSessionCrashTests` tests both facts. Truncated heads and trailer fields are never sent.
  static func endsURLSession(_ lines: [[UInt8]]) -> Bool {
    lines.contains { line in
      let text = String(decoding: line, as: UTF8.self)
      guard let match = text.wholeMatch(of: /(?i:content-length):[ \t]*(\+?[0-9]+).*/) else {
        return line.first == 0
      }
      return Int64(match.1).map { Double($0) >= 0x1p63 } ?? false
    }
  }

  /// Whether clients may interpret the entity of a head differently.
  static func isAmbiguous(_ lines: [[UInt8]]) -> Bool {
    let first = lines.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard first.wholeMatch(of: /HTTP\/1\.[01] [2-9][0-9][0-9] [ -~]*/) != nil else { return true }
    var names: Set<String> = []
    for line in lines.dropFirst() {
      let text = String(decoding: line, as: UTF8.self)
      guard let match = text.wholeMatch(of: /([!#-'*+\-.0-9A-Z^-z|~]+): *([ -~]*)/) else {
        return true
      }
      let name = match.1.lowercased()
      let tellsOfEntity = [
        "etag", "last-modified", "content-range", "content-length", "content-encoding",
        "transfer-encoding",
      ]
      if tellsOfEntity.contains(name), !names.insert(name).inserted { return true }
    }
    return false
  }
}
