#if Server
  import DownloadReports
  import DownloadStore
  import Foundation
  import HTTPTypes
  import HummingbirdCore
  import NIOCore
  import ObjectStore
  import SystemInterface
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// Pages that are sent while the store is searched.
  @Suite struct StreamedPageTests {
    /// The pieces that were sent.
    private final class Sent: Sendable {
      // A lock, because a part is read on another thread.
      private let state = Mutex<[String]>([])

      var pieces: [String] { state.withLock { $0 } }

      func add(_ piece: String) { state.withLock { $0.append(piece) } }
    }

    /// A client that counts the snapshots of a store while it takes a piece.
    private struct Client: ResponseBodyWriter {
      let sent: Sent
      let store: RecordStore

      mutating func write(_ buffer: ByteBuffer) async throws {
        let readers = try store.objects.statistics().readers
        #expect(readers.isEmpty)
        sent.add(String(buffer: buffer))
      }

      consuming func finish(_: HTTPFields?) async throws {}
    }

    private let folder: TemporaryFolder
    private let store: RecordStore
    private let sent = Sent()

    init() throws {
      folder = try TemporaryFolder()
      store = try RecordStore(at: folder.path("store"))
    }

    private func send(_ parts: [PagePart]) async throws {
      let logger = DownloadServer.silentLogger
      let context = ServerContext(
        store: store,
        feed: LiveFeed(of: store, logger: logger),
        options: ServerOptions(),
        logger: logger
      )
      var client: any ResponseBodyWriter = Client(sent: sent, store: store)
      try await PageStream(parts: parts, context: context).send(to: &client)
    }

    @Test func `what needs no search is sent before the store is read`() async throws {
      try await send([
        .ready("a"), .ready("b"), .read { [sent] _ in "\(sent.pieces.count)" },
        .read { [sent] _ in "\(sent.pieces.count)" }, .ready("c"),
      ])
      #expect(sent.pieces == ["ab", "1", "2c"])
    }

    @Test func `an error takes the place of the part that could not be read`() async throws {
      try await send([
        .ready("<section>"),
        .read { _ in throw ServerError(.storeFailed, "it is <damaged>") },
        .ready("</section>"),
      ])
      #expect(sent.pieces.count == 2 && sent.pieces[0] == "<section>")
      let rest = sent.pieces.last ?? ""
      #expect(rest.contains("role=\"alert\"><span>It is &lt;damaged&gt;.</span>"))
      #expect(rest.hasSuffix("</section>"))
    }

    @Test func `the filters of a list are sent before its downloads`() async throws {
      try store.addNow([DownloadRequest(url: "http://h.example/one.bin")])
      var query = DownloadListQuery()
      query.text = "one"
      let view = DownloadListView(
        page: DownloadListPage(query: query),
        counts: ["waiting": 1],
        bytesPerSecond: 0,
        speed: { _ in nil },
        allowsChanges: true
      )
      try await send(view.parts)
      #expect(sent.pieces.count == 3)
      #expect(sent.pieces[0].contains("<h1>Downloads</h1>"))
      #expect(sent.pieces[1].contains("id=\"failures\" hidden"))
      #expect(sent.pieces[1].contains("name=\"text\" value=\"one\""))
      #expect(sent.pieces[2].contains("one.bin"))
      let page = try DownloadListPage(query, in: store, engineRuns: false)
      var whole = view
      whole.page = page
      #expect(sent.pieces.joined() == whole.html.text)
    }

    @Test func `the form of a model is sent before its objects`() async throws {
      try store.addNow([DownloadRequest(url: "http://h.example/one.bin")])
      let query = StoreModelQuery(FormFields("where=filename~one"))
      let page = try StoreModelPage(query, model: "DownloadRecord", in: store.objects)
      try await send(StoreModelView(page: page).parts)
      #expect(sent.pieces.count == 2)
      #expect(sent.pieces[0].contains("value=\"filename~one\""))
      #expect(sent.pieces[1].contains("1 match") && sent.pieces[1].contains("one.bin"))
    }

    @Test func `tags that differ only in their bytes have totals of their own`() throws {
      var requests = [DownloadRequest(url: "http://h/1"), DownloadRequest(url: "http://h/2")]
      requests[0].tags = ["\u{E9}"]
      requests[1].tags = ["e\u{301}"]
      try store.addNow(requests)
      let list = try TagList(in: store)
      #expect(list.tags.map(\.progress.members) == [1, 1])
    }

    @Test func `the headings of the tags and of the store are sent before the store is read`()
      async throws
    {
      var request = DownloadRequest(url: "http://h.example/one.bin")
      request.tags = ["nightly"]
      try store.addNow([request])
      try await send(TagList.parts)
      #expect(sent.pieces.count == 2)
      #expect(sent.pieces[0].contains("<h1>Tags</h1>"))
      #expect(sent.pieces[1].contains("nightly") && sent.pieces[1].hasSuffix("</section>"))
      try await send(StoreOverviewView.parts)
      #expect(sent.pieces.count == 4)
      #expect(sent.pieces[2].contains("<h1>Store</h1>"))
      #expect(sent.pieces[3].contains("id=\"store\"") && sent.pieces[3].contains("DownloadRecord"))
    }

    @Test func `a download is sent before its history is searched`() async throws {
      let record = try store.addNow([DownloadRequest(url: "http://h.example/one.bin")])[0].record
      let view = DownloadDetailView(
        entry: DownloadEntry(record, try store.roots(), engineRuns: false),
        headers: [],
        speed: nil,
        allowsChanges: true
      )
      try await send(view.parts)
      #expect(sent.pieces.count == 2)
      #expect(sent.pieces[0].contains("one.bin") && sent.pieces[0].contains("id=\"detail\""))
      #expect(sent.pieces[1].contains("History of the record"))
      #expect(sent.pieces[1].contains("<td>added</td>"))
    }

    @Test func `a page has chunks only for HTTP 1.1, and HEAD states no length`() async throws {
      try await RunningServer.with { server in
        try await server.store.add([DownloadRequest(url: "http://h.example/a")])
        let id = try #require(try server.store.records().first).id
        for path in ["/", "/tags", "/downloads/\(id)", "/store", "/store/DownloadRecord"] {
          let page = try await server.send("GET", path)
          #expect(page.status == 200 && page.field("Transfer-Encoding") == "chunked")
          #expect(page.field("Content-Length") == nil && page.body.contains("</html>"))
          #expect(page.body.hasSuffix("\r\n0\r\n\r\n"))
          let old = try await server.exchange(
            "GET \(path) HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n\r\n"
          )
          #expect(old.field("Transfer-Encoding") == nil && old.body.hasSuffix("</html>"))
          let head = try await server.send("HEAD", path)
          #expect(head.status == 200 && head.body.isEmpty)
          #expect(head.field("Content-Length") == nil)
        }
        let whole = try await server.send("GET", "/?sort=none")
        #expect(whole.field("Content-Length") == "\(whole.body.utf8.count)")
      }
    }

    @Test func `a mistake in an address has a status, because it is found before the page begins`()
      async throws
    {
      try await RunningServer.with { server in
        try await server.store.add(
          (0..<60).map { DownloadRequest(url: "http://h.example/\($0)") }
        )
        func next(_ sort: DownloadListQuery.Sort) throws -> String {
          var query = DownloadListQuery()
          query.sort = sort
          let page = try DownloadListPage(query, in: server.store, engineRuns: false)
          return try #require(page.next)
        }
        let byState = try next(.state)
        let bySize = try next(.size)
        let addresses: [(String, Int)] = [
          ("/?after=x", 400), ("/?after=waiting.x", 400), ("/?sort=name&after=x", 400),
          ("/?sort=name&after=\(byState)", 400), ("/?sort=name&after=\(bySize)", 400),
          ("/?after=waiting.\(bySize)", 400), ("/?after=\(byState)", 200),
          ("/?sort=size&after=\(bySize)", 200), ("/?state=paused&after=\(byState)", 400),
          ("/store/None", 404), ("/store/DownloadRecord?where=none%3D1", 400),
          ("/store/DownloadRecord?where=filename%3D1", 200), ("/store/DownloadRecord?were=1", 400),
        ]
        for (path, status) in addresses {
          let answer = try await server.send("GET", path)
          #expect(answer.status == status, "\(path): \(answer.text.prefix(500))")
        }
      }
    }

    @Test(arguments: [
      ("state=fialed&tag=a", "‘fialed’ is not a state", "/?tag=a"),
      ("sort=url", "‘url’ is not an order", "/"),
      ("reason=404&state=failed", "‘404’ is not the reason of a failure", "/?state=failed"),
      ("status=failed", "There is no filter ‘status’", "/"),
      ("tag=a&tag=b", "The address has two values of ‘tag’", "/?tag=a"),
      ("text=%3Cb%3E&after=x", "&#39;after&#39; is no position in the list", "/?text=%3Cb%3E"),
    ])
    func `a page names the part of its address that is not understood, and links to the rest`(
      query: String,
      problem: String,
      link: String
    ) async throws {
      try await RunningServer.with { server in
        try await server.store.add([DownloadRequest(url: "http://h.example/shown.bin")])
        let answer = try await server.send("GET", "/?\(query)")
        #expect(answer.status == 400)
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.body.contains(problem) && answer.body.hasSuffix("</html>"), "\(answer.text)")
        #expect(answer.body.contains("<a href=\"\(link)\">Show the list without it</a>"))
        #expect(!answer.body.contains("shown.bin"))
        let rest = try await server.send("GET", link)
        #expect(rest.status == 200)
      }
    }

    @Test(arguments: [
      "", "state=&text=&tag=&host=&sort=state", "notice=x", "state=failed&reason=notFound",
      "tag=a&sort=name&notice=x",
    ])
    func `the addresses of the page's own forms are understood`(query: String) {
      #expect(DownloadListQuery.problem(in: FormFields(query)) == nil)
    }

    @Test func `the events after the position of a page have what changed since`() async throws {
      try await RunningServer.with { server in
        let record = try await server.store.add([DownloadRequest(url: "http://h.example/a")])[0]
          .record
        let page = try await server.send("GET", "/").body
        let start = try #require(page.firstRange(of: "data-after=\""))
        let position = String(page[start.upperBound...].prefix { $0 != "\"" })
        #expect(LiveToken.token(position) != nil)
        try await server.store.pause(.matching(record.id))
        let events = try await RawConnection.with(port: server.port) { connection in
          try await connection.write(
            "GET /events?after=\(position) HTTP/1.1\r\nHost: localhost\r\n"
              + "Authorization: Bearer \(server.token.text)\r\n\r\n"
          )
          return try await connection.read(until: "\"state\":\"paused\"")
        }
        #expect(events.contains("event: change\n") && events.contains(record.id))
      }
    }
  }
#endif
