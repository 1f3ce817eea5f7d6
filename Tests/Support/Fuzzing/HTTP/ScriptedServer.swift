internal import DownloadStore
internal import DownloadSync
internal import SystemInterface

/// Answers requests from a script, and correctly once the script has ended.
final class ScriptedServer: Sendable {
  /// The answer to one request.
  struct Answer: Sendable {
    /// The status line and the fields.
    var lines: [[UInt8]]
    /// The same fields as the client receives them.
    var head: ParsedHead
    /// The body.
    var part: EntityLedger.Part
    /// How the body is sent.
    var plan: BodyPlan
  }

  private struct State {
    var ledger = EntityLedger()
    var requestCount = 0
    var violation: FuzzViolation?
    var statuses: [String] = []
  }

  /// The maximum number of requests that a client sends for a script and a healthy server after it.
  private static let patience = 100

  private let script: ResponseScript
  private let joinsFields: Bool
  private let silenceIsLoss: Bool
  private let healthySize: Int
  /// The entity tag of the healthy server.
  private let healthyTag: String
  private let stored: @Sendable () -> (tag: String?, date: String?)
  // Held briefly, while an answer is created.
  private let state: Mutex<State>

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - script: The answers.
  ///   - joinsFields: Whether the client joins fields of the same name.
  ///   - silenceIsLoss: Whether the client can distinguish silence from the end of a body.
  ///   - stored: Returns the validators of the record.
  init(
    _ script: ResponseScript,
    joinsFields: Bool,
    silenceIsLoss: Bool,
    stored: @escaping @Sendable () -> (tag: String?, date: String?)
  ) {
    self.script = script
    self.joinsFields = joinsFields
    self.silenceIsLoss = silenceIsLoss
    self.stored = stored
    healthySize = script.option("size", in: 0...2_000) ?? 20
    healthyTag = "\"\(script.option("tag", in: 0...9) ?? 9)\""
    state = Mutex(State())
  }

  /// The digest of the healthy entity.
  var healthyDigest: Digest {
    var hasher = DigestHasher(.sha256)
    let part = EntityLedger().part(ofTag: healthyTag, from: 0)
    hasher.update(part.bytes(from: 0, count: healthySize).span)
    return hasher.digest
  }

  /// The statuses sent, as text.
  var statuses: [String] { state.withLock { $0.statuses } }

  /// A violation by a request.
  var violation: FuzzViolation? { state.withLock { $0.violation } }

  /// Returns whether a finished file is one entity that was sent, or cannot be distinguished from
  /// one.
  func accepts(_ file: [UInt8]) -> Bool {
    state.withLock { $0.ledger.isAmbiguous || $0.ledger.accepts(file) }
  }

  /// Answers a request.
  ///
  /// - Parameters:
  ///   - offset: The first requested byte.
  ///   - validator: The value of `If-Range`.
  /// - Returns: The next response of the script.
  func answer(offset: Int64, validator: String?) -> Answer {
    let (tag, date) = stored()
    let request = EntityLedger.Request(
      offset: offset,
      validator: validator,
      storedTag: tag,
      storedDate: date
    )
    return state.withLock { state in
      let index = state.requestCount
      state.requestCount += 1
      if index >= Self.patience {
        state.violation = FuzzViolation("the client sends requests without end")
      }
      guard index < min(script.responses.count, ResponseScript.limit) else {
        return healthyAnswer(to: request, &state)
      }
      let response = script.responses[index]
      let head = ParsedHead(response.head, joinsFields: joinsFields)
      let plan = BodyPlan(response.body)
      let fits = head.contentLength.map { plan.byteCount >= $0 } ?? true
      let isCut =
        plan.ending == .lost || silenceIsLoss && [.silent, .stop].contains(plan.ending)
        || plan.ending == .fitting && !fits
      let part = state.ledger.note(
        head,
        to: request,
        byteCount: plan.byteCount,
        isWhole: !isCut
      )
      state.statuses.append(head.status.map(String.init) ?? "none")
      return Answer(lines: response.head, head: head, part: part, plan: plan)
    }
  }

  /// Records a violation by a request.
  func note(_ violation: FuzzViolation) {
    state.withLock { $0.violation = $0.violation ?? violation }
  }

  /// Records that no client can distinguish the entities of this server.
  func noteAmbiguity() {
    state.withLock { $0.ledger.noteAmbiguity() }
  }

  private func healthyAnswer(to request: EntityLedger.Request, _ state: inout State) -> Answer {
    let size = healthySize
    state.ledger.add(tag: healthyTag, size: size)
    var lines = ["HTTP/1.1 200 OK", "Content-Length: \(size)", "ETag: \(healthyTag)"]
    var start = 0
    if request.offset > 0, request.validator == healthyTag {
      start = Int(min(request.offset, Int64(size)))
      let range = start < size ? "\(start)-\(size - 1)" : "*"
      lines = [
        start < size ? "HTTP/1.1 206 Partial" : "HTTP/1.1 416 Beyond",
        "Content-Length: \(size - start)", "Content-Range: bytes \(range)/\(size)",
        "ETag: \(healthyTag)",
      ]
    }
    let bytes = lines.map { Array($0.utf8) }
    return Answer(
      lines: bytes,
      head: ParsedHead(bytes, joinsFields: joinsFields),
      part: state.ledger.part(ofTag: healthyTag, from: Int64(start)),
      plan: BodyPlan("\(size - start)")
    )
  }
}

/// The secrets of a download, which no other origin may receive.
enum Secrets {
  /// The header fields of the download's requests.
  static let headers = [
    HeaderField(name: "Authorization", value: "Bearer secret-token"),
    HeaderField(name: "Cookie", value: "session=secret-cookie"),
    HeaderField(name: "User-Agent", value: "fuzz"),
  ]

  /// The part of each secret that is searched for.
  static let mark = "secret-"

  /// Checks a request.
  static func violation(
    in fields: [HeaderField],
    to url: String,
    from origin: String
  ) -> FuzzViolation? {
    guard RecordIdentity.origin(of: url) != RecordIdentity.origin(of: origin) else { return nil }
    let field = fields.first { $0.value.contains(mark) }
    return field.map {
      FuzzViolation("\($0.name) is sent to \(url), another origin than \(origin)")
    }
  }
}
