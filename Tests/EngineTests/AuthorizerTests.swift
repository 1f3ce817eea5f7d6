import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import Testing

/// Requests that need credentials, which end while a download lasts.
@Suite(.timeLimit(.minutes(10)))
struct AuthorizerTests {
  /// A server's tokens, each of which is valid for some requests.
  private final class Tokens: Sendable {
    private struct State {
      var issued = 0
      var uses = 0
      var expired: Set<Int> = []
      /// How often the newest token was refused in the first request for a file, by path.
      var refusals: [String: Int] = [:]
    }

    private let lifetime: Int
    private let state = Mutex(State())

    init(lifetime: Int) { self.lifetime = lifetime }

    var issued: Int { state.withLock { $0.issued } }
    /// The number of tokens that were refused.
    var expired: Int { state.withLock { $0.expired.count } }

    func issue() -> String {
      state.withLock { state in
        (state.issued, state.uses) = (state.issued + 1, 0)
        return "Bearer \(state.issued)"
      }
    }

    /// The status with which a request is refused; `nil` if its token is valid.
    ///
    /// The newest token is refused only twice for the first connection of a file. If others always used up
    /// the tokens that it has fetched, the engine would give it up after three.
    func refusal(of request: Request, _ status: Int = 401) -> Int? {
      state.withLock { state in
        let token = request["Authorization"].flatMap { Int($0.dropFirst("Bearer ".count)) }
        let isFirst = request["Range"] == nil
        let isExempt = isFirst && state.refusals[request.path, default: 0] >= 2
        guard token == state.issued, state.uses < lifetime || isExempt else {
          if let token { state.expired.insert(token) }
          if isFirst, token == state.issued { state.refusals[request.path, default: 0] += 1 }
          return status
        }
        state.uses += 1
        return nil
      }
    }
  }

  /// Keeps one token, and fetches another one after a refusal.
  private actor Keeper: RequestAuthorizer {
    private let tokens: Tokens
    private var token: String?
    private(set) var refusals: [ResponseHead] = []

    init(_ tokens: Tokens) { self.tokens = tokens }

    func authorize(
      _ request: TaskRequest,
      after refusal: ResponseHead?
    ) async throws -> TaskRequest {
      if token == nil || refusal != nil {
        // Another call may run in the meantime, and the connection may not be needed any more.
        await Task.yield()
        try Task.checkCancellation()
        if let refusal { refusals.append(refusal) }
        token = tokens.issue()
      }
      var request = request
      #expect(!request.headers.contains { $0.name == "Authorization" })
      request.headers.append(HeaderField(name: "Authorization", value: token ?? ""))
      return request
    }
  }

  private struct Authorizer: RequestAuthorizer {
    let act: @Sendable (TaskRequest, ResponseHead?) async throws -> TaskRequest

