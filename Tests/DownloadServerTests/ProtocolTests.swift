#if Server
  import DownloadStore
  import Foundation
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// Rules of HTTP/1.1 that clients other than browsers rely on (RFC 9110 and 9112).
  @Suite(.timeLimit(.minutes(10)))
  struct ProtocolTests {
    private static func post(_ server: RunningServer, _ fields: String...) -> String {
      let lines =
        [
          "POST /api/v1/downloads HTTP/1.1", "Host: localhost",
          "Authorization: Bearer \(server.token.text)", "Content-Type: application/json",
        ] + fields
      return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    private static func with(_ body: @Sendable (RunningServer) async throws -> Void) async throws {
      try await RunningServer.with { options in
        options.allowsChanges = true
        options.limits.bodyBytes = 1000
        options.limits.idleTime = .seconds(3600)
      } _: { server in
        try await body(server)
      }
    }

    private static let body = #"{"requests":[{"url":"http://h.example/a"}]}"#

    @Test func `a client that waits for permission to send its body gets it`() async throws {
      try await Self.with { server in
        try await RawConnection.with(port: server.port) { connection in
          let length = "Content-Length: \(Self.body.utf8.count)"
          try await connection.write(
            Self.post(server, "Expect: 100-Continue", length, "Connection: close")
          )
          let first = try await connection.read(until: "\r\n\r\n")
          #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
          try await connection.write(Self.body)
          #expect(Answer(try await connection.readToEnd()).status == 201)
        }
      }
    }

    @Test(arguments: [
      ["Expect: 100-continue", "Content-Length: 5000"],
      ["Expect: 100-continue", "Content-Length: 2", "Sec-Fetch-Site: cross-site"],
    ])
    func `a client whose request is refused need not send its body`(fields: [String]) async throws {
      try await Self.with { server in
        try await RawConnection.with(port: server.port) { connection in
          let lines = fields + ["Connection: close"]
          try await connection.write(Self.post(server, lines.joined(separator: "\r\n")))
          let answer = Answer(try await connection.readToEnd())
          #expect([403, 413].contains(answer.status), "\(answer.text)")
        }
      }
    }

    @Test(arguments: [
      "HTTP/1.0\r\n", "HTTP/1.1\r\nConnection: Close\r\n", "HTTP/1.1\r\nConnection: TE, close\r\n",
    ])
    func `the connection ends after the answer to a client that expects it`(
      version: String
    ) async throws {
      try await Self.with { server in
        let answer = try await server.exchange(
          "GET /api/v1/stats \(version)Host: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n\r\n"
        )
        #expect(answer.status == 200)
      }
    }

    @Test(arguments: ["1.0", "1.1"])
    func `HEAD has the length of GET or none, and no body before the next answer`(
      version: String
    ) async throws {
      try await Self.with { server in
        func request(_ method: String, _ path: String) -> String {
          "\(method) \(path) HTTP/\(version)\r\nHost: localhost\r\nConnection: keep-alive\r\n"
            + "Authorization: Bearer \(server.token.text)\r\n\r\n"
        }
        let streamed = [
          "/", "/tags", "/store", "/store/DownloadRecord",
          "/store/DownloadRecord/export?format=csv", "/events",
        ]
        let whole = [
          "/api/v1/openapi.json", PageAssets.script.path, "/store/none", "/none",
        ]
        for path in streamed + whole {
          let answers = try await RawConnection.with(port: server.port) { connection in
            try await connection.write(request("HEAD", path))
            let head = try await connection.read(until: "\r\n\r\n")
            try await connection.write(request("GET", "/api/v1/downloads"))
            return head + (try await connection.read(until: "}\n"))
          }
          let head = Answer(Array(answers.utf8))
          #expect(head.body.hasPrefix("HTTP/\(version) 200 OK\r\n"), "\(path): \(answers)")
          let length = answers.prefix(answers.count - head.body.count).lowercased()
            .contains("content-length:")
          #expect(length == whole.contains(path), "\(path): \(answers)")
        }
      }
    }

    @Test func `a client of HTTP 1.0 may keep the connection, and gets no chunks`() async throws {
      try await Self.with { server in
        let fields =
          "Host: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n"
        try await RawConnection.with(port: server.port) { connection in
          for _ in 0..<2 {
            try await connection.write(
              "GET /api/v1/stats HTTP/1.0\r\nConnection: keep-alive\r\n\(fields)\r\n"
            )
            let text = try await connection.read(until: "}\n")
            #expect(text.lowercased().contains("connection: keep-alive"), "\(text)")
          }
          try await connection.write("GET /events HTTP/1.0\r\n\(fields)\r\n")
          let text = try await connection.read(until: "event: ")
          #expect(!text.lowercased().contains("chunked"), "\(text)")
        }
      }
    }

    @Test(arguments: [
      "zz\r\n{}\r\n", "2\r\n{}0\r\n\r\n", "-1\r\n{}\r\n", "fffffffffffffffffff\r\n{",
    ])
    func `a malformed chunk is the client's fault`(chunks: String) async throws {
      try await Self.with { server in
        let head = Self.post(server, "Transfer-Encoding: chunked", "Connection: close")
        let answer = try await server.exchange(head + chunks)
        #expect(answer.status == 400, "\(answer.text)")
      }
    }

    @Test(arguments: [
      "Content-Length: 0\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 0", "Content-Length: 0\r\nContent-Length: 9",
      "Content-Length: +0", "Transfer-Encoding: gzip",
    ])
    func `a request whose end is ambiguous is refused with all that follows`(
      fields: String
    ) async throws {
      try await Self.with { server in
        let length = "Content-Length: \(Self.body.utf8.count)"
        let answer = try await server.exchange(
          Self.post(server, fields, "Connection: close") + "0\r\n\r\n"
            + Self.post(server, length, "Connection: close") + Self.body
        )
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.text.split(separator: "HTTP/1.1 ").count == 1, "\(answer.text)")
        let records = try server.store.records()
        #expect(records.isEmpty)
      }
    }

    @Test func `a range of a page is the whole page`() async throws {
      try await Self.with { server in
        let export = "/store/DownloadRecord/export?format=csv"
        for path in ["/", "/tags", PageAssets.script.path, export] {
          let answer = try await server.send("GET", path, headers: ["Range: bytes=0-1"])
          #expect(answer.status == 200 && answer.field("Content-Range") == nil)
          #expect(answer.body.utf8.count > 100)
        }
      }
    }

    @Test(arguments: [
      ("http://localhost/api/v1/stats", "localhost", 200),
      ("HTTP://127.0.0.1:80/api/v1/stats", "evil.example", 200),
      ("http://evil.example/api/v1/stats", "localhost", 403),
      ("http://user@localhost/api/v1/stats", "localhost", 403),
      ("http:///api/v1/stats", "localhost", 400),
      ("ftp://localhost/api/v1/stats", "localhost", 400),
      ("localhost/api/v1/stats", "localhost", 400), ("*", "localhost", 400),
      ("http://localhost?text=x", "localhost", 303),
    ])
    func `a target with a host is answered if the host is this one`(
      target: String,
      host: String,
      status: Int
    ) async throws {
      try await Self.with { server in
        let answer = try await server.exchange(
          "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
            + "Authorization: Bearer \(server.token.text)\r\n\r\n"
        )
        #expect(answer.status == status || status == 303 && answer.status < 400, "\(answer.text)")
      }
    }
  }
#endif
