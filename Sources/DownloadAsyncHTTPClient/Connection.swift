#if AsyncHTTPClient
  internal import NIOCore

  /// The settings of an HTTP/1 connection.
  enum Connection {
    /// The largest number of bytes that one call reads from a socket.
    ///
    /// The connection is read again when the sink has taken the bytes of up to four calls, so each
    /// transfer holds at most about 2 MiB. With NIO's 64 KiB, one GiB takes four times as many
    /// writes and changes between threads (decision 0043).
    static let longestRead = 256 << 10

    /// Enlarges the buffer for reads from the socket, and adds ``StatusCheck``.
    ///
    /// The buffer begins small, and doubles when a call fills it.
    @Sendable
    static func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
      let buffer = AdaptiveRecvByteBufferAllocator(
        minimum: 1 << 10,
        initial: 16 << 10,
        maximum: longestRead
      )
      return channel.setOption(.recvAllocator, value: buffer).flatMap {
        StatusCheck.add(toConnection: channel)
      }
    }
  }
#endif
