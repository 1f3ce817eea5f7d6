import TestSupport
import Testing

@testable import FaultServer

@Suite(.timeLimit(.minutes(10)))
struct FaultServerTests {
  private let server: FaultServer
  private let client: RawClient
  private let body = Body.generated(byteCount: 200_000, seed: 5)

  init() throws {
    server = try FaultServer()
    client = RawClient(port: server.port)
  }

  private func bytes(_ range: Range<Int>) -> [UInt8] {
    body.bytes(at: Int64(range.lowerBound), count: range.count)
  }

  @Test func `a whole body is served and logged`() {
    server.route("/file", Resource(body, etag: "\"x\"", lastModified: "yesterday"))
    let answer = client.get("/file?a=b", "X-One:  two ")
    #expect(answer.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n"))
    #expect(answer.text.contains("\r\nETag: \"x\"\r\nLast-Modified: yesterday\r\n"))
    #expect(answer.body == bytes(0..<200_000))
    #expect(server.requests.map(\.target) == ["/file?a=b"])
    #expect(server.requests.first?["x-one"] == "two")
    server.stop()
    #expect(
      server.deliveries
        == [Delivery(target: "/file?a=b", status: 200, from: 0, bytesSent: 200_000)]
    )
  }

  @Test func `a function of the request makes the reply, at every path that has no other`() {
    server.route("/file", Resource(.text("abc")))
    server.route(
      "*",
      Resource { request in
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".utf8)
        let isLast = request.path == "/last"
        return RawReply(bytes + Array("xy".utf8), ending: isLast ? .reset : .keep)
      }
    )
    let answer = client.send("GET /a HTTP/1.1\r\n\r\nGET /file HTTP/1.1\r\n\r\n", limit: 80)
    #expect(answer.text.contains("\r\n\r\nxyHTTP/1.1 200 OK"))
    let last = client.get("/last")
    #expect(last.text.hasSuffix("\r\n\r\nxy") && last.wasReset)
  }

  @Test func `ranges are answered in ways that no server should`() {
    var resource = Resource(body, lastModified: "yesterday")
    resource.faults = [
      .longBody(declared: 50), .longBody(declared: 50, hasLength: false), .emptyBody, .emptyRange(),
      .entityTag("\"2\""),
    ]
    server.route("/file", resource)
    let long = client.get("/file", "Range: bytes=100-199")
    #expect(long.text.contains("\r\nContent-Length: 100\r\n"))
    #expect(long.text.contains("\r\nContent-Range: bytes 100-149/200000\r\n"))
    #expect(Array(long.body.prefix(50)) == bytes(100..<150) && long.body != bytes(100..<200))
    let chunked = client.get("/file", "Range: bytes=100-199")
    #expect(chunked.text.contains("\r\nTransfer-Encoding: chunked\r\n"))
    let empty = client.get("/file", "Range: bytes=100-199")
    #expect(empty.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"))
    #expect(empty.text.contains("\r\nETag: \"1\"\r\n"))
    let part = client.get("/file", "Range: bytes=100-199")
    #expect(part.text.hasPrefix("HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\n"))
    #expect(part.text.contains("\r\nContent-Range: bytes 100-199/200000\r\n") && part.body.isEmpty)
    let other = client.get("/file", "Range: bytes=100-199", "If-Range: \"1\"")
    #expect(other.text.hasPrefix("HTTP/1.1 200 OK") && other.text.contains("\r\nETag: \"2\"\r\n"))
    resource.faults = []
    resource.honoursIfRangeTags = false
    resource.repeatsValidators = false
    server.route("/file", resource)
    #expect(
      client.get("/file", "Range: bytes=1-2", "If-Range: \"1\"").text.hasPrefix("HTTP/1.1 200")
    )
    let dated = client.get("/file", "Range: bytes=1-2", "If-Range: yesterday")
    #expect(dated.text.hasPrefix("HTTP/1.1 206") && !dated.text.contains("ETag"))
  }

  @Test func `a range is served as 206, or as 416 beyond the end`() {
    server.route("/file", Resource(body))
    let part = client.get("/file", "Range: bytes=100-199", "If-Range: \"1\"")
    #expect(part.text.hasPrefix("HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\n"))
    #expect(part.text.contains("\r\nContent-Range: bytes 100-199/200000\r\n"))
    #expect(part.body == bytes(100..<200))
    let other = client.get("/file", "Range: bytes=100-199", "If-Range: \"2\"")
    #expect(other.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(other.body.count == 200_000)
    let beyond = client.get("/file", "Range: bytes=200000-")
    #expect(beyond.text.hasPrefix("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n"))
    #expect(beyond.text.contains("\r\nContent-Range: bytes */200000\r\n"))
  }

  @Test func `one connection carries several requests, and HEAD has no body`() {
    server.route("/file", Resource(.text("abc")))
    let answer = client.send(
      "HEAD /file HTTP/1.1\r\n\r\nGET /file HTTP/1.1\r\n\r\nGET /none HTTP/1.0\r\n\r\n"
    )
    let starts = answer.text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
    #expect(starts == ["200", "200", "404"])
    #expect(answer.text.split(separator: "abc").count == 2)
    #expect(Set(server.requests.map(\.connection)) == [0])
  }

  @Test func `chunks and the end of the connection delimit a body`() {
    var resource = Resource(.text("hello"))
    resource.framing = .chunked
    server.route("/chunked", resource)
    resource.framing = .closeDelimited
    server.route("/close", resource)
    #expect(
      String(decoding: client.get("/chunked").body, as: UTF8.self) == "5\r\nhello\r\n0\r\n\r\n"
    )
    let close = client.send("GET /close HTTP/1.1\r\n\r\n")
    #expect(!close.text.contains("Content-Length"))
    #expect(String(decoding: close.body, as: UTF8.self) == "hello")
  }

  @Test func `faults are taken in order, then the server behaves`() {
    server.route(
      "/file",
      Resource(
        body,
        faults: .emptyReply,
        .closeInsideHeader,
        .closeAfter(bytes: 1_000),
        .resetAfter(bytes: 100_000),
        .ignoreRange,
        .wrongOffset(10),
        .rangeNotSatisfiable,
        .rangeNotSatisfiable,
        .rawResponse("junk"),
        .status(503, retryAfter: "7")
      )
    )
    #expect(client.get("/file").bytes == [])
    let half = client.get("/file")
    #expect(half.text.hasPrefix("HTTP/1.1 200 OK\r\n") && !half.text.contains("\r\n\r\n"))
    #expect(client.get("/file").body == bytes(0..<1_000))
    let reset = client.get("/file")
    #expect(reset.wasReset)
    #expect(reset.body == bytes(0..<100_000))
    #expect(client.get("/file", "Range: bytes=5-").body.count == 200_000)
    let wrong = client.get("/file", "Range: bytes=5-")
    #expect(wrong.text.contains("\r\nContent-Range: bytes 10-199999/200000\r\n"))
    #expect(wrong.body == bytes(10..<200_000))
    #expect(client.get("/file", "Range: bytes=0-").text.hasPrefix("HTTP/1.1 416"))
    // Without a range there is nothing to refuse (RFC 9110, 15.5.17).
    #expect(client.get("/file").body == bytes(0..<200_000))
    #expect(client.get("/file").text == "junk")
    let busy = client.get("/file")
    #expect(busy.text.hasPrefix("HTTP/1.1 503") && busy.text.contains("\r\nRetry-After: 7\r\n"))
    #expect(client.get("/file").body == bytes(0..<200_000))
  }

  @Test func `a connection dies after every n bytes for ever`() {
    server.route("/file", Resource(body, faults: .resetEvery(bytes: 90_000)))
    var received: [UInt8] = []
    while received.count < 200_000 {
      let part = client.get("/file", "Range: bytes=\(received.count)-")
      guard !part.body.isEmpty else { break }
      #expect(part.body.count <= 90_000)
      received += part.body
    }
    #expect(received == bytes(0..<200_000))
    #expect(server.requests.count == 3)
  }

  @Test func `a redirect, a status and further fields are sent as they are`() {
    server.route("/moved", Resource(redirectTo: "../x", status: 307))
    var refused = Resource(.text("no"))
    refused.status = 401
    refused.fields = [Field("WWW-Authenticate", "Basic realm=\"r\"")]
    server.route("/refused", refused)
    let moved = client.get("/moved").text
    #expect(moved.hasPrefix("HTTP/1.1 307 ") && moved.contains("\r\nLocation: ../x\r\n"))
    #expect(client.get("/refused").text.contains("\r\nWWW-Authenticate: Basic realm=\"r\"\r\n"))
  }

  @Test func `the speed of a connection is limited`() {
    var resource = Resource(.generated(byteCount: 50_000))
    resource.bytesPerSecond = 100_000
    server.route("/slow", resource)
    let time = ContinuousClock().measure { _ = client.get("/slow") }
    #expect(time >= .milliseconds(450))
  }

  @Test func `a client that leaves does not harm the server`() {
    server.route("/file", Resource(.generated(byteCount: 50_000_000)))
    for _ in 0..<20 {
      _ = client.send("GET /file HTTP/1.1\r\n\r\n", limit: 10_000)
    }
    server.route("/small", Resource(.text("ok")))
    #expect(client.get("/small").text.hasSuffix("ok"))
  }

  @Test func `stopping ends connections that stall`() async throws {
    server.route("/file", Resource(body, faults: .stallAfter(bytes: 10), then: .repeatLast))
    let client = client
    let answers = inThread { client.get("/file") }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    server.stop()
    for try await answer in answers { #expect(answer.body.count <= 10) }
    #expect(server.deliveries.count == 1)
  }
}
