import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Small responses that are received into memory.
@Suite(.timeLimit(.minutes(10)))
struct DocumentTests {
  private let server: FaultServer
  private let transport = TransportUnderTest.make()

  init() throws {
    server = try FaultServer()
  }

  @Test func `a document has the head and the body of the response`() async throws {
    server.route("/a", Resource(.text("{\"tags\": []}")))
    let accept = HeaderField(name: "Accept", value: "application/json")
    let document = try await transport.document(server.url("/a"), headers: [accept])
    #expect(document.head.status == 200 && document.head["ETag"] == "\"1\"")
    #expect(document.body == Data("{\"tags\": []}".utf8))
    #expect(server.requests.map { $0["Accept"] } == ["application/json"])
  }

  @Test func `HEAD gives the fields and no body`() async throws {
    server.route("/a", Resource(.generated(byteCount: 100_000)))
    let document = try await transport.document(server.url("/a"), method: .head)
    #expect(document.head.status == 200 && document.head["Content-Length"] == "100000")
    #expect(document.body.isEmpty)
    #expect(server.requests.map(\.method) == ["HEAD"])
  }

  @Test(arguments: [401, 404, 500]) func `an error status is a document, too`(
    _ status: Int
  ) async throws {
    server.route("/a", Resource(.text("x"), faults: .status(status)))
    let document = try await transport.document(server.url("/a"))
    #expect(document.head.status == status && !document.body.isEmpty)
  }

  @Test(arguments: [TaskRequest.Method.get, .head])
  func `a redirect is followed with the same method, or returned`(
    _ method: TaskRequest.Method
  ) async throws {
    server.route("/old", Resource(redirectTo: server.url("/new"), status: 302))
    server.route("/new", Resource(.text("new")))
    let followed = try await transport.document(server.url("/old"), method: method)
    #expect(followed.head.status == 200 && followed.head.url == server.url("/new"))
    #expect(followed.body == Data(method == .get ? "new".utf8 : "".utf8))
    #expect(server.requests.map(\.method) == [method.rawValue, method.rawValue])
    let returned = try await transport.document(
      server.url("/old"),
      method: method,
      followsRedirects: false
    )
    #expect(returned.head.status == 302 && returned.head["Location"] == server.url("/new"))
    #expect(server.requests.count == 3)
  }

  @Test(arguments: [10, 11]) func `a body above the limit is an error`(
    _ byteCount: Int
  ) async throws {
    server.route("/a", Resource(.generated(byteCount: Int64(byteCount))))
    if byteCount <= 10 {
      #expect(try await transport.document(server.url("/a"), limit: 10).body.count == byteCount)
    } else {
      let failure = await #expect(throws: DownloadFailure.self) {
        try await transport.document(server.url("/a"), limit: 10)
      }
      #expect(failure?.code == .badResponse)
    }
  }

  @Test func `an endless body ends at the limit`() async throws {
    let head = "HTTP/1.1 200 OK\r\n\r\n"
    server.route("/a", Resource(.text("x"), faults: .rawForEver(head, repeating: "more ")))
    await #expect(throws: DownloadFailure.self) { try await transport.document(server.url("/a")) }
  }

  @Test func `a broken body is an error`() async throws {
    server.route(
      "/a",
      Resource(.generated(byteCount: 100_000), faults: .closeAfter(bytes: 50_000))
    )
    let failure = await #expect(throws: DownloadFailure.self) {
      try await transport.document(server.url("/a"))
    }
    #expect(failure?.code == .connectionLost)
  }

  @Test func `a document that is no longer wanted is cancelled`() async throws {
    server.route("/a", Resource(.text("x"), faults: .stallBeforeHeader, then: .repeatLast))
    let task = Task { [transport, server] in try await transport.document(server.url("/a")) }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    while !(await transport.liveTasks()).isEmpty { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func `a URL that cannot be requested is an error`() async throws {
    let failure = await #expect(throws: DownloadFailure.self) {
      try await transport.document("ftp://127.0.0.1/a")
    }
    #expect(failure?.code == .unsupportedURL)
  }
}
