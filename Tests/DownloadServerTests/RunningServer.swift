#if Server
  import DownloadStore
  import Foundation
  import NIOCore
  import NIOPosix
  import TestSupport
  import Testing

  @testable import DownloadServer

  /// A server on a free port of 127.0.0.1, with a store of its own.
  final class RunningServer: Sendable {
    let store: RecordStore
    let port: Int
    let token: AccessToken
    private let folder: TemporaryFolder
    private let task: Task<Void, any Error>

    private init(
      _ folder: TemporaryFolder,
      _ store: RecordStore,
      _ token: AccessToken,
      _ port: Int,
      _ task: Task<Void, any Error>
    ) {
      self.folder = folder
      self.store = store
      self.token = token
      self.port = port
      self.task = task
    }

    /// Runs a body beside a server, and ends the server.
    static func with<R: Sendable>(
      _ change: (inout ServerOptions) -> Void = { _ in },
      _ body: @Sendable (RunningServer) async throws -> R
    ) async throws -> R {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      var options = ServerOptions()
      options.endpoint = .address("127.0.0.1", port: 0)
      // A client in a test may do nothing for a while because the machine is busy.
      options.limits.idleTime = .seconds(86_400)
      options.limits.bodyTime = .seconds(86_400)
      options.limits.stallTime = .seconds(86_400)
      change(&options)
      let (starts, start) = AsyncStream<Int>.makeStream()
      let server = DownloadServer(store: store, options: options)
      let task = Task {
        defer { start.finish() }
        try await server.run { address in start.yield(address.port ?? 0) }
      }
      var port: Int?
      for await number in starts {
        port = number
        break
      }
      guard let port else {
        try await task.value
        throw CancellationError()
      }
      let token = options.token ?? AccessToken()
      let running = RunningServer(folder, store, token, port, task)
      let result: Result<R, any Error>
      do {
        result = .success(try await body(running))
      } catch {
        result = .failure(error)
      }
      task.cancel()
      _ = await task.result
      return try result.get()
    }

    /// Sends a request with the token, and returns the answer.
    func send(
      _ method: String,
      _ path: String,
      _ body: String? = nil,
      headers: [String] = []
    ) async throws -> Answer {
      var lines = [
        "\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close",
        "Authorization: Bearer \(token.text)",
      ]
      if let body {
        lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
      }
      let head = (lines + headers).joined(separator: "\r\n") + "\r\n\r\n"
      return try await exchange(head + (body ?? ""))
    }

    /// Sends bytes, and returns what arrives until the server closes the connection.
    func exchange(_ text: String) async throws -> Answer {
      try await RawConnection.with(port: port) { connection in
        try await connection.write(text)
        return Answer(try await connection.readToEnd())
      }
    }
  }

  /// An answer, split into its parts.
  struct Answer: Sendable {
    let text: String
    /// The status; 0 without an answer.
    var status: Int { Int(text.dropFirst(9).prefix(3)) ?? 0 }
    var body: String {
      text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    init(_ bytes: [UInt8]) { text = String(decoding: bytes, as: UTF8.self) }

    /// Sends a request to a server that closes idle connections, and returns the answer.
    ///
    /// The connection of a test that rests before it writes is one of them: it is sent again, but only
    /// if it took so long.
    static func ofServer(
      closingAfter idleTime: Duration,
      _ send: () async throws -> Answer
    ) async throws -> Answer {
      while true {
        let began = ContinuousClock.now
        let answer = try await send()
        guard answer.text.isEmpty, began.duration(to: .now) >= idleTime else { return answer }
      }
    }

    /// The value of a header field, with a name in any case; `nil` without one.
    func field(_ name: String) -> String? {
      text.split(separator: "\r\n").dropFirst().first {
        $0.lowercased().hasPrefix("\(name.lowercased()):")
      }
      .map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
    }

    /// The body as a JSON object.
    var object: [String: Any] {
      get throws {
        try #require(
          try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any],
          "\(text)"
        )
      }
    }
  }

  /// A connection whose bytes a test writes and reads itself.
  struct RawConnection {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    static func with<R: Sendable>(
      port: Int,
      _ body: (inout RawConnection) async throws -> R
    ) async throws -> R {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port) { Self.wrap($0) }
      return try await with(channel, body)
    }

    static func with<R: Sendable>(
      socket: String,
      _ body: (inout RawConnection) async throws -> R
    ) async throws -> R {
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: socket) { Self.wrap($0) }
      return try await with(channel, body)
    }

    private typealias Bytes = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private static func wrap(_ channel: any Channel) -> EventLoopFuture<Bytes> {
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel(wrappingChannelSynchronously: channel)
      }
    }

    private static func with<R: Sendable>(
      _ channel: Bytes,
      _ body: (inout RawConnection) async throws -> R
    ) async throws -> R {
      try await channel.executeThenClose { inbound, outbound in
        var connection = RawConnection(
          outbound: outbound,
          inbound: inbound.makeAsyncIterator()
        )
        return try await body(&connection)
      }
    }

    /// Sends bytes; if the server has closed the connection, the next read says so.
    func write(_ text: String) async throws {
      do {
        try await outbound.write(ByteBuffer(string: text))
      } catch ChannelError.ioOnClosedChannel {
      } catch is IOError {}
    }

    /// Returns the next bytes; `nil` when the server has closed the connection.
    mutating func read() async throws -> [UInt8]? {
      do {
        return try await inbound.next(isolation: #isolation).map { Array($0.readableBytesView) }
      } catch is IOError {
        // A reset is an end, too.
        return nil
      }
    }

    mutating func readToEnd() async throws -> [UInt8] {
      var bytes: [UInt8] = []
      while let part = try await read() { bytes += part }
      return bytes
    }

    /// Reads until a text has arrived, and returns everything that has.
    mutating func read(until text: String) async throws -> String {
      var bytes: [UInt8] = []
      while let part = try await read() {
        bytes += part
        let all = String(decoding: bytes, as: UTF8.self)
        if all.contains(text) { return all }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
