#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOHPACK
  internal import NIOHTTP1
  internal import NIOHTTP2

  /// A channel handler that rejects responses of HTTP/1 with a status below 100.
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
  }

  /// A channel handler that rejects responses of HTTP/2 whose `:status` is not three digits from 100
  /// on (RFC 9113, 8.3.2).
  ///
  /// NIOHTTP2 1.46 reads the status as an integer: a negative one ends the process, and so does an
  /// empty one.
  final class HTTP2StatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !hasFailed else { return }
      if case .headers(let block) = unwrapInboundIn(data),
        !block.headers[":status"].allSatisfy(Self.isValid)
      {
        hasFailed = true
        context.fireErrorCaught(HTTPParserError.invalidStatus)
        return context.close(promise: nil)
      }
      context.fireChannelRead(data)
    }

    private static func isValid(_ status: String) -> Bool {
      status.utf8.count == 3 && status.utf8.first != UInt8(ascii: "0")
        && status.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }
#endif
