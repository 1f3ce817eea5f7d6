import DownloadStore
import SystemInterface
import TestTraits
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10)))
struct InterceptorChainTests {
  private struct Fault: Error, CustomStringConvertible {
    var description: String { "no token" }
  }

  /// Adds its name to a header field, and applies a further change.
  private struct Marking: RequestInterceptor {
    var name: String
    var priority = 0
    var change: @Sendable (inout TaskRequest) throws -> Void = { _ in }

    func intercept(_ request: TaskRequest, for record: DownloadRecord) async throws -> TaskRequest {
      var request = request
      request.headers.append(HeaderField(name: "X-Seen", value: name))
      try change(&request)
      return request
    }
  }

  private struct Stuck: RequestInterceptor, ResponseInterceptor {
    var priority = 0

    func intercept(_ request: TaskRequest, for record: DownloadRecord) async throws -> TaskRequest {
      try await Task.sleep(for: .seconds(3600))
      return request
    }

    func intercept(_ response: DownloadResponse) async throws {
      try await Task.sleep(for: .seconds(3600))
    }
  }

  private final class Listener: ResponseInterceptor {
    let name: String
    let priority: Int
    let error: (any Error)?
    let log: Log

    init(_ name: String, priority: Int = 0, throwing error: (any Error)? = nil, _ log: Log) {
      self.name = name
      self.priority = priority
      self.error = error
      self.log = log
    }

    func intercept(_ response: DownloadResponse) async throws {
      log.names.withLock { $0.append(name) }
      if let error { throw error }
    }
  }

  private final class Log: Sendable {
    let names = Mutex<[String]>([])
  }

  private let record = DownloadRecord.sample()
  private let request = TaskRequest(
    url: "https://example.com/a",
    recordID: "0",
    offset: 7,
    validator: "\"1\"",
    headers: [HeaderField(name: "X-Own", value: "1")]
  )

  private func seen(_ request: TaskRequest) -> [String] {
    request.headers.filter { $0.name == "X-Seen" }.map(\.value)
  }

  @Test(.requirements("FK24"))
  func `request interceptors run by ascending priority, then in registration order`() async throws {
    let chain = InterceptorChain(requests: [
      Marking(name: "c", priority: 5), Marking(name: "a", priority: -5),
      Marking(name: "d", priority: 5),
      Marking(name: "b"),
    ])
    #expect(seen(try await chain.request(request, for: record)) == ["a", "b", "c", "d"])
  }

  @Test func `without interceptors the request is unchanged`() async throws {
    #expect(try await InterceptorChain().request(request, for: record) == request)
  }

  @Test(.requirements("FK24")) func `each request interceptor receives the previous one's result`()
    async throws
  {
    let chain = InterceptorChain(requests: [
      Marking(name: "a") { $0.url = "https://example.com/signed" },
      Marking(name: "b") { request in
        if request.url != "https://example.com/signed" { throw Fault() }
      },
    ])
    let made = try await chain.request(request, for: record)
    #expect(made.url == "https://example.com/signed")
    #expect(made.headers.first == request.headers.first)
  }

  @Test func `existing header fields are not sent to an origin that an interceptor chose`()
    async throws
  {
    @Sendable func secret(_ value: String) -> HeaderField {
      HeaderField(name: "Authorization", value: value)
    }
    var request = request
    request.headers = [secret("stored"), HeaderField(name: "Accept", value: "a/b")]
    let chain = InterceptorChain(requests: [
      Marking(name: "a") { $0.headers.append(secret("for the first")) },
      Marking(name: "b") { request in
        request.url = "https://elsewhere.example/a"
        request.headers.append(secret("for the second"))
      },
      Marking(name: "c") { $0.headers.append(secret("too")) },
    ])
    let made = try await chain.request(request, for: record)
    #expect(made.url == "https://elsewhere.example/a")
    #expect(
      made.headers.filter { $0.name == "Authorization" }.map(\.value)
        == ["for the second", "too"]
    )
    #expect(made.headers.contains(HeaderField(name: "Accept", value: "a/b")))
  }

  @Test func `the failure of an interceptor reveals no secret`() {
    struct Refused: Error, CustomStringConvertible {
      var description: String { "https://sign.example/?token=hush answers 500" }
    }
    let failure = Deadline.failure(Refused(), of: "request interceptor Stuck", .seconds(1))
    #expect(failure.message.contains("sign.example") && !failure.message.contains("hush"))
    let told = InterceptorFailure(interceptor: "x", message: "\(Refused())")
    #expect(!told.message.contains("hush"))
  }

  @Test func `an interceptor cannot change the fields that the engine owns`() async throws {
    let chain = InterceptorChain(requests: [
      Marking(name: "a") {
        $0.offset = 0
        $0.validator = nil
        $0.recordID = "other"
      }
    ])
    let made = try await chain.request(request, for: record)
    #expect(made.offset == 7)
    #expect(made.validator == "\"1\"")
    #expect(made.recordID == "0")
  }

  @Test func `an interceptor that throws fails the attempt and is named in the failure`() async {
    let chain = InterceptorChain(requests: [Marking(name: "a") { _ in throw Fault() }])
    let failure = await #expect(throws: DownloadFailure.self) {
      try await chain.request(request, for: record)
    }
    #expect(failure?.code == .interceptorFailed)
    #expect(failure?.message == "the request interceptor Marking failed: no token")
    #expect(failure?.code.isRetryable == false)
  }

  @Test func `a DownloadFailure that an interceptor throws is used unchanged`() async {
    let own = DownloadFailure(.serverBusy, "the token server is busy")
    let chain = InterceptorChain(requests: [Marking(name: "a") { _ in throw own }])
    await #expect(throws: own) { try await chain.request(request, for: record) }
  }

  @Test func `an interceptor that does not return in time is a retryable time-out`() async {
    let chain = InterceptorChain(requests: [Stuck()], deadline: .milliseconds(1))
    let failure = await #expect(throws: DownloadFailure.self) {
      try await chain.request(request, for: record)
    }
    #expect(failure?.code == .timedOut)
    #expect(failure?.message.contains("Stuck") == true)
  }

  @Test(.requirements("FK25"))
  func `response interceptors run by ascending priority despite failures and time-outs`() async {
    let log = Log()
    // The error of a time-out, without a deadline that a busy machine exceeds in the other ones.
    let chain = InterceptorChain(
      responses: [
        Listener("d", priority: 9, log), Listener("a", priority: -1, throwing: Fault(), log),
        Listener("b", throwing: Deadline.Passed(), log), Listener("c", log),
      ],
      deadline: .seconds(3600)
    )
    let failures = await chain.notify(DownloadResponse(record: record))
    #expect(log.names.withLock { $0 } == ["a", "b", "c", "d"])
    #expect(failures.map(\.interceptor) == ["Listener", "Listener"])
    #expect(failures.map(\.message) == ["no token", "did not return within \(chain.deadline)"])
  }

  @Test func `response interceptors run after one that does not return in time`() async {
    let chain = InterceptorChain(responses: [Stuck(), Stuck()], deadline: .milliseconds(1))
    let failures = await chain.notify(DownloadResponse(record: record))
    #expect(failures.map(\.interceptor) == ["Stuck", "Stuck"])
    #expect(failures.allSatisfy { $0.message == "did not return within \(chain.deadline)" })
  }
}
