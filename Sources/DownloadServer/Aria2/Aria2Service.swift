internal import DownloadReports
package import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// aria2's JSON-RPC over a download store, for its front ends and browser extensions.
///
/// Knows nothing of HTTP: it gets the bytes of a request and returns those of the answer. It needs no
/// engine, because commands are written to the store. Decision 0110 says how the methods are mapped.
package struct Aria2Service: Sendable {
  /// What the service knows of running downloads at the time of a request.
  package struct Live: Sendable {
    /// Returns the speed of a running download in bytes per second, by its id.
    package var speed: @Sendable (String) -> Double?
    /// The sum of the speeds.
    package var bytesPerSecond: Double
    /// The numbers of downloads by the word of their state; `nil` to count them for each request.
    package var counts: [String: Int]?

    /// Creates a snapshot.
    package init(
      bytesPerSecond: Double = 0,
      counts: [String: Int]? = nil,
      speed: @escaping @Sendable (String) -> Double? = { _ in nil }
    ) {
      self.speed = speed
      self.bytesPerSecond = bytesPerSecond
      self.counts = counts
    }
  }

  /// The number of downloads at the front of the queue that clients can list and reorder.
  static let longestQueue = 10_000
  /// The number of stopped downloads that clients can list, which is aria2's default.
  static let mostStopped = 1_000
  /// The version of aria2 whose interface this is; clients compare it.
  static let version = "1.37.0"

  let store: RecordStore
  let allowsChanges: Bool
  var retries = RecentRetries()
  /// The cancellations of the calls so far, whose partial files the caller deletes.
  var cancellations: [CommandOutcome] = []
  private let product: String
  private let sessionID: String
  private let isToken: @Sendable (String) -> Bool

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - allowsChanges: Whether clients may change downloads.
  ///   - product: The name and version of the program.
  ///   - isToken: Whether a text is the token, compared in constant time; an empty text if the client
  ///     has sent none.
  package init(
    store: RecordStore,
    allowsChanges: Bool,
    product: String = "dlstore",
    isToken: @escaping @Sendable (String) -> Bool
  ) {
    self.store = store
    self.allowsChanges = allowsChanges
    self.product = product
    self.isToken = isToken
    // 40 digits, as those of aria2.
    let bytes = (0..<20).map { _ in UInt8.random(in: .min ... .max) }
    sessionID = Hexadecimal.encode(bytes)
  }

  /// Answers a request, on a thread that may block.
  ///
  /// A copy answers one request, so that ``cancellations`` are those of the request.
  mutating func answer(_ request: Aria2Request, _ live: Live) -> Aria2Answer {
    switch request {
    case .syntaxError: return Aria2Answer(id: nil, .failure(.syntaxError))
    case .invalid: return Aria2Answer(id: nil, .failure(.invalidRequest))
    case .tooLong: return Aria2Answer(id: nil, .failure(Self.tooManyCalls))
    case .call(let call):
      guard call.count <= Aria2Request.mostCalls else {
        return Aria2Answer(id: call.id, .failure(Self.tooManyCalls))
      }
      return answer(call, live)
    case .batch(let calls):
      guard calls.reduce(0, { $0 + max(1, $1.count) }) <= Aria2Request.mostCalls else {
        return Aria2Answer(id: nil, .failure(Self.tooManyCalls))
      }
      var budget = AnswerBudget()
      return Aria2Answer(
        batch: calls.map { call in
          guard budget.allowsMore else { return Aria2Answer(id: call.id, .failure(Self.tooLarge)) }
          let answer = answer(call, live)
          budget.add(answer.json)
          return answer
        }
      )
    }
  }

  private static let tooLarge = Aria2Error("the answers to the calls before this one are too large")
  private static let tooManyCalls = Aria2Error(
    "a request has at most \(Aria2Request.mostCalls) calls, and \(Aria2Request.mostValues) values"
  )

  private mutating func answer(_ call: Aria2Call, _ live: Live) -> Aria2Answer {
    guard let id = call.id, let name = call.method else {
      return Aria2Answer(id: call.id, .failure(.invalidRequest))
    }
    var parameters: [JSONValue] = []
    switch call.parameters {
    case .array(let values)?: parameters = values
    case nil: break
    default: return Aria2Answer(id: id, .failure(.invalidParameters))
    }
    return Aria2Answer(id: id, result(of: name, Aria2Parameters(parameters), live))
  }

  private mutating func result(
    of name: String,
    _ parameters: Aria2Parameters,
    _ live: Live,
    isNested: Bool = false
  ) -> Result<JSONValue, Aria2Error> {
    var parameters = parameters
    let method = Aria2Method(rawValue: name)
    let token = parameters.takeToken()
    guard !(method?.needsToken ?? true) || isToken(token ?? "") else {
      return .failure(.unauthorized)
    }
    guard let method else {
      return .failure(Aria2Error("No such method: \(Redaction.argument(name))"))
    }
    guard allowsChanges || !method.isChange else {
      return .failure(
        Aria2Error("this server changes nothing: it was started without --allow-changes")
      )
    }
    guard !isNested || method != .multicall else {
      return .failure(Aria2Error("Recursive system.multicall forbidden."))
    }
    do {
      return .success(try perform(method, parameters, live))
    } catch let error as Aria2Error {
      return .failure(error)
    } catch {
      return .failure(Aria2Error("\(error)"))
    }
  }

  private mutating func perform(
    _ method: Aria2Method,
    _ parameters: Aria2Parameters,
    _ live: Live
  ) throws -> JSONValue {
    switch method {
    case .addUri: try addURIs(parameters)
    case .addMetalink: try addMetalink(parameters)
    case .addTorrent: throw Aria2Error("BitTorrent is not supported: add an http or https URL")
    case .remove, .forceRemove: try remove(parameters)
    case .pause, .forcePause: try pause(parameters)
    case .pauseAll, .forcePauseAll: try pauseAll()
    case .unpause: try unpause(parameters)
    case .unpauseAll: try unpauseAll()
    case .removeDownloadResult: try removeResult(parameters)
    case .purgeDownloadResult: try purgeResults()
    case .changePosition: try changePosition(parameters)
    case .changeUri: try changeURIs(parameters)
    case .tellStatus: try status(parameters, live)
    case .getUris: try status(of: parameters.string(0), live).uris
    case .getFiles: try status(of: parameters.string(0), live).files
    case .getServers: try servers(parameters, live)
    case .getPeers: try peers(parameters, live)
    case .tellActive: try active(parameters, live)
    case .tellWaiting: try waiting(parameters, live)
    case .tellStopped: try stopped(parameters, live)
    case .getGlobalStat: try statistics(live)
    case .getOption: try options(parameters)
    case .changeOption: try changeOptions(parameters)
    case .getGlobalOption: try globalOptions()
    case .changeGlobalOption: try changeGlobalOptions(parameters)
    case .getVersion: versions
    case .getSessionInfo: ["sessionId": .string(sessionID)]
    // Every change is durable before its answer.
    case .saveSession: Self.done
    case .shutdown, .forceShutdown:
      throw Aria2Error("clients cannot end this server: end the process of 'dlstore serve'")
    case .multicall: try multicall(parameters, live)
    case .listMethods: .array(Aria2Method.allCases.map { .string($0.rawValue) })
    case .listNotifications: .array([])
    }
  }

  /// The answer of methods that return nothing.
  static let done = JSONValue.string("OK")

  private var versions: JSONValue {
    [
      "enabledFeatures": .array(["HTTPS", "Message Digest", "Metalink"].map(JSONValue.string)),
      "product": .string(product), "version": .string(Self.version),
    ]
  }

  /// Answers several calls, each with its own token.
  private mutating func multicall(
    _ parameters: Aria2Parameters,
    _ live: Live
  ) throws -> JSONValue {
    let calls = try parameters.list(0)
    var budget = AnswerBudget()
    return .array(
      calls.map { call in
        guard budget.allowsMore else { return Self.tooLarge.json }
        switch nested(call, live) {
        case .success(let value):
          budget.add(value)
          return .array([value])
        case .failure(let error): return error.json
        }
      }
    )
  }

  private mutating func nested(
    _ call: JSONValue,
    _ live: Live
  ) -> Result<JSONValue, Aria2Error> {
    guard case .object = call else {
      return .failure(Aria2Error("system.multicall expected struct."))
    }
    guard case .string(let name)? = call["methodName"] else {
      return .failure(Aria2Error("Missing methodName."))
    }
    var parameters: [JSONValue] = []
    if case .array(let values)? = call["params"] { parameters = values }
    return result(of: name, Aria2Parameters(parameters), live, isNested: true)
  }
}

