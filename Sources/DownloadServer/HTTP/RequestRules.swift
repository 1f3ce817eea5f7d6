#if Server
  internal import NIOCore
  internal import NIOHTTP1

  /// The rules of HTTP/1 (RFC 9112) that Hummingbird leaves out, and what a connection is busy with.
  ///
  /// Stands between the parser of NIO and Hummingbird, which does not see the version of a request.
  final class RequestRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Sent down the pipeline once the body of a request is wanted.
    struct BodyWanted: Sendable {}

    /// A request without a complete answer.
    private struct Pending {
      let version: HTTPVersion
      var isBefore11: Bool { version.major == 0 || version == .http1_0 }
      /// Whether the answer has no body, whatever its header says.
      let isHead: Bool
      /// Whether the client wants to use the connection again.
      let isKept: Bool
      /// Whether only the end of the connection says where the answer ends.
      var endsConnection = false
    }

    private let limit: ConnectionLimit
    private let longestBody: Int
    /// The requests without a complete answer, in their order.
    private var pending: [Pending] = []
    /// The answers of which not all bytes have been taken.
    private var unsentCount = 0
    /// Whether the end of the last request has not arrived.
    private var isReceiving = false
    /// Whether the client waits before it sends the body of the last request.
    private var awaitsContinue = false
    private var isEnded = false

    init(limit: ConnectionLimit, longestBody: Int) {
      self.limit = limit
      self.longestBody = longestBody
    }

    func handlerAdded(context: ChannelHandlerContext) { note(context) }

    func handlerRemoved(context: ChannelHandlerContext) { end(context) }

    func channelInactive(context: ChannelHandlerContext) {
      end(context)
      context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext) {
      isEnded = true
      limit.forget(context.channel)
    }

    private func note(_ context: ChannelHandlerContext) {
      // Writes of a closed connection fail later.
      guard !isEnded else { return }
      limit.note(
        context.channel,
        isReceiving ? .receiving : pending.isEmpty && unsentCount == 0 ? .waiting : .answering
      )
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch Self.unwrapInboundIn(data) {
      case .head(var head):
        let isKept = head.isKeepAlive
        let request = Pending(
          version: head.version,
          isHead: head.method == .HEAD,
          isKept: isKept
        )
        pending.append(request)
        isReceiving = true
        awaitsContinue = !request.isBefore11 && isContinueExpected(by: head)
        // Hummingbird closes the connection for this word only.
        if !isKept { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        Self.splitTarget(of: &head)
        note(context)
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
      case .body:
        awaitsContinue = false
        context.fireChannelRead(data)
      case .end:
        awaitsContinue = false
        isReceiving = false
        note(context)
        context.fireChannelRead(data)
      }
    }

    /// Whether the client waits before it sends a body that is not too large.
    private func isContinueExpected(by head: HTTPRequestHead) -> Bool {
      let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
      return length <= longestBody
        && head.headers[canonicalForm: "Expect"].contains { $0.lowercased() == "100-continue" }
    }

    /// Takes the host out of a target that is a URL: it counts instead of `Host` (RFC 9112, 3.2.2).
    ///
    /// Any other target that is not a path becomes one that the rules of access refuse.
    static func splitTarget(of head: inout HTTPRequestHead) {
      guard !head.uri.hasPrefix("/") else { return }
      let start = head.uri.lowercased()
      let scheme = ["http://", "https://"].first { start.hasPrefix($0) } ?? ""
      let rest = head.uri.dropFirst(scheme.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      guard !scheme.isEmpty, !authority.isEmpty else {
        head.uri = "*"
        return
      }
      let target = rest[authority.endIndex...]
      head.headers.replaceOrAdd(name: "Host", value: String(authority))
      head.uri = target.hasPrefix("/") ? String(target) : "/\(target)"
    }

    // MARK: Answers

    func triggerUserOutboundEvent(
      context: ChannelHandlerContext,
      event: Any,
      promise: EventLoopPromise<Void>?
    ) {
      guard event is BodyWanted else {
        context.triggerUserOutboundEvent(event, promise: promise)
        return
      }
      guard awaitsContinue else {
        promise?.succeed()
        return
      }
      awaitsContinue = false
      let head = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: promise)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard !pending.isEmpty else { return context.write(data, promise: promise) }
      switch Self.unwrapOutboundIn(data) {
      case .head(var head):
        let request = pending[0]
        if request.isBefore11 {
          head.version = request.version
          // There are no chunks.
          pending[0].endsConnection =
            !request.isHead && !head.headers.contains(name: "Content-Length")
        }
        if !request.isKept || pending[0].endsConnection {
          head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if request.isBefore11 {
          head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
      case .body: context.write(data, promise: promise)
      case .end:
        let request = pending.removeFirst()
        unsentCount += 1
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenComplete { _ in
          self.unsentCount -= 1
          self.note(context)
        }
        // NIO does not know the method: without a length, it would send the last chunk of a body.
        let nothing = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer()))
        context.write(request.isHead ? Self.wrapOutboundOut(nothing) : data, promise: sent)
        // Hummingbird closes any other connection that is not kept.
        guard request.isKept, request.endsConnection else { return }
        context.flush()
        context.close(mode: .output, promise: nil)
      }
    }
  }
#endif
