#if Server
  internal import NIOCore
  internal import SystemInterface

  /// The socket on which a server accepts connections.
  ///
  /// Hummingbird drops a connection that is accepted after its task was cancelled, and NIO ends the process
  /// when a connection is dropped that nobody has used. So the socket is closed before the server is
  /// cancelled: then no connection arrives any more, and those that have arrived are used.
  final class Listener: Sendable {
    /// How long the server takes up the connections that have arrived.
    private static let grace = TimeAmount.milliseconds(200)

    private struct State {
      var channel: (any Channel)?
      var isClosed = false
    }

    // Held for an access; set by the server and read by the task that cancels it.
    private let state = Mutex(State())

    /// Notes the open socket.
    func open(_ channel: any Channel) {
      let isClosed = state.withLock { state in
        state.channel = channel
        return state.isClosed
      }
      if isClosed { channel.close(promise: nil) }
    }

    /// Runs a server, and closes the socket first if the task is cancelled.
    ///
    /// - Parameter serve: Runs the server until it is cancelled.
    /// - Throws: The error of `serve`.
    func run(_ serve: @escaping @Sendable () async throws -> Void) async throws {
      let serving = Task { try await serve() }
      try await withTaskCancellationHandler {
        try await serving.value
      } onCancel: {
        let channel = state.withLock { state in
          state.isClosed = true
          return state.channel
        }
        guard let channel else { return serving.cancel() }
        // Connections that are being set up when the socket is closed would be dropped, too.
        channel.setOption(.autoRead, value: false).whenComplete { _ in
          channel.eventLoop.scheduleTask(in: Self.grace) {
            channel.close().whenComplete { _ in
              channel.eventLoop.scheduleTask(in: Self.grace) { serving.cancel() }
            }
          }
        }
      }
    }
  }
#endif
