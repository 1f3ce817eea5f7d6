#if Server
  import DownloadStore
  import Foundation
  import ObjectStore
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// A real server over real sockets.
  struct ServerTests {
    @Test func `a browser exchanges the token of the address for a cookie`() async throws {
      try await RunningServer.with { server in
        let head = "HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n"
        let first = try await server.exchange(
          "GET /api/v1/stats?token=\(server.token.text) \(head)\r\n"
        )
        #expect(first.status == 303 && first.field("Location") == "/api/v1/stats")
        let cookie = try #require(first.field("Set-Cookie"))
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(!cookie.contains(server.token.text))
        let pair = cookie.prefix { $0 != ";" }
        let second = try await server.exchange(
          "GET /api/v1/stats \(head)Cookie: a=b; \(pair)\r\n\r\n"
        )
        #expect(second.status == 200)
        let without = try await server.exchange("GET /api/v1/stats \(head)\r\n")
        #expect(without.status == 401)
        let wrong = try await server.exchange("GET /?token=0123456789abcdef \(head)\r\n")
        #expect(wrong.status == 401)
      }
    }

    @Test func `every answer protects pages, also that to a path which does not exist`()
      async throws
    {
      try await RunningServer.with { server in
        for path in ["/api/v1/stats", "/none", "/api/v1/downloads/none"] {
          let answer = try await server.send("GET", path)
          #expect(answer.field("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
          #expect(answer.field("X-Content-Type-Options") == "nosniff")
          #expect(answer.field("Referrer-Policy") == "same-origin")
          #expect(answer.field("Cache-Control") == "no-store")
        }
        let other = try await server.exchange(
          "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        )
        #expect(other.status == 403 && other.field("X-Frame-Options") == "DENY")
        let twice = try await server.exchange(
          "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        #expect(twice.status == 403 || twice.status == 400)
      }
    }

    @Test func `a page has its style sheet, and its policy permits no other`() async throws {
      try await RunningServer.with { server in
        let page = try await server.send("GET", "/?sort=none")
        #expect(page.status == 400 && !page.body.contains("rel=\"stylesheet\""))
        let parts = page.body.split(separator: "<style>")
        let style = try #require(parts.last?.split(separator: "</style>").first)
        #expect(parts.count == 2 && String(style) == PageStyle.text)
        // Browsers compare the digest; make browser-test fails if one applies no style.
        let policy = try #require(page.field("Content-Security-Policy"))
        #expect(policy.contains("; style-src \(PageStyle.source); "))
        #expect(PageStyle.source.hasPrefix("'sha256-") && PageStyle.source.utf8.count == 53)
      }
    }

    @Test func `downloads are added, listed in pages, changed and inspected`() async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let requests = (0..<5).map {
          "{\"url\":\"http://h.example/\($0).bin\",\"tags\":[\"t\"],\"paused\":true}"
        }
        .joined(separator: ",")
        let added = try await server.send(
          "POST",
          "/api/v1/downloads",
          "{\"requests\":[\(requests)]}"
        )
        #expect(added.status == 201)
        var seen: [String] = []
        var after = ""
        repeat {
          let page = try await server.send("GET", "/api/v1/downloads?limit=2&sort=url:desc\(after)")
            .object
          let downloads = try #require(page["downloads"] as? [[String: Any]])
          seen += downloads.compactMap { $0["filename"] as? String }
          after = (page["next"] as? String).map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        #expect(seen == ["4.bin", "3.bin", "2.bin", "1.bin", "0.bin"])
        let body = "{\"action\":\"resume\",\"filter\":{\"tag\":[\"t\"]},\"dryRun\":true}"
        let preview = try await server.send("POST", "/api/v1/downloads/actions", body)
        let done = try preview.object["done"] as? Int
        #expect(done == 5)
        let totals = try server.store.totals(engineRuns: false)
        #expect(totals.first { $0.word == "paused" }?.recordCount == 5)
        let resumed = try await server.send("POST", "/api/v1/downloads/2.bin/resume")
        let one = try resumed.object["done"] as? Int
        #expect(one == 1)
        let changed = try await server.send(
          "PATCH",
          "/api/v1/downloads/2.bin",
          "{\"priority\":7,\"limitRate\":null,\"addTags\":[\"u\"]}"
        )
        #expect(changed.status == 200, "\(changed.text)")
        let shown = try await server.send("GET", "/api/v1/downloads/2.bin").object
        #expect(shown["priority"] as? Int == 7 && shown["tags"] as? [String] == ["t", "u"])
        #expect(shown["state"] as? String == "waiting" && shown["next"] is [String: Any])
        let removed = try await server.send("POST", "/api/v1/downloads/2.bin/remove")
        #expect(removed.status == 200)
        #expect(try await server.send("GET", "/api/v1/downloads/2.bin").status == 404)
        // Without an engine the server has deleted it itself.
        let left = try server.store.records()
        #expect(left.count == 4)
      }
    }

    @Test func `a server without permission to change anything changes nothing`() async throws {
      try await RunningServer.with { server in
        let body = "{\"requests\":[{\"url\":\"http://h.example/a\"}]}"
        let added = try await server.send("POST", "/api/v1/downloads", body)
        #expect(added.status == 403)
        let error = try added.object["error"] as? [String: Any]
        #expect(error?["code"] as? String == "readOnly")
        let records = try server.store.records()
        #expect(records.isEmpty)
      }
    }

    @Test(arguments: [
      ("GET", "/api/v1/downloads?state=done", "", 400),
      ("GET", "/api/v1/downloads?limit=0", "", 400), ("GET", "/api/v1/downloads?x=1", "", 400),
      ("GET", "/api/v1/downloads?after=00", "", 409), ("GET", "/api/v1/downloads?tag=%FF", "", 400),
      ("GET", "/api/v1/downloads?limit=1&limit=2", "", 400), ("GET", "/api/v1/stats?a", "", 400),
      ("GET", "/api/v1/downloads/none", "", 404), ("DELETE", "/api/v1/stats", "", 405),
      ("POST", "/api/v1/downloads", "[]", 400), ("POST", "/api/v1/downloads", "{", 400),
      ("POST", "/api/v1/downloads", "{\"requests\":[]}", 400),
      ("POST", "/api/v1/downloads", "{\"requests\":[{\"url\":\"ftp://h/a\"}]}", 400),
      ("POST", "/api/v1/downloads", "{\"requests\":[{\"url\":\"http://h/a\",\"tag\":1}]}", 400),
      ("POST", "/api/v1/downloads/actions", "{\"action\":\"pause\"}", 400),
      ("POST", "/api/v1/downloads/actions", "{\"action\":\"x\",\"ids\":[]}", 400),
      ("POST", "/api/v1/downloads/none/pause", "{}", 404),
      ("PATCH", "/api/v1/downloads/none", "{}", 400),
    ])
    func `a wrong request is answered with a code and a sentence`(
      method: String,
      path: String,
      body: String,
      status: Int
    ) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let answer = try await server.send(method, path, body.isEmpty ? nil : body)
        #expect(answer.status == status, "\(answer.text)")
        let error = try #require(try answer.object["error"] as? [String: Any])
        #expect(!(error["code"] as? String ?? "").isEmpty)
        #expect(!(error["message"] as? String ?? "").isEmpty)
      }
    }

    @Test(arguments: [
      ("GET", "/downloads/none", 404, "the file name &#39;none&#39;."),
      ("GET", "/downloads/0000000000000000", 404, "the file name &#39;0000000000000000&#39;."),
      ("GET", "/store/None", 404, "<h1>Not found</h1>"),
      ("GET", "/store/None/export?format=csv", 404, "<h1>Not found</h1>"),
      ("GET", "/none", 404, "<strong>The server has no such path.</strong>"),
      ("PUT", "/downloads/none", 405, "<strong>The path accepts GET, HEAD.</strong>"),
    ])
    func `an error of an address that a browser opens is a page with a link to the list`(
      method: String,
      path: String,
      status: Int,
      sentence: String
    ) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let browser = ["Accept: text/html,application/xhtml+xml,*/*;q=0.8"]
        let answer = try await server.send(method, path, headers: browser)
        #expect(answer.status == status)
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.field("Allow") == (status == 405 ? "GET, HEAD" : nil))
        #expect(answer.body.contains(sentence), "\(answer.text)")
        #expect(answer.body.contains("<a href=\"/\">Show the list of downloads</a>"))
        #expect(answer.body.contains("<nav aria-label=\"Pages\">"))
        #expect(answer.body.hasSuffix("</html>"))
        let program = try await server.send(method, path)
        #expect(program.status == status)
        let error = try program.object["error"] as? [String: Any]
        #expect(error?["message"] is String)
        let api = try await server.send("GET", "/api/v1/downloads/none", headers: browser)
        #expect(api.status == 404 && api.field("Content-Type") == "application/json")
      }
    }

    @Test(arguments: [("/downloads/none", 401), ("/jsonrpc?jsoncallback=x", 400)])
    func `an error without the token is no page, which would name the store`(
      path: String,
      status: Int
    ) async throws {
      try await RunningServer.with { server in
        let answer = try await server.exchange(
          "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Accept: text/html\r\n\r\n"
        )
        #expect(answer.status == status)
        #expect(answer.field("Content-Type") == "text/plain; charset=utf-8")
        #expect(!answer.body.contains(server.store.path))
      }
    }

    @Test func `events arrive while another user changes downloads, and continue after a break`()
      async throws
    {
      try await RunningServer.with { server in
        let record = try await server.store.add([DownloadRequest(url: "http://h.example/a")])[0]
          .record
        func head(_ last: String?) -> String {
          "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n"
            + (last.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n"
        }
        let first = try await RawConnection.with(port: server.port) { connection in
          try await connection.write(head(nil))
          return try await connection.read(until: "\"engine\":false}}\n\n")
        }
        #expect(first.contains("text/event-stream") && first.contains("retry: 1000\n\n"))
        let start = try #require(first.firstRange(of: "id: "))
        let id = String(first[start.upperBound...].prefix { $0 != "\n" })
        try await server.store.pause(.matching(record.id))
        let second = try await RawConnection.with(port: server.port) { connection in
          try await connection.write(head(id))
          return try await connection.read(until: "\"state\":\"paused\"")
        }
        #expect(second.contains("event: change\n") && second.contains(record.id))
      }
    }

    @Test func `a limited number of clients follows the events`() async throws {
      try await RunningServer.with {
        $0.limits.eventClients = 1
      } _: { server in
        let head =
          "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n"
        try await RawConnection.with(port: server.port) { connection in
          try await connection.write(head + "\r\n")
          _ = try await connection.read(until: "retry")
          let second = try await server.exchange(head + "Connection: close\r\n\r\n")
          #expect(second.status == 503)
        }
      }
    }

    @Test func `headers and bodies that are too large end the request`() async throws {
      try await RunningServer.with { options in
        options.allowsChanges = true
        options.limits.bodyBytes = 1000
      } _: { server in
        let long = String(repeating: "x", count: 100_000)
        let header = try await server.send("GET", "/api/v1/stats", headers: ["X-Long: \(long)"])
        #expect(header.status == 400 || header.status == 0)
        let many = (0..<1000).map { "X-\($0): y" }
        let fields = try await server.send("GET", "/api/v1/stats", headers: many)
        #expect(fields.status == 400 || fields.status == 0)
        let body = "{\"requests\":\"\(String(repeating: "x", count: 2000))\"}"
        #expect(try await server.send("POST", "/api/v1/downloads", body).status == 413)
        // The server goes on.
        #expect(try await server.send("GET", "/api/v1/stats").status == 200)
      }
    }

    @Test(arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "])
    func `a connection without a whole request is closed`(text: String) async throws {
      try await RunningServer.with {
        $0.limits.idleTime = .milliseconds(200)
      } _: { server in
        try await RawConnection.with(port: server.port) { connection in
          if !text.isEmpty { try await connection.write(text) }
          _ = try await connection.readToEnd()
        }
      }
    }

    @Test func `a request whose body never ends is closed`() async throws {
      try await RunningServer.with { options in
        options.allowsChanges = true
        options.limits.bodyTime = .milliseconds(300)
      } _: { server in
        let head = """
          POST /api/v1/downloads HTTP/1.1\r
          Host: localhost\r
          Authorization: Bearer \(server.token.text)\r
          Content-Type: application/json\r
          Content-Length: 100\r
          \r
          {
          """
        try await RawConnection.with(port: server.port) { connection in
          try await connection.write(head)
          let text = String(decoding: try await connection.readToEnd(), as: UTF8.self)
          #expect(text.isEmpty || text.contains("408"))
        }
      }
    }

    @Test(.timeLimit(.minutes(10)))
    func `further connections than the limit wait for one that ends`() async throws {
      let idleTime = Duration.milliseconds(300)
      try await RunningServer.with { options in
        options.limits.connections = 2
        options.limits.idleTime = idleTime
      } _: { server in
        try await RawConnection.with(port: server.port) { _ in
          try await RawConnection.with(port: server.port) { _ in
            // The idle ones are closed, and then this one is accepted.
            let answer = try await Answer.ofServer(closingAfter: idleTime) {
              try await server.send("GET", "/api/v1/stats")
            }
            #expect(answer.status == 200)
          }
        }
      }
    }

    @Test func `the document describes the routes, and no others`() async throws {
      var routes = ServerRoutes()
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      let logger = DownloadServer.silentLogger
      let feed = LiveFeed(of: store, logger: logger)
      let options = ServerOptions()
      APIRoutes.add(
        to: &routes,
        ServerContext(store: store, feed: feed, options: options, logger: logger)
      )
      guard case .object(let paths)? = APIDocument.json["paths"] else {
        Issue.record("the document has no paths")
        return
      }
      var described: Set<String> = []
      for path in paths {
        guard case .object(let methods) = path.value else { continue }
        for method in methods.map(\.name) where method != "parameters" {
          described.insert("\(method.uppercased()) \(path.name)")
        }
      }
      let real = routes.methods.all.filter { !$0.hasPrefix("HEAD ") }
      #expect(described == Set(real))
    }

    @Test func `a host without an address is named`() async throws {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      var options = ServerOptions()
      // The name is reserved for this (RFC 6761).
      options.endpoint = .address("host.invalid", port: 0)
      let error = await #expect(throws: ServerStartError.self) {
        try await DownloadServer(store: store, options: options).run()
      }
      #expect(error?.code == .cannotListen)
      #expect(error?.message.contains("host.invalid: this host name has no address") == true)
    }

    @Test func `a socket replaces no other file`() async throws {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      let path = folder.path("file")
      try Data("kept".utf8).write(to: URL(filePath: path))
      for path in [path, folder.path("store")] {
        var options = ServerOptions()
        options.endpoint = .socket(path)
        await #expect(throws: ServerStartError.self) {
          try await DownloadServer(store: store, options: options).run()
        }
      }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
    }

    @Test func `the answer to HEAD has no body, also of an error`() async throws {
      try await RunningServer.with { server in
        for path in ["/api/v1/nope", "/api/v1/stats", "/nope"] {
          let answer = try await server.send("HEAD", path)
          #expect(answer.status == (path.hasSuffix("stats") ? 200 : 404))
          #expect(answer.body.isEmpty && answer.field("content-length") != nil, "\(answer.text)")
        }
      }
    }

    @Test(arguments: [
      ("/store/Download%52ecord", 200), ("/store/Download%52ecord/export?format=csv", 200),
      ("/downloads/%61.bin", 200), ("/api/v1/downloads/%61.bin", 200), ("/store/%FF", 400),
      ("/downloads/%FF", 400), ("/store/Download+Record", 404),
    ])
    func `the names in paths are percent-encoded`(path: String, status: Int) async throws {
      try await RunningServer.with { server in
        try await server.store.add([DownloadRequest(url: "http://h.example/a.bin")])
        let answer = try await server.send("GET", path)
        #expect(answer.status == status, "\(answer.text.prefix(500))")
      }
    }

    @Test(arguments: ["{}", "{\"state\":[]}", "{\"state\":null}", "{\"tag\":[],\"host\":null}"])
    func `a filter without a condition selects nothing`(filter: String) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        try await server.store.add([DownloadRequest(url: "http://h.example/a.bin")])
        let body = "{\"action\":\"pause\",\"filter\":\(filter)}"
        let answer = try await server.send("POST", "/api/v1/downloads/actions", body)
        #expect(answer.status == 400 && answer.body.contains("no condition"))
        let record = try server.store.record(matching: "http://h.example/a.bin")
        #expect(record.state == .waiting && record.intent == .run)
      }
    }

    @Test(arguments: ["remove", "change"])
    func `the form of some downloads takes their ids, and no names`(page: String) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let added = try await server.store.add([
          DownloadRequest(url: "http://h.example/a.bin"),
          DownloadRequest(url: "http://h.example/b.bin"),
        ])
        let ids = added.map { "id=\($0.record.id)" }.joined(separator: "&")
        let both = try await server.send("GET", "/\(page)?\(ids)&id=0000000000000000")
        #expect(both.status == 200)
        #expect(both.body.contains("a.bin") && both.body.contains("b.bin"))
        let named = try await server.send("GET", "/\(page)?id=a.bin")
        #expect(named.status == 303 && named.field("Location")?.hasPrefix("/?notice=") == true)
      }
    }

    @Test func `the place of a long call is free again after the call`() async throws {
      try await RunningServer.with {
        $0.limits.longCalls = 1
      } _: { server in
        let call = #"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:x"]}"#
        for _ in 0..<2 {
          let long = call + String(repeating: " ", count: 64 * 1024)
          let answer = try await server.send("POST", "/jsonrpc", long)
          #expect(answer.status == 400)
        }
      }
    }

    @Test(arguments: [
      ("Content-Length: 70000", 70_000, 503), ("Transfer-Encoding: chunked", 70_000, 503),
      ("Content-Length: 2", 2, 400), ("Transfer-Encoding: chunked", 2, 400),
    ])
    func `a long call without a place is refused`(
      length: String,
      count: Int,
      status: Int
    ) async throws {
      try await RunningServer.with {
        $0.limits.longCalls = 0
      } _: { server in
        var body = String(repeating: " ", count: count - 2) + "{}"
        if length.hasSuffix("chunked") {
          body = "\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        }
        let lines = [
          "POST /jsonrpc HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Connection: close", length,
          "", body,
        ]
        let answer = try await server.exchange(lines.joined(separator: "\r\n"))
        #expect(answer.status == status)
      }
    }

    @Test func `a long call whose body does not arrive takes no place`() async throws {
      try await RunningServer.with {
        $0.limits.longCalls = 1
      } _: { server in
        try await RawConnection.with(port: server.port) { silent in
          try await silent.write(
            "POST /jsonrpc HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
              + "Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n"
          )
          // The server waits for the body.
          let head = try await silent.read(until: "\r\n\r\n")
          #expect(head.contains(" 100 "))
          let call =
            #"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion","params":["token:TOKEN"]}"#
          let long =
            call.replacing("TOKEN", with: server.token.text)
            + String(repeating: " ", count: 64 * 1024)
          let answer = try await server.send("POST", "/jsonrpc", long)
          #expect(answer.status == 200, "\(answer.text)")
        }
      }
    }

    @Test func `a command above the limit is refused, and a place is free after each`() async throws
    {
      let (starts, start) = AsyncStream<Void>.makeStream()
      let (ends, end) = AsyncStream<Void>.makeStream()
      try await RunningServer.with {
        $0.limits.commands = 1
        $0.allowsChanges = true
        $0.runCommand = { _, _, mayChange in
          guard !mayChange else { return CommandAnswer(status: 0) }
          start.yield()
          for await _ in ends {}
          return CommandAnswer(status: 0)
        }
      } _: { server in
        let path = "/api/v1/command?argument=list"
        async let first = server.send("GET", path)
        for await _ in starts { break }
        let second = try await server.send("GET", path)
        #expect(second.status == 503 && second.body.contains("too many commands"))
        // Commands that change have places of their own.
        let change = #"{"arguments":["pause","a"]}"#
        #expect(try await server.send("POST", "/api/v1/command", change).status == 200)
        end.finish()
        #expect(try await first.status == 200)
        #expect(try await server.send("GET", path).status == 200)
      }
    }

    @Test func `a tag has a greatest length, whichever way it comes in`() async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let tag = String(repeating: "é", count: 128)
        func body(_ tag: String) -> String {
          #"{"requests":[{"url":"http://h/a","paused":true,"tags":["\#(tag)"]}]}"#
        }
        #expect(try await server.send("POST", "/api/v1/downloads", body(tag + "x")).status == 400)
        #expect(try await server.send("POST", "/api/v1/downloads", body(tag)).status == 201)
        let change = #"{"addTags":["\#(tag)x"]}"#
        #expect(try await server.send("PATCH", "/api/v1/downloads/a", change).status == 400)
        var update = RecordUpdate()
        update.addedTags = [tag + "x"]
        do {
          try await server.store.update(matching: "a", with: update)
          Issue.record("the tag was accepted")
        } catch let error as RecordStoreError {
          #expect(error.code == .invalidTag)
        }
      }
    }

    @Test func `a key that is a URL has no secret in an answer, and names its download`()
      async throws
    {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let body =
          #"{"requests":[{"url":"http://h/a","paused":true,"key":"http://u:hush@h/x?token=hush"}]}"#
        let added = try await server.send("POST", "/api/v1/downloads", body)
        let shown = try await server.send("GET", "/api/v1/downloads/a")
        let listed = try await server.send("GET", "/api/v1/downloads")
        for answer in [added, shown, listed] { #expect(!answer.text.contains("hush")) }
        let keys = try shown.object["keys"] as? [String]
        #expect(keys == ["http://•••@h/x?token=•••"], "\(shown.text)")
        let action = #"{"action":"resume","ids":["http://u:hush@h/x?token=hush"]}"#
        let resumed = try await server.send("POST", "/api/v1/downloads/actions", action)
        let done = try resumed.object["done"] as? Int
        #expect(done == 1, "\(resumed.text)")
      }
    }

    @Test(arguments: [
      (
        #"{"Accept":"x"}"#,
        "'headers' of requests[0] is not an array; each of its elements is an object"
      ),
      (#"["Accept: x"]"#, "requests[0].headers[0] is not an object"),
    ])
    func `an addition with header fields of another form is refused, with the form`(
      headers: String,
      message: String
    ) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        func send(_ headers: String) async throws -> Answer {
          let body = #"{"requests":[{"url":"http://h/a","paused":true,"headers":\#(headers)}]}"#
          return try await server.send("POST", "/api/v1/downloads", body)
        }
        let refused = try await send(headers)
        let error = try refused.object["error"] as? [String: Any]
        #expect(refused.status == 400)
        #expect(error?["message"] as? String == "\(message) with the strings 'name' and 'value'")
        #expect(try await send(#"[{"name":"Accept","value":"x"}]"#).status == 201)
        let sent = try server.store.headers(of: server.store.record(matching: "http://h/a"))
        #expect(sent == [HeaderField(name: "Accept", value: "x")])
      }
    }

    @Test func `an addition with more than 100 mirrors is refused`() async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        func body(_ count: Int) -> String {
          let mirrors = (1...count).map { "\"http://m\($0)/a\"" }.joined(separator: ",")
          return #"{"requests":[{"url":"http://h/a","paused":true,"mirrors":[\#(mirrors)]}]}"#
        }
        let refused = try await server.send("POST", "/api/v1/downloads", body(101))
        #expect(refused.status == 400 && refused.text.contains("at most 100 mirrors"))
        #expect(try await server.send("POST", "/api/v1/downloads", body(100)).status == 201)
        var update = RecordUpdate()
        update.mirrors = (1...101).map { "http://m\($0)/b" }
        do {
          try await server.store.update(matching: "a", with: update)
          Issue.record("the mirrors were accepted")
        } catch let error as RecordStoreError {
          #expect(error.code == .invalidRecord)
        }
      }
    }

    @Test func `two checksums of one URL in a request are refused, and both named`() async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        func request(_ digit: String) -> String {
          let digest = String(repeating: digit, count: 32)
          return #"{"url":"http://h/a","paused":true,"checksum":"md5:\#(digest)"}"#
        }
        let two = #"{"requests":[\#(request("a")),\#(request("b"))]}"#
        let refused = try await server.send("POST", "/api/v1/downloads", two)
        #expect(refused.status == 400 && refused.text.contains("requests[0] has another checksum"))
        let same = #"{"requests":[\#(request("a")),\#(request("a"))]}"#
        #expect(try await server.send("POST", "/api/v1/downloads", same).status == 201)
        // A key identifies a download instead of its URL.
        let keyed = ["c", "d"].map { digit in
          let digest = String(repeating: digit, count: 32)
          let key = #""key":"\#(digit)","checksum":"md5:\#(digest)""#
          return #"{"url":"http://h/k","paused":true,\#(key)}"#
        }
        let both = #"{"requests":[\#(keyed.joined(separator: ","))]}"#
        let added = try await server.send("POST", "/api/v1/downloads", both)
        #expect(added.status == 201, "\(added.text)")
      }
    }

    @Test(arguments: [".ssh", "a/.config/b", "./.x"])
    func `no client adds to a hidden folder`(folder: String) async throws {
      try await RunningServer.with {
        $0.allowsChanges = true
      } _: { server in
        let body = #"{"requests":[{"url":"http://h/a","folder":"\#(folder)"}]}"#
        let answer = try await server.send("POST", "/api/v1/downloads", body)
        let records = try server.store.records(DownloadRecord.all)
        #expect(answer.status == 400 && records.isEmpty, "\(answer.text)")
      }
    }

    @Test func `only the user can use a socket, and it disappears with the server`() async throws {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      let path = folder.path("s")
      var options = ServerOptions()
      options.endpoint = .socket(path)
      options.token = nil
      options.hosts = nil
      let (starts, start) = AsyncStream<Void>.makeStream()
      let server = DownloadServer(store: store, options: options)
      let task = Task { try await server.run { _ in start.yield() } }
      for await _ in starts { break }
      let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(permissions as? Int == 0o600)
      await #expect(throws: ServerStartError.self) {
        try await DownloadServer(store: store, options: options).run()
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let names = try folder.names().filter { $0.hasPrefix("s") }
      #expect(names == ["store"])
    }
  }
#endif