    func authorize(
      _ request: TaskRequest,
      after refusal: ResponseHead?
    ) async throws -> TaskRequest {
      try await act(request, refusal)
    }
  }

  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 4_000_000, seed: 41)

  init() throws {
    fixture = try EngineFixture()
  }

  /// Routes a file that needs a token.
  private func route(_ path: String, _ tokens: Tokens, status: Int = 401) {
    var resource = Resource(body)
    resource.bytesPerSecond = 2_000_000
    resource.refusal = { tokens.refusal(of: $0, status) }
    fixture.server.route(path, resource)
  }

  private func hasRetried(_ events: [DownloadEvent]) -> Bool {
    events.contains { if case .retrying = $0 { true } else { false } }
  }

  @Test(arguments: [(1, 401), (2, 403), (5, 401)])
  func `eight connections whose tokens expire fetch one token for each that expired`(
    _ lifetime: Int,
    _ status: Int
  ) async throws {
    let tokens = Tokens(lifetime: lifetime)
    let keeper = Keeper(tokens)
    // Three requests at least, however few connections a slow machine opens for one file.
    let names = ["a", "b", "c"]
    for name in names {
      route("/\(name)", tokens, status: status)
      try fixture.add("/\(name)")
    }
    let events = try await fixture.run { options in
      options.authorizer = keeper
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8)
      options.split = SplitOptions(maximumConnections: 8, minimumLength: 100_000)
      options.split.measuringTime = .zero
    }
    .events
    for name in names {
      #expect(body.matches(file: fixture.file(name)))
      #expect(try fixture.record("/\(name)").attempts.isEmpty)
    }
    #expect(tokens.expired > 0 || lifetime == 5)
    // Each token but the last was refused. The last one may be, too, on a connection that was not
    // needed any more.
    #expect((tokens.issued - 1...tokens.issued).contains(tokens.expired))
    #expect(!hasRetried(events))
    let heads = await keeper.refusals
    #expect(heads.count == tokens.issued - 1, "each other token was fetched after one refusal")
    #expect(heads.allSatisfy { $0.status == status && $0["WWW-Authenticate"] != nil })
  }

  @Test func `several downloads share the token of their server`() async throws {
    let tokens = Tokens(lifetime: 3)
    for path in ["/a", "/b", "/c", "/d"] {
      var resource = Resource(.text(path))
      resource.refusal = { tokens.refusal(of: $0) }
      fixture.server.route(path, resource)
      try fixture.add(path)
    }
    let (summary, events) = try await fixture.run { $0.authorizer = Keeper(tokens) }
    #expect(summary == RunSummary(completed: 4) && !hasRetried(events))
    #expect(tokens.issued == tokens.expired + 1 && tokens.issued == 2)
  }

  @Test func `a request that stays refused is given up after three answers`() async throws {
    var resource = Resource(body)
    resource.refusal = { _ in 403 }
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    let answers = Mutex(0)
    try await fixture.run {
      $0.authorizer = Authorizer { request, refusal in
        if refusal != nil { answers.withLock { $0 += 1 } }
        return request
      }
    }
    #expect(answers.withLock { $0 } == 3 && fixture.server.requests.count == 4)
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.map(\.failure.code) == [.refused])
  }

  @Test func `an authorizer that has no answer leaves the refusal of the server`() async throws {
    struct Unknown: Error {}
    var resource = Resource(body)
    resource.refusal = { _ in 401 }
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run {
      $0.authorizer = Authorizer { request, refusal in
        if refusal != nil { throw Unknown() }
        return request
      }
    }
    #expect(try fixture.record("/a").attempts.map(\.failure.code) == [.refused])
  }

  @Test func `an authorizer that throws before the request fails the download`() async throws {
    struct Unknown: Error {}
    try fixture.add("/a")
    try await fixture.run { $0.authorizer = Authorizer { _, _ in throw Unknown() } }
    #expect(try fixture.record("/a").attempts.map(\.failure.code) == [.interceptorFailed])
    #expect(fixture.server.requests.isEmpty)
  }

  @Test func `the code of its failure decides whether the attempt is repeated`() async throws {
    let tokens = Tokens(lifetime: 100)
    route("/a", tokens)
    try fixture.add("/a")
    let calls = Mutex(0)
    try await fixture.run {
      $0.authorizer = Authorizer { request, refusal in
        let number = calls.withLock { calls -> Int in
          calls += 1
          return calls
        }
        if number == 2 { throw DownloadFailure(.serverBusy, "no token") }
        var request = request
        if refusal != nil || number > 2 {
          request.headers.append(HeaderField(name: "Authorization", value: tokens.issue()))
        }
        return request
      }
    }
    #expect(body.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").attempts.map(\.failure.code) == [.serverBusy])
  }

  @Test func `a run that is stopped does not wait for the authorizer`() async throws {
    try fixture.add("/a")
    let (calls, called) = AsyncStream<Void>.makeStream()
    let engine = try fixture.engine { options in
      options.authorizer = Authorizer { request, _ in
        called.yield()
        try await Task.sleep(for: .seconds(3600))
        return request
      }
      options.interceptorDeadline = .seconds(3600)
    }
    let run = Task { try await engine.run(until: .stopped) }
    for await _ in calls { break }
    engine.stop()
    _ = try await run.value
    #expect(try fixture.record("/a").state == .waiting)
    #expect(try fixture.record("/a").attempts.isEmpty)
  }

  @Test func `a signed URL gets no secret of another origin`() async throws {
    let other = try FaultServer()
    other.route("/signed", Resource(body))
    try fixture.add("/a") { $0.headers = [HeaderField(name: "Authorization", value: "secret")] }
    let url = other.url("/signed")
    try await fixture.run {
      $0.authorizer = Authorizer { request, _ in
        var request = request
        request.url = url
        return request
      }
    }
    #expect(body.matches(file: fixture.file("a")))
    #expect(other.requests.allSatisfy { $0["Authorization"] == nil })
    #expect(fixture.server.requests.isEmpty)
  }
}
