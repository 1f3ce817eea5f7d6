#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import NIOCore
  import NIOPosix
  import TestSupport
  import Testing

  /// SOCKS proxies that open no connection to the server.
  @Suite(.timeLimit(.minutes(10)))
  struct SOCKSProxyTests {
    @Test(
      arguments: [
        // The host is unreachable.
        [[5, 0], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0]],
        // No method is acceptable: the proxy requires a login.
        [[5, 0xFF]],
        // The connection closes.
        [], [[5, 0]],
        // A proxy of another kind.
        [Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)],
      ] as [[[UInt8]]],
      ["http", "https"]
    )
    func `a SOCKS proxy that opens no connection is named, and the attempt may be repeated`(
      _ answers: [[UInt8]],
      _ scheme: String
    ) async throws {
      let proxy = try SOCKSStub(answers)
      var connection = ConnectionSettings()
      connection.proxies.http = try ProxyServer("socks5://127.0.0.1:\(proxy.port)")
      connection.proxies.https = connection.proxies.http
      let transport = try AsyncHTTPClientTransport(idleTimeout: hangLimit, connection: connection)
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: "\(scheme)://192.0.2.1/x", recordID: "r"), sink: sink)
      #expect(
        await sink.outcome()
          == .failed(
            DownloadFailure(
              .cannotConnect,
              "the proxy 127.0.0.1 port \(proxy.port) did not open a connection to the server",
              detail: .proxy
            )
          )
      )
      withExtendedLifetime(proxy) {}
    }
  }

  /// A server that answers each read of a connection with the next bytes, and closes it after the last.
  private final class SOCKSStub: Sendable {
    private let channel: any Channel
    let port: Int

    init(_ answers: [[UInt8]]) throws {
      channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AnswerHandler(answers))
          }
        }
        .bind(host: "127.0.0.1", port: 0).wait()
      port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
  }

  private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var answers: [[UInt8]]

    init(_ answers: [[UInt8]]) { self.answers = answers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !answers.isEmpty else { return context.close(promise: nil) }
      let buffer = context.channel.allocator.buffer(bytes: answers.removeFirst())
      context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
  }
#endif
