#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2

  /// Lets no response through whose status is below 100: AsyncHTTPClient 1.37 takes it for an interim
  /// one and then ends the process on its body.
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

    /// Puts a check behind what makes responses of the bytes of a connection.
    @Sendable
    static func add(toConnection channel: any Channel) -> EventLoopFuture<Void> {
      add(to: channel, behind: ByteToMessageHandler<HTTPResponseDecoder>.self)
    }

    /// Puts a check behind what makes a response of the frames of a stream of HTTP/2.
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
