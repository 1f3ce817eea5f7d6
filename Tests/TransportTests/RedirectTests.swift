import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// The requests that follow a redirect.
@Suite(.timeLimit(.minutes(10)))
struct RedirectTests {
  private let server: FaultServer
  private let other: FaultServer
  private let transport = TransportUnderTest.make()
  private let body = Body.generated(byteCount: 300_000, seed: 13)
  private let headers = [
    HeaderField(name: "Authorization", value: "Bearer abc"),
    HeaderField(name: "Cookie", value: "a=b"),
    HeaderField(name: "Private-Token", value: "glpat"),
    HeaderField(name: "X-Api-Key", value: "k"),
    HeaderField(name: "X-One", value: "1"),
    HeaderField(name: "X-Requested-With", value: "test"),
  ]

  init() throws {
    server = try FaultServer()
    other = try FaultServer()
  }

  private func fetch(_ path: String, sink: RecordingSink) async -> TaskOutcome? {
    let request = TaskRequest(
      url: server.url(path),
      recordID: "r",
      offset: 1_000,
      validator: "\"1\"",
      headers: headers
    )
    _ = transport.start(request, sink: sink)
    return await sink.outcome()
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect keeps the range and drops credentials for another origin`(_ status: Int) async {
    server.route("/old", Resource(redirectTo: other.url("/new"), status: status))
    other.route("/new", Resource(body))
    let sink = RecordingSink(expecting: body, from: 1_000)
    #expect(await fetch("/old", sink: sink) == .completed)
    #expect(sink.record.heads.map(\.status) == [206])
    #expect(sink.record.heads.first?.url == other.url("/new"))
    #expect(sink.record.byteCount == 299_000)
    #expect(sink.record.isIntact)
    #expect(server.requests.first?["Authorization"] == "Bearer abc")
    let request = other.requests.first
    #expect(request?["Range"] == "bytes=1000-")
    #expect(server.requests.first?["If-Range"] == "\"1\"")
    #expect(request?["If-Range"] == nil)
    #expect(request?["X-Requested-With"] == "test")
    #expect(request?["X-One"] == nil)
    #expect(request?["Accept-Encoding"] == "identity")
    #expect(request?["Authorization"] == nil)
    #expect(request?["Cookie"] == nil)
    #expect(request?["Private-Token"] == nil)
    #expect(request?["X-Api-Key"] == nil)
    #expect(await transport.liveTasks().isEmpty)
  }

  @Test func `credentials stay within their origin and are not restored by a redirect back`() async
  {
    server.route("/a/b", Resource(redirectTo: "c/d?x=1"))
    server.route("/a/c/d", Resource(redirectTo: other.url("/away")))
    other.route("/away", Resource(redirectTo: server.url("/end")))
    server.route("/end", Resource(body))
    let sink = RecordingSink(expecting: body, from: 1_000)
    #expect(await fetch("/a/b", sink: sink) == .completed)
    #expect(sink.record.isIntact && sink.record.byteCount == 299_000)
    #expect(server.requests.map(\.target) == ["/a/b", "/a/c/d?x=1", "/end"])
    #expect(
      server.requests.map { $0["Authorization"] } == ["Bearer abc", "Bearer abc", nil]
    )
    #expect(server.requests.map { $0["Private-Token"] } == ["glpat", "glpat", nil])
    #expect(server.requests.allSatisfy { $0["If-Range"] == "\"1\"" })
    #expect(other.requests.map { $0["If-Range"] } == [nil])
    #expect(other.requests.map { $0["Private-Token"] } == [nil])
  }

  @Test func `a redirect loop ends after twenty redirects`() async {
    server.route("/loop", Resource(redirectTo: "/loop"))
    let sink = RecordingSink()
    #expect(await fetch("/loop", sink: sink)?.failureCode == .badRedirect)
    #expect(server.requests.count == 21)
    #expect(sink.record.heads.isEmpty)
  }

  @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "data:,x", "http://"])
  func `a redirect to another scheme is refused`(_ location: String) async {
    server.route("/old", Resource(redirectTo: location))
    let sink = RecordingSink()
    let outcome = await fetch("/old", sink: sink)
    #expect(outcome?.failureCode == .badRedirect, "\(String(describing: outcome))")
    #expect(sink.record.heads.isEmpty && sink.record.outcomes.count == 1)
  }

  @Test func `no failure reveals a secret of a redirect target`() async throws {
    let closed = try ClosedPort()
    let dead = closed.url("/x?X-Amz-Signature=hush").replacing("//", with: "//me:hush@")
    server.route("/loop", Resource(redirectTo: "/loop?token=hush"))
    let locations = [
      "/loop?token=hush", dead, "ftp://me:hush@127.0.0.1/?sig=hush",
    ]
    for (index, location) in locations.enumerated() {
      server.route("/\(index)", Resource(redirectTo: location))
      let sink = RecordingSink()
      guard case .failed(let failure) = await fetch("/\(index)", sink: sink) else {
        Issue.record("no failure for \(location)")
        continue
      }
      #expect(!failure.message.contains("hush"), "\(failure.message)")
    }
  }

  @Test(arguments: [300, 302, 304])
  func `a redirect without a target is passed on as a response`(_ status: Int) async {
    server.route("/old", Resource(redirectTo: nil, status: status))
    let sink = RecordingSink()
    #expect(await fetch("/old", sink: sink) == .completed)
    #expect(sink.record.heads.map(\.status) == [status])
    #expect(sink.record.violationCount == 0)
  }

  @Test func `cancelling during redirects ends the task once`() async {
    server.route("/loop", Resource(redirectTo: "/loop"))
    await withTaskGroup { group in
      for index in 0..<100 {
        group.addTask {
          let sink = RecordingSink()
          let request = TaskRequest(url: server.url("/loop"), recordID: "\(index)")
          let id = transport.start(request, sink: sink)
          for _ in 0..<index { await Task.yield() }
          transport.cancel(id)
          let outcome = await sink.outcome()
          #expect(outcome == .cancelled || outcome?.failureCode == .badRedirect)
          #expect(sink.record.violationCount == 0)
        }
      }
    }
  }
}
