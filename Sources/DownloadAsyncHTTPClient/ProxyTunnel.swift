#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import NIOCore

  /// Asks an HTTP proxy for a connection to a server (RFC 9110, 9.3.6), and then passes bytes on.
  final class ProxyTunnel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let longestAnswer = 16 << 10

    private let request: String
    /// Adds the handlers that use the connection.
    private let open: (ProxyTunnel, any Channel) throws -> Void
    private var answer = ""
    private var isOpen = false

    /// Creates the handler.
    ///
    /// - Parameters:
    ///   - url: A URL of the server.
    ///   - proxy: The proxy.
    ///   - open: Called once, on the event loop, when the proxy has opened the connection.
    init(
      to url: RequestURL,
      through proxy: ProxyServer,
      open: @escaping (ProxyTunnel, any Channel) throws -> Void
    ) {
      let server = "\(url.host):\(url.port ?? url.scheme.defaultPort)"
      var lines = ["CONNECT \(server) HTTP/1.1", "Host: \(server)"]
      if proxy.user != nil || proxy.password != nil {
        let login = HeaderField.basic(user: proxy.user, password: proxy.password)
        lines.append("Proxy-Authorization: \(login)")
      }
      request = lines.joined(separator: "\r\n") + "\r\n\r\n"
      self.open = open
    }

    func channelActive(context: ChannelHandlerContext) {
      let bytes = context.channel.allocator.buffer(string: request)
      context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
      context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isOpen else { return context.fireChannelRead(data) }
      // The server is silent until the client has begun the handshake.
      answer += String(buffer: unwrapInboundIn(data))
      guard answer.utf8.count <= Self.longestAnswer else { return context.close(promise: nil) }
      guard answer.hasSuffix("\r\n\r\n") else { return }
      isOpen = answer.prefixMatch(of: /HTTP\/1\.[01] 2[0-9][0-9]/) != nil
      do {
        guard isOpen else { return context.close(promise: nil) }
        try open(self, context.channel)
      } catch {
        context.close(promise: nil)
      }
    }
  }
#endif
