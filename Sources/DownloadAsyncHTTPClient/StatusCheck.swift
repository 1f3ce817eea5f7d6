#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2

  /// A channel handler that rejects responses with a status below 100.
  ///
  /// AsyncHTTPClient 1.37 takes them for interim responses and crashes on their bodies.
  final class StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !hasFailed else { return }
      if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
        hasFailed = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        return context.close(promise: nil)
      }
      context.fireChannelRead(data)
    }

    /// Adds the check behind the HTTP/1 response decoder.
    @Sendable
    static func add(toConnection channel: any Channel) -> EventLoopFuture<Void> {
      add(to: channel, behind: ByteToMessageHandler<HTTPResponseDecoder>.self)
    }

    /// Adds the check behind the HTTP/2 stream codec.
    @Sendable
    static func add(toStream channel: any Channel) -> EventLoopFuture<Void> {
      add(to: channel, behind: HTTP2FramePayloadToHTTP1ClientCodec.self)
    }

    private static func add<Decoder: ChannelHandler & SendableMetatype>(
      to channel: any Channel,
      behind decoder: Decoder.Type
    ) -> EventLoopFuture<Void> {
      channel.eventLoop.submit {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: Decoder.self)
        try pipeline.addHandler(StatusCheck(), position: .after(decoder))
      }
    }
  }
#endif
