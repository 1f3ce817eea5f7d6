import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import SystemInterface
import Testing

/// The request targets that a server receives.
@Suite(.timeLimit(.minutes(10)))
struct RequestTargetTests {
  private let server: FaultServer
  private let transport = TransportUnderTest.make()

  init() throws {
    server = try FaultServer()
    server.route("*", Resource(.text("x")))
  }

  /// The targets after the given one, if it redirects, or the only one.
  private func targets(_ url: String) async -> (outcome: TaskOutcome?, url: String?) {
    let sink = RecordingSink()
    _ = transport.start(TaskRequest(url: url, recordID: "r"), sink: sink)
    let outcome = await sink.outcome()
    #expect(sink.record.violationCount == 0)
    return (outcome, sink.record.heads.first?.url)
  }

  private static let unreserved =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/"

  private static func expected(_ bytes: [UInt8], _ allowed: String) -> String {
    bytes.reduce(into: "") { text, byte in
      let hex = String(byte, radix: 16, uppercase: true)
      text +=
        allowed.utf8.contains(byte)
        ? String(Unicode.Scalar(byte)) : "%" + (hex.utf8.count == 1 ? "0" : "") + hex
    }
  }

  /// The target of a path and a query with a byte between escapes.
  private static func target(_ bytes: [UInt8], _ number: Int) -> String {
    let query = expected(bytes, unreserved + "?")
    return "/\(number)/%c9%CC\(expected(bytes, unreserved))%20b.xls?s=%2bc\(query)%3D&\(query)z"
  }

  private static func given(_ bytes: [UInt8], _ number: Int) -> [UInt8] {
    Array("/\(number)/%c9%CC".utf8) + bytes + Array("%20b.xls?s=%2bc".utf8) + bytes
      + Array("%3D&".utf8) + bytes + Array("z".utf8)
  }

  @Test func `every character of a URL arrives as it was given, or escaped once`() async throws {
    let numbers = (1...255).filter { !"#?".utf8.contains(UInt8($0)) }
    await withTaskGroup { group in
      for number in numbers {
        guard let scalar = Unicode.Scalar(UInt32(number)) else { continue }
        let bytes = Array(String(scalar).utf8)
        let path = String(decoding: Self.given(bytes, number), as: UTF8.self)
        group.addTask {
          let (outcome, url) = await targets(server.url(path))
          #expect(outcome == .completed, "\(number)")
          #expect(url == server.url(Self.target(bytes, number)))
        }
      }
    }
    let received = Set(server.requests.map(\.target))
    let wanted = numbers.map { number in
      Self.target(Array(String(Unicode.Scalar(UInt32(number)) ?? "?").utf8), number)
    }
    #expect(received == Set(wanted))
  }

  /// URLSession rejects fields that are not UTF-8, and both transports reject some control characters.
  @Test func `every byte of a location is requested as it was sent, or the redirect fails`() async {
    let numbers = (1...255).filter { !"\r\n#?".utf8.contains(UInt8($0)) }
    for number in numbers {
      let location = Self.given([UInt8(number)], number)
      let bytes = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + location
      server.route(
        "/r\(number)",
        Resource { _ in RawReply(bytes + Array("\r\n\r\n".utf8), ending: .keep) }
      )
    }
    await withTaskGroup { group in
      for number in numbers {
        group.addTask {
          let (outcome, _) = await targets(server.url("/r\(number)"))
          let isPrintable = (0x20..<0x7F).contains(number)
          #expect(!isPrintable || outcome == .completed, "\(number)")
          let isCompleted = outcome == .completed
          #expect(number < 0x80 || isCompleted != TransportUnderTest.isURLSession, "\(number)")
        }
      }
    }
    let redirected = Set(server.requests.map(\.target).filter { !$0.hasPrefix("/r") })
    let possible = Set(numbers.map { Self.target([UInt8($0)], $0) })
    #expect(redirected.isSubset(of: possible), "\(redirected.subtracting(possible))")
    #expect(redirected.count >= 0x7F - 0x20 - 2)
  }

  @Test(arguments: [
    ("", "/"), ("?x=1", "/?x=1"), ("#f", "/"), ("?", "/?"), ("/?", "/?"), ("/a?#f", "/a?"),
    ("/%C9%CC%C6%B7.xls", "/%C9%CC%C6%B7.xls"), ("/r%E9sum%E9.pdf?x=1", "/r%E9sum%E9.pdf?x=1"),
    ("/?sig=ab%2Bcd%3D&t=[v1]", "/?sig=ab%2Bcd%3D&t=%5Bv1%5D"), ("//a//b/", "//a//b/"),
    ("/\u{6587}\u{4EF6}%20name.zip", "/%E6%96%87%E4%BB%B6%20name.zip"), ("/a/./b/../c", "/a/c"),
    ("/..", "/"), ("/%2e%2E/x", "/%2e%2E/x"), ("/a;b=c,d/e:f@g", "/a;b=c,d/e:f@g"),
    ("/%00%0d%0a?%00", "/%00%0d%0a?%00"), ("/e\u{301}", "/e%CC%81"), ("/%", "/%25"),
    ("/?a=1&a=%zz", "/?a=1&a=%25zz"), ("/http://x/y", "/http://x/y"), ("/a?b/../c", "/a?b/../c"),
  ])
  func `a target is sent in the form of the URL, directly and by redirect`(
    _ given: String,
    _ sent: String
  ) async {
    #expect(await targets(server.url(given)).outcome == .completed)
    let location = server.url(given)
    server.route("/old", Resource(redirectTo: location))
    #expect(await targets(server.url("/old")).outcome == .completed)
    let received = server.requests.map(\.target)
    #expect(received == [sent, "/old", sent])
  }

