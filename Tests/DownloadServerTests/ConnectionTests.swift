#if Server
  import DownloadStore
  import Foundation
  import NIOCore
  import NIOPosix
  import SystemInterface
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// Clients that occupy connections, over real sockets.
  @Suite(.timeLimit(.minutes(10)))
  struct ConnectionTests {
    private static func head(_ server: RunningServer, _ fields: String = "") -> String {
      "GET /api/v1/stats HTTP/1.1\r\nHost: localhost\r\n\(fields)"
        + "Authorization: Bearer \(server.token.text)\r\n\r\n"
    }

    @Test func `a new connection takes the place of the one that has been idle for the longest`()
      async throws
    {
      try await RunningServer.with { options in
        options.limits.connections = 3
        options.limits.idleTime = .seconds(3600)
      } _: { server in
        let port = server.port
        try await RawConnection.with(port: port) { first in
          // Kept alive after an answer.
          try await first.write(Self.head(server))
          _ = try await first.read(until: "}\n")
          try await RawConnection.with(port: port) { second in
            // A head that never ends.
            try await second.write("GET / HT")
            try await RawConnection.with(port: port) { third in
              try await third.write(Self.head(server))
              _ = try await third.read(until: "}\n")
              try await RawConnection.with(port: port) { fourth in
                try await fourth.write(Self.head(server))
                _ = try await fourth.read(until: "}\n")
                _ = try await first.readToEnd()
              }
              try await third.write(Self.head(server))
              #expect(try await third.read(until: "}\n").hasPrefix("HTTP/1.1 200"))
            }
          }
        }
      }
    }

    @Test func `more connections than the limit that send nothing keep nobody out`() async throws {
      try await RunningServer.with { options in
        options.limits.connections = 4
        options.limits.idleTime = .seconds(3600)
        options.limits.bodyTime = .seconds(3600)
        options.allowsChanges = true
      } _: { server in
        let body =
          "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        let clients = try await (0..<12).asyncMap { number in
          try await Self.connect(server.port, number.isMultiple(of: 2) ? body : "")
        }
        let answer = try await server.send("GET", "/api/v1/stats")
        #expect(answer.status == 200)
        for client in clients { try? await client.close() }
      }
    }

    @Test func `a client that follows the events keeps its connection`() async throws {
      try await RunningServer.with { options in
        options.limits.connections = 2
        options.limits.idleTime = .seconds(3600)
      } _: { server in
        let events =
          "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(server.token.text)\r\n\r\n"
        try await RawConnection.with(port: server.port) { follower in
          try await follower.write(events)
          _ = try await follower.read(until: "event: ")
          for _ in 0..<6 {
            let client = try await Self.connect(server.port, "")
            let answer = try await server.send("GET", "/api/v1/stats")
            #expect(answer.status == 200)
            try? await client.close()
          }
          try await server.store.add([DownloadRequest(url: "http://h.example/a")])
          let text = try await follower.read(until: "a\"")
          #expect(text.contains("http://h.example/a"))
        }
      }
    }

    @Test func `idle connections to a socket make room, too`() async throws {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      var options = ServerOptions()
      options.endpoint = .socket(folder.path("s"))
      options.token = nil
      options.hosts = nil
      options.limits.connections = 2
      options.limits.idleTime = .seconds(3600)
      let (starts, start) = AsyncStream<Void>.makeStream()
      let server = DownloadServer(store: store, options: options)
      let task = Task { try await server.run { _ in start.yield() } }
      for await _ in starts { break }
      try await RawConnection.with(socket: folder.path("s")) { _ in
        try await RawConnection.with(socket: folder.path("s")) { _ in
          try await RawConnection.with(socket: folder.path("s")) { third in
            try await third.write("GET /api/v1/stats HTTP/1.1\r\nConnection: close\r\n\r\n")
            #expect(Answer(try await third.readToEnd()).status == 200)
          }
        }
      }
      task.cancel()
      _ = await task.result
    }

    #if os(Linux)
      @Test func `a server without free descriptors closes idle connections, and accepts again`()
        async throws
      {
        let folder = try TemporaryFolder()
        _ = try RecordStore(at: folder.path("store"))
        let limit = 80
        let process = try BuiltProcess(
          program: "dlstore",
          [],
          in: folder.path,
          shell: "ulimit -n \(limit); exec dlstore serve --json --port 0 --store store",
          environment: ["DLSTORE_CONFIG": ""]
        )
        try await process.wait { process.output.hasSuffix("\n") }
        let line = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
        let values = try #require(line as? [String: Any])
        let port = try #require(values["port"] as? Int)
        let token = try #require((values["url"] as? String)?.split(separator: "=").last)
        let used = try FileManager.default.contentsOfDirectory(
          atPath: "/proc/\(Self.worker(of: process.id))/fd"
        )
        // A few more than the descriptors that are left; the limit of connections is higher.
        let clients = try await (0..<limit - used.count + 4).asyncMap { _ in
          (began: ContinuousClock.now, channel: try await Self.connect(port, ""))
        }
        let answer = try await Answer.ofServer(closingAfter: ServerLimits().idleTime) {
          try await RawConnection.with(port: port) { connection in
            try await connection.write(
              "GET /api/v1/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Authorization: Bearer \(token)\r\n\r\n"
            )
            return Answer(try await connection.readToEnd())
          }
        }
        #expect(answer.status == 200, "\(process.messages)")
        // Room was made for this one; the others are closed only after their time-out, which on a busy
        // machine may have passed for the first ones.
        let deadline = ContinuousClock.now - ServerLimits().idleTime
        let early = clients.filter { $0.began > deadline && !$0.channel.isActive }
        #expect(early.count < clients.count / 2)
        for client in clients { try? await client.channel.close() }
      }

      /// The last process of a chain of children.
      private static func worker(of process: pid_t) -> pid_t {
        let path = "/proc/\(process)/task/\(process)/children"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: " ").first.flatMap { pid_t($0) }.map(worker) ?? process
      }
    #endif

    private static func connect(_ port: Int, _ text: String) async throws -> any Channel {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get()
      if !text.isEmpty { try await channel.writeAndFlush(ByteBuffer(string: text)) }
      return channel
    }
  }

  extension Range<Int> {
    fileprivate func asyncMap<R: Sendable>(_ body: (Int) async throws -> R) async throws -> [R] {
      var results: [R] = []
      for number in self { results.append(try await body(number)) }
      return results
    }
  }
#endif
