#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOHTTP2

  /// The settings of an HTTP/1 connection.
  enum Connection {
    /// The largest number of bytes that one call reads from a socket.
    ///
    /// The connection is read again when the sink has taken the bytes of up to four calls, so each
    /// transfer holds at most about 2 MiB. With NIO's 64 KiB, one GiB takes four times as many
    /// writes and changes between threads (decision 0043).
    static let longestRead = 256 << 10

    /// Enlarges the buffer for reads from the socket, and adds ``StatusCheck``, ``ConnectionReuse``,
    /// ``RequestTargetHandler`` and ``LocationEscaper``.
    ///
    /// The buffer begins small, and doubles when a call fills it.
    static func prepare(_ channel: any Channel, checksHosts: Bool) -> EventLoopFuture<Void> {
      let buffer = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10,
        initial: 16 << 10,
        maximum: longestRead
      )
      return channel.setOption(.recvAllocator, value: buffer).flatMap {
        channel.eventLoop.submit {
          let pipeline = channel.pipeline.syncOperations
          let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
          let target = RequestTargetHandler(checksHosts: checksHosts)
          try pipeline.addHandler(target, position: .after(decoder))
          try pipeline.addHandler(ConnectionReuse(), position: .after(decoder))
          try pipeline.addHandler(StatusCheck(), position: .after(decoder))
          try pipeline.addHandler(LocationEscaper(), position: .before(decoder))
        }
      }
    }

    /// Adds ``RequestTargetHandler`` behind the codec of an HTTP/2 stream, and ``HTTP2StatusCheck`` and
    /// ``StreamEnd`` before it.
    ///
    /// The client calls this on the event loop, and writes the request when the future is complete. It is
    /// complete on return: the handlers of the client do not survive the end of a connection before that.
    static func prepare(
      stream channel: any Channel,
      checksHosts: Bool
    ) -> EventLoopFuture<Void> {
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
        let target = RequestTargetHandler(checksHosts: checksHosts)
        try pipeline.addHandler(target, position: .after(codec))
        try pipeline.addHandler(HTTP2StatusCheck(), position: .before(codec))
        try pipeline.addHandler(StreamEnd(), position: .before(codec))
      }
    }
  }
#endif