  @Test(arguments: [
    ("c?x", "/a/c?x"), ("../c", "/c"), ("?y=[1]%2b", "/a/b?y=%5B1%5D%2b"),
    ("./%e9 x", "/a/%e9%20x"),
    ("/%C9#f", "/%C9"), (";p", "/a/;p"), ("c:d", nil), ("1:2/%zz", "/a/1:2/%25zz"),
    ("\u{E9}:x", "/a/%C3%A9:x"), ("./c:d", "/a/c:d"),
  ])
  func `a relative location is resolved against its URL`(_ location: String, _ sent: String?) async
  {
    server.route("/a/b", Resource(redirectTo: location))
    let (outcome, _) = await targets(server.url("/a/b?q"))
    // A resource is chosen by its path: a redirect to its own path repeats it.
    let received = server.requests.map(\.target).prefix(2)
    #expect(received == ["/a/b?q"] + (sent.map { [$0] } ?? []))
    if sent == nil { #expect(outcome?.failureCode == .badRedirect) }
  }

  @Test func `the host is sent in its ASCII form, without user info`() async {
    let url = server.url("/a").replacing("http://", with: "http://me:p%40w@")
    #expect(await targets(url).outcome == .completed)
    let request = server.requests.first
    #expect(request?["Host"] == "127.0.0.1:\(server.port)")
    #expect(request?["Authorization"] == "Basic bWU6cEB3")
    #expect(request?.target == "/a")
  }

  @Test(arguments: [
    "http://127.0.0.1:65536/", "//127.0.0.1:65536/", "http://127.0.0.1:99999999999999999999/",
    "http://127.0.0.1:-1/", "http://[::1/", "http://", "http:x", "https://h:65536", "//", "///x",
    "http://a b/", "//h:x/[", "?\u{7F}", ":", "http://%/",
  ])
  func `a location that cannot be requested ends only its request`(_ location: String) async {
    server.route("/old", Resource(redirectTo: location))
    let (outcome, _) = await targets(server.url("/old"))
    #expect(outcome != nil && outcome != .cancelled)
    #expect(server.requests.first?.target == "/old")
    // The transport still works.
    #expect(await targets(server.url("/good")).outcome == .completed)
  }

  /// URLSession on Linux does not survive these (`URLSessionCrashTests`).
  @Test(
    .enabled(
      if: !TransportUnderTest.isURLSession,
      "URLSession on Linux does not survive the location"
    ),
    arguments: ["//a%20b/", "//%2f", "//z%00/", "//127.%\u{6587}01:6"]
  )
  func `a location whose host is not valid fails`(_ location: String) async {
    server.route("/old", Resource(redirectTo: location))
    #expect(await targets(server.url("/old")).outcome?.failureCode == .badRedirect)
    #expect(await targets(server.url("/good")).outcome == .completed)
  }

  @Test func `a redirect that needs its own cookie is followed`() async {
    server.route(
      "/file",
      Resource { request in
        guard request["Cookie"] == "user=1; s=2; t=3" else {
          let fields =
            "Set-Cookie: s=2; Path=/; Expires=Fri, 31 Dec 2100 23:59:59 GMT\r\n"
            + "Set-Cookie: t=3; HttpOnly\r\n"
          return RawReply(
            Array("HTTP/1.1 302 F\r\nLocation: /file\r\n\(fields)Content-Length: 0\r\n\r\n".utf8),
            ending: .keep
          )
        }
        return RawReply(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), ending: .keep)
      }
    )
    let sink = RecordingSink(expecting: .text("ok"))
    var request = TaskRequest(url: server.url("/file"), recordID: "r")
    request.headers = [HeaderField(name: "Cookie", value: "user=1")]
    _ = transport.start(request, sink: sink)
    #expect(await sink.outcome() == .completed)
    #expect(sink.status == 200 && sink.record.byteCount == 2)
    #expect(server.requests.map { $0["Cookie"] } == ["user=1", "user=1; s=2; t=3"])
    // Another request does not know the cookies.
    _ = transport.start(TaskRequest(url: server.url("/x"), recordID: "x"), sink: RecordingSink())
    let last = RecordingSink()
    _ = transport.start(TaskRequest(url: server.url("/y"), recordID: "y"), sink: last)
    #expect(await last.outcome() == .completed)
    #expect(server.requests.last?["Cookie"] == nil)
  }
}