// MARK: Records

extension Aria2Service {
  /// Returns the record with a GID, or a prefix of it that no other record has.
  ///
  /// - Throws: ``Aria2Error``; `StoreError`.
  func record(_ gid: String) throws -> DownloadRecord {
    let gid = gid.lowercased()
    guard (1...16).contains(gid.utf8.count), gid.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw Aria2Error("Invalid GID \(Redaction.argument(gid))")
    }
    let found = try store.records(
      DownloadRecord.where { $0.id.hasPrefix(gid) && $0.state != .removed }.limit(2)
    )
    guard let record = found.first else { throw Aria2Error("GID \(gid) is not found") }
    guard found.count == 1 else { throw Aria2Error("GID \(gid) is not unique") }
    return record
  }

  /// Whether an engine runs on the store.
  var engineRuns: Bool { store.hasEngine }

  /// Returns the state of a record; `nil` for one that is about to be deleted.
  func state(of record: DownloadRecord) -> Aria2State? {
    Aria2State(of: record, engineRuns: engineRuns)
  }

  /// Returns the description of the download with a GID.
  ///
  /// - Throws: ``Aria2Error``; `StoreError`.
  func status(of gid: String, _ live: Live) throws -> Aria2Status {
    let record = try record(gid)
    guard let status = try statuses(of: [record], live).first else {
      throw Aria2Error("GID \(gid) is not found")
    }
    return status
  }

  /// Returns the descriptions of records, without those that are about to be deleted.
  ///
  /// - Throws: `StoreError`.
  func statuses(of records: [DownloadRecord], _ live: Live) throws -> [Aria2Status] {
    let (roots, engineRuns) = (try store.roots(), engineRuns)
    return records.compactMap { record in
      Aria2State(of: record, engineRuns: engineRuns).map { state in
        Aria2Status(
          entry: DownloadEntry(record, roots, engineRuns: engineRuns),
          state: state,
          layout: roots.possibleLayout(of: record),
          speed: live.speed(record.id)
        )
      }
    }
  }
}
