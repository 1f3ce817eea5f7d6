#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2
  internal import SystemInterface

  /// The end of a request to which the server sent nothing.
  ///
  /// Only GET and HEAD are sent, so any of them may be sent again (RFC 9110, 9.2.2). The causes differ in
  /// how often that can help.
  enum UnansweredRequest: Error, Hashable, CaseIterable {
    /// The server ends the connection and has not processed the request (GOAWAY: RFC 9113, 6.8), or the
    /// client has not sent it.
    case unprocessed
    /// The server has refused the stream (REFUSED_STREAM: RFC 9113, 8.7).
    case refused
    /// The server closed a connection that it had accepted an earlier request on, perhaps because it was
    /// idle (RFC 9112, 9.3.1).
    case reusedConnection
    /// The server closed a connection instead of answering its first request.
    case newConnection

    /// How often a request is sent again for this cause.
    ///
    /// A server that accepts one request per connection ends a connection for each of the other requests in
    /// flight. 100 is twice that of 50 requests. A server that never answers is asked that often, too, but
    /// not for longer than the time without data permits.
    var repetitionLimit: Int {
      switch self {
      case .unprocessed: 100
      case .refused, .reusedConnection: 5
      case .newConnection: 0
      }
    }

    /// The cause in an error of a request before the head of its response; `nil` for any other error.
    ///
    /// - Parameter error: The error of a request that its task has not cancelled.
    init?(_ error: any Error) {
      switch error {
      case let error as Self: self = error
      // The connection was ending when the client was about to use it.
      case let error as HTTPClientError where error == .cancelled: self = .unprocessed
      case is NIOHTTP2Errors.CreatedStreamAfterGoaway, is NIOHTTP2Errors.IOOnClosedConnection:
        self = .unprocessed
      // The connection closed while it was in the pool.
      case ChannelError.ioOnClosedChannel: self = .reusedConnection
      // ``ConnectionReuse`` and ``StreamEnd`` replace these errors on other connections.
      case let error as HTTPClientError where error == .remoteConnectionClosed:
        self = .newConnection
      case let error as IOError where error.isClosedConnection: self = .newConnection
      case let error as NIOHTTP2Errors.StreamError: self.init(error.baseError)
      default: return nil
      }
    }
  }

  /// The number of times that a request may still be sent again.
  struct RepetitionBudget {
    private var spent: [UnansweredRequest: Int] = [:]

    /// Spends one repetition; returns whether one was left for the cause.
    mutating func spend(on cause: UnansweredRequest) -> Bool {
      guard spent[cause, default: 0] < cause.repetitionLimit else { return false }
      spent[cause, default: 0] += 1
      return true
    }
  }

  extension IOError {
    /// Whether the peer closed the connection.
    fileprivate var isClosedConnection: Bool { errnoCode == ECONNRESET || errnoCode == EPIPE }
  }

  /// A channel handler that tells an HTTP/1 connection that ended before an answer, and that had answered
  /// an earlier request, from a new one.
  ///
  /// AsyncHTTPClient reports both with the same error.
  final class ConnectionReuse: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private var requestCount = 0
    private var isWaiting = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if case .head = unwrapOutboundIn(data) {
        requestCount += 1
        isWaiting = true
      }
      context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      isWaiting = false
      context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
      if isWaiting, requestCount > 1 { context.fireErrorCaught(UnansweredRequest.reusedConnection) }
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      let isClosed = (error as? IOError)?.isClosedConnection == true
      guard isWaiting, requestCount > 1, isClosed else { return context.fireErrorCaught(error) }
      context.fireErrorCaught(UnansweredRequest.reusedConnection)
    }
  }

  /// A channel handler that finds out why an HTTP/2 stream ended before an answer.
  final class StreamEnd: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private var isAnswered = false
    private var isReset = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .headers, .data: isAnswered = true
      case .rstStream: isReset = true
      default: break
      }
      context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      guard !isAnswered, let closed = error as? NIOHTTP2Errors.StreamClosed else {
        return context.fireErrorCaught(error)
      }
      switch closed.errorCode {
      case .refusedStream: context.fireErrorCaught(UnansweredRequest.refused)
      // NIOHTTP2 ends the streams above the last one of a GOAWAY with this code, without a frame.
      case .cancel where !isReset: context.fireErrorCaught(UnansweredRequest.unprocessed)
      default: context.fireErrorCaught(error)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      // Without effect after another error.
      if !isAnswered { context.fireErrorCaught(Self.cause(of: context.channel)) }
      context.fireChannelInactive()
    }

    /// The reason for which a stream ends with its connection.
    private static func cause(of stream: any Channel) -> UnansweredRequest {
      // A stream has no number before its request is sent.
      let number = try? stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
      return switch number {
      case nil: .unprocessed
      case 1: .newConnection
      default: .reusedConnection
      }
    }
  }
#endif
