#if Server
  internal import NIOCore
  internal import NIOHTTP1
  internal import SystemInterface

  /// Closes the connections of clients that are too slow.
  ///
  /// A client that takes no bytes has some time to begin again. A client to which nothing was sent for
  /// long has not completed its request: of a stream of events, the signs of life count. Adds
  /// ``RequestRules`` to the connection, which Hummingbird has no place for.
  final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = Any
    typealias InboundOut = Any
    typealias OutboundIn = Any
    typealias OutboundOut = Any

    private let stallTime: TimeAmount
    private let silentTime: TimeAmount
    private let rules: RequestRules
    private var stalled: Scheduled<Void>?
    private var silent: Scheduled<Void>?
    private var lastWrite = NIODeadline.now()

    init(_ limits: ServerLimits, _ limit: ConnectionLimit) {
      stallTime = TimeAmount(limits.stallTime)
      silentTime = TimeAmount(limits.bodyTime)
      rules = RequestRules(limit: limit, longestBody: limits.bodyBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      lastWrite = .now()
      #if os(Linux)
        // A peer that has gone without a word does not answer packets.
        if context.channel.remoteAddress?.protocol != .unix {
          let option = ChannelOptions.Types.SocketOption(
            level: .tcp,
            name: .init(rawValue: TCP_USER_TIMEOUT)
          )
          let milliseconds = Int(stallTime.nanoseconds / 1_000_000)
          _ = context.channel.setOption(option, value: milliseconds)
        }
      #endif
      do {
        let pipeline = context.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(rules, position: .after(parser))
      } catch {
        context.close(promise: nil)
      }
      watch(context, after: silentTime)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
      end()
      context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      lastWrite = .now()
      context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      stalled?.cancel()
      stalled = nil
      if !context.channel.isWritable {
        stalled = context.eventLoop.assumeIsolated().scheduleTask(in: stallTime) {
          context.close(promise: nil)
        }
      }
      context.fireChannelWritabilityChanged()
    }

    private func watch(_ context: ChannelHandlerContext, after time: TimeAmount) {
      silent = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
        let left = self.lastWrite + self.silentTime - .now()
        guard left > .nanoseconds(0) else { return context.close(promise: nil) }
        self.watch(context, after: left)
      }
    }

    private func end() {
      stalled?.cancel()
      silent?.cancel()
      stalled = nil
      silent = nil
    }
  }
#endif
