import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadServer

/// The page of a store, and exports of its models.
@Suite struct StorePageTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func export(_ query: String, of model: String = "DownloadRecord") throws -> StoreExport {
    try StoreExport(query, model: model, in: store.objects)
  }

  /// The page of a query, with its objects.
  private func page(_ query: StoreModelQuery) throws -> StoreModelPage {
    var page = try StoreModelPage(query, model: "DownloadRecord", in: store.objects)
    try page.readObjects(in: store.objects)
    return page
  }

  /// The parts of an export, as texts.
  private func parts(_ query: String) throws -> [String] {
    let export = try export(query)
    var texts: [String] = []
    var next: UInt64? = 0
    while let start = next {
      let part = try export.part(from: start, in: store.objects)
      texts.append(String(decoding: part.text, as: UTF8.self))
      next = part.next
      // A slow client, which takes its time between two parts, has no snapshot.
      #expect(try store.objects.statistics().readers.isEmpty)
    }
    return texts
  }

  @Test func `a query of a model shows its plan, its objects and its mistakes`() throws {
    try store.addNow(
      (0..<3).map { DownloadRequest(url: "http://example.com/\($0)?token=topsecret12345") }
    )
    var query = StoreModelQuery(
      FormFields("where=state%3Dwaiting%3B+priority%3D0&sort=filename:desc")
    )
    var page = try page(query)
    #expect(page.objects.count == 3)
    #expect(page.count == 3)
    #expect(page.plan == "index on state (one value), then sort")
    let html = StoreModelView(page: page).objects.text
    #expect(!html.contains("topsecret"))
    query.conditions = "nothing=1"
    page = try self.page(query)
    #expect(page.problem?.contains("has no field 'nothing'") == true)
    #expect(StoreModelView(page: page).objects.text.contains("role=\"alert\""))
  }

  @Test func `the page of a store names its models and sizes`() throws {
    try store.addNow([DownloadRequest(url: "http://example.com/a")])
    let html = StoreOverviewView(overview: try StoreOverview(of: store.objects)).html.text
    #expect(html.contains("DownloadRecord"))
    #expect(html.contains("free pages"))
    let object = try StoreObjectView(
      FormFields("object=1"),
      model: "DownloadRecord",
      in: store.objects
    )
    #expect(object.html.text.contains("http://example.com/a"))
  }

  @Test(arguments: [
    ("magnet:?xt=urn:btih:00&token=hush", "magnet:?xt=urn:btih:00&amp;token=•••"),
    ("user:hush@host/x?token=hush", "•••@host/x?token=•••"),
    ("host/path?access_token=hush", "host/path?access_token=•••"),
  ])
  func `a key that is almost a URL is redacted as one`(key: String, shown: String) throws {
    var request = DownloadRequest(url: "http://h.example/a")
    request.key = key
    try store.addNow([request])
    let object = try StoreObjectView(
      FormFields("object=1"),
      model: "DownloadRecord",
      in: store.objects
    )
    let html = object.html.text
    #expect(html.contains(shown) && !html.contains("hush"), "\(html)")
    #expect(StoredValueText.address(of: "Link", key: .string(key)) == nil)
    #expect(StoredValueText.address(of: "Link", key: .string("plain/name")) != nil)
  }

  @Test func `an export in parts has each match once`() throws {
    let requests = (0..<400).map { number in
      var request = DownloadRequest(url: "http://h.example/\(number)")
      request.isPaused = number.isMultiple(of: 2)
      request.tags = [String(repeating: "a", count: 200)]
      return request
    }
    try store.addNow(requests)
    let parts = try parts("format=jsonl&where=state%3Dpaused")
    #expect(parts.count > 2)
    let urls = try parts.joined().split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["url"] as? String
    }
    #expect(urls == requests.filter(\.isPaused).map(\.url))
  }

  @Test func `an export has the order of the page, also in parts`() throws {
    let requests = (0..<400).map { number in
      var request = DownloadRequest(url: "http://h.example/\(number)")
      request.priority = Int32(number % 7)
      request.tags = [String(repeating: "a", count: 200)]
      return request
    }
    try store.addNow(requests)
    let query = "where=priority%3E2&sort=priority:desc"
    let parts = try parts("format=jsonl&\(query)")
    #expect(parts.count > 2)
    let keys = try parts.joined().split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["priority"] as? Int
    }
    let expected = requests.map { Int($0.priority ?? 0) }.filter { $0 > 2 }.sorted(by: >)
    #expect(keys == expected)
    let page = try page(StoreModelQuery(FormFields(query)))
    let csv = try self.parts("format=csv&\(query)").joined().split(separator: "\n")
    let shown = page.objects.map { StoredValueText.exact($0["url"] ?? .null) }
    #expect(csv.dropFirst().prefix(50).map { String($0.prefix { $0 != "," }) } == shown)
  }

  @Test func `a sorted export keeps a limited number of ids`() throws {
    try store.addNow((0..<3).map { DownloadRequest(url: "http://h.example/\($0)") })
    func error(_ query: String, _ maximum: Int) -> ServerError? {
      do {
        _ = try StoreExport(
          "format=csv&\(query)",
          model: "DownloadRecord",
          in: store.objects,
          maximumSorted: maximum
        )
        return nil
      } catch {
        return error as? ServerError
      }
    }
    #expect(error("sort=url", 3) == nil && error("", 2) == nil)
    #expect(error("sort=url", 2)?.code == .invalidRequest)
  }

  @Test func `a mistake in the order is shown`() throws {
    let page = try page(StoreModelQuery(FormFields("sort=url:up")))
    #expect(page.problem?.contains("'url:up' is not an order") == true)
  }

  @Test func `CSV begins with the names of the fields, also without a match`() throws {
    let empty = try parts("format=csv")
    #expect(empty.count == 1 && empty[0].hasPrefix("url,id,filename,"))
    try store.addNow([DownloadRequest(url: "http://h.example/a,b")])
    let lines = try parts("format=csv").joined().split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("\"http://h.example/a,b\","))
  }

  @Test func `an export has no secrets of header fields and URLs`() throws {
    var request = DownloadRequest(url: "http://h.example/a?token=topsecret123456")
    request.headers = [HeaderField(name: "Authorization", value: "Bearer abcdef123456")]
    try store.addNow([request])
    #expect(try !parts("format=csv").joined().contains("topsecret"))
    let headers = try export("format=jsonl", of: "RequestHeaders")
      .part(from: 0, in: store.objects).text
    let text = String(decoding: headers, as: UTF8.self)
    #expect(text.contains("•••") && !text.contains("abcdef"))
    #expect(!text.contains(Data("abcdef".utf8).base64EncodedString().prefix(7)))
  }

  @Test(arguments: [
    ("format=jsonl", "None", ServerError.Code.notFound),
    ("", "DownloadRecord", .invalidRequest), ("format=xml", "DownloadRecord", .invalidRequest),
    ("format=csv&where=none%3D1", "DownloadRecord", .invalidRequest),
    ("format=csv&where=priority", "DownloadRecord", .invalidRequest),
    ("format=csv&sort=none", "DownloadRecord", .invalidRequest),
    ("format=csv&sort=url:up", "DownloadRecord", .invalidRequest),
    ("format=csv&sort=url&sort=id", "DownloadRecord", .invalidRequest),
    ("format=csv&state=paused", "DownloadRecord", .invalidRequest),
    ("format=csv&where=url~%FF", "DownloadRecord", .invalidRequest),
  ])
  func `an export that cannot be made is an error`(
    query: String,
    model: String,
    code: ServerError.Code
  ) {
    let error = #expect(throws: ServerError.self) { try export(query, of: model) }
    #expect(error?.code == code)
  }

  @Test func `the commits name the objects and the fields that they changed`() async throws {
    let url = "http://h.example/a"
    try store.addNow([DownloadRequest(url: url)])
    try await store.pause(.matching(url))
    let html = StoreOverviewView(overview: try StoreOverview(of: store.objects)).html.text
    let address = "/store/DownloadRecord?key=http%3A%2F%2Fh.example%2Fa"
    let link = "<a href=\"\(address)\"><bdi>\(url)</bdi></a>"
    #expect(html.contains(" · inserted \(link)"))
    #expect(html.contains(" · updated \(link) <span class=\"muted\">"))
    // What page.js replaces.
    let commit = try store.objects.statistics().lastCommit
    #expect(html.contains("id=\"store\" data-commit=\"\(commit)\""))
  }

  @Test func `the objects of a model can be exported as they are searched`() throws {
    let query = StoreModelQuery(FormFields("where=state%3Dpaused&sort=url"))
    let html = StoreModelView(page: try page(query)).objects.text
    for format in ["jsonl", "csv"] {
      let query = "format=\(format)&amp;where=state%3Dpaused&amp;sort=url"
      #expect(html.contains("href=\"/store/DownloadRecord/export?\(query)\""))
    }
  }

  #if Server
    @Test func `an export is a file that arrives as it is read`() async throws {
      try await RunningServer.with { server in
        try await server.store.add([DownloadRequest(url: "http://h.example/a")])
        let path = "/store/DownloadRecord/export?format=jsonl"
        let answer = try await server.send("GET", path)
        #expect(answer.status == 200)
        #expect(answer.field("Transfer-Encoding") == "chunked")
        #expect(
          answer.field("Content-Disposition") == "attachment; filename=\"DownloadRecord.jsonl\""
        )
        #expect(answer.body.contains("{\"url\":\"http://h.example/a\","))
        let missing = try await server.send("GET", "/store/None/export?format=csv")
        #expect(missing.status == 404)
      }
    }

    @Test func `a place that was left is free once, also while it is referenced`() {
      let places = ClientPlaces(maximum: 1)
      let first = places.place()
      #expect(first != nil && places.place() == nil)
      first?.leave()
      first?.leave()
      let second = places.place()
      #expect(second != nil && places.place() == nil)
      withExtendedLifetime((first, second)) {}
    }

    @Test(arguments: [(0, 503), (1, 200)])
    func `a limited number of exports is sorted at a time`(limit: Int, status: Int) async throws {
      try await RunningServer.with {
        $0.limits.sortedExports = limit
      } _: { server in
        let path = "/store/DownloadRecord/export?format=csv"
        // A place is free again after the export.
        for _ in 0..<2 {
          let sorted = try await server.send("GET", "\(path)&sort=url")
          #expect(sorted.status == status)
        }
        #expect(try await server.send("GET", path).status == 200)
      }
    }
  #endif
}
