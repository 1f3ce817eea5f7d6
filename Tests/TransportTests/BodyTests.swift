import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Testing

/// Bodies as a sink receives them, for each way in which a server can send them.
@Suite(.timeLimit(.minutes(10)))
struct BodyTests {
  private let server: FaultServer
  private let transport = TransportUnderTest.make()
  private let body = Body.generated(byteCount: 3_000_000, seed: 11)

  init() throws {
    server = try FaultServer()
  }

  private func fetch(
    _ path: String = "/file",
    offset: Int64 = 0,
    validator: String? = nil,
    headers: [HeaderField] = [],
    sink: RecordingSink
  ) async -> TaskOutcome? {
    let request = TaskRequest(
      url: server.url(path),
      recordID: "r",
      offset: offset,
      validator: validator,
      headers: headers
    )
    _ = transport.start(request, sink: sink)
    return await sink.outcome()
  }

  @Test func `a whole body arrives intact`() async {
    server.route("/file", Resource(body, etag: "\"tag\"", lastModified: "yesterday"))
    let sink = RecordingSink(expecting: body)
    #expect(await fetch(sink: sink) == .completed)
    let record = sink.record
    #expect(record.heads.map(\.status) == [200])
    #expect(record.heads.first?["etag"] == "\"tag\"")
    #expect(record.heads.first?["LAST-MODIFIED"] == "yesterday")
    #expect(record.heads.first?["Content-Length"] == "3000000")
    #expect(record.heads.first?.url == server.url("/file"))
    #expect(record.byteCount == 3_000_000)
    #expect(record.isIntact && record.violationCount == 0)
    #expect(await transport.liveTasks().isEmpty)
  }

  @Test func `an offset requests a range of the same entity`() async {
    server.route("/file", Resource(body))
    let sink = RecordingSink(expecting: body, from: 1_000_000)
    #expect(await fetch(offset: 1_000_000, validator: "\"1\"", sink: sink) == .completed)
    #expect(sink.status == 206)
    #expect(sink.record.heads.first?["Content-Range"] == "bytes 1000000-2999999/3000000")
    #expect(sink.record.byteCount == 2_000_000)
    #expect(sink.record.isIntact)
    #expect(server.requests.first?["Range"] == "bytes=1000000-")
    #expect(server.requests.first?["If-Range"] == "\"1\"")
  }

  @Test func `another entity is sent as a whole`() async {
    server.route("/file", Resource(body, etag: "\"new\""))
    let sink = RecordingSink(expecting: body)
    #expect(await fetch(offset: 1_000_000, validator: "\"old\"", sink: sink) == .completed)
    #expect(sink.status == 200)
    #expect(sink.record.byteCount == 3_000_000)
    #expect(sink.record.isIntact)
  }

  @Test func `an offset beyond the end gets status 416`() async {
    server.route("/file", Resource(body))
    let sink = RecordingSink()
    #expect(await fetch(offset: 3_000_000, sink: sink) == .completed)
    #expect(sink.status == 416)
    #expect(sink.record.heads.first?["Content-Range"] == "bytes */3000000")
    #expect(sink.record.byteCount == 0)
  }

  @Test func `a validator without an offset is not sent`() async {
    server.route("/file", Resource(body))
    let sink = RecordingSink()
    #expect(await fetch(validator: "\"1\"", sink: sink) == .completed)
    #expect(server.requests.first?["Range"] == nil)
    #expect(server.requests.first?["If-Range"] == nil)
  }

  @Test func `the caller's header fields are sent, except those that the transport sets`() async {
    server.route("/file", Resource(.text("x")))
    let sink = RecordingSink()
    let headers = [
      HeaderField(name: "X-One", value: "1"),
      HeaderField(name: "range", value: "bytes=9-"),
      HeaderField(name: "If-Range", value: "\"9\""),
      HeaderField(name: "accept-encoding", value: "gzip"),
      HeaderField(name: "Authorization", value: "Bearer abc"),
    ]
    #expect(await fetch(headers: headers, sink: sink) == .completed)
    let request = server.requests.first
    #expect(request?["X-One"] == "1")
    #expect(request?["Authorization"] == "Bearer abc")
    #expect(request?["Range"] == nil)
    #expect(request?["If-Range"] == nil)
    let encodings = request?.fields.filter { $0.name.lowercased() == "accept-encoding" }
    #expect(encodings?.map(\.value) == ["identity"])
  }

  @Test(arguments: [Resource.Framing.contentLength, .chunked, .closeDelimited], [0, 1, 500_000])
  func `the whole body arrives with each kind of framing`(
    _ framing: Resource.Framing,
    _ byteCount: Int64
  ) async {
    let body = Body.generated(byteCount: byteCount, seed: 2)
    var resource = Resource(body)
    resource.framing = framing
    server.route("/file", resource)
    let sink = RecordingSink(expecting: body)
    #expect(await fetch(sink: sink) == .completed)
    #expect(sink.record.heads.map(\.status) == [200])
    #expect(sink.record.byteCount == byteCount)
    #expect(sink.record.isIntact)
  }

  @Test func `interim responses are not passed on`() async {
    server.route(
      "/file",
      Resource(
        .text(""),
        faults: .rawResponse(
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        )
      )
    )
    let sink = RecordingSink(expecting: .text("hello"))
    #expect(await fetch(sink: sink) == .completed)
    #expect(sink.record.heads.map(\.status) == [200])
    #expect(sink.record.byteCount == 5)
    #expect(sink.record.isIntact)
  }

  @Test(arguments: [404, 410, 429, 500, 503])
  func `an error status is passed on like any other response`(_ status: Int) async {
    server.route("/file", Resource(.text(""), faults: .status(status, retryAfter: "9")))
    let sink = RecordingSink()
    #expect(await fetch(sink: sink) == .completed)
    #expect(sink.status == status)
    #expect(sink.record.heads.first?["Retry-After"] == "9")
    #expect(sink.record.byteCount == 11)
  }

  @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "Bearer", "Basic"])
  func `a 401 response is passed on and does not hang`(_ challenge: String) async {
    var resource = Resource(.text("who are you"))
    resource.status = 401
    resource.fields = [Field("WWW-Authenticate", challenge)]
    server.route("/file", resource)
    let sink = RecordingSink(expecting: .text("who are you"))
    #expect(await fetch(sink: sink) == .completed)
    #expect(sink.record.heads.map(\.status) == [401])
    #expect(sink.record.byteCount == 11)
    #expect(server.requests.count == 1)
    // The session still works.
    server.route("/other", Resource(body))
    let other = RecordingSink(expecting: body)
    #expect(await fetch("/other", sink: other) == .completed)
    #expect(sink.record.violationCount == 0)
  }
}
