#if Server
  internal import Hummingbird
  internal import NIOCore
  internal import NIOPosix
  internal import ServiceLifecycle
  internal import SystemInterface

  /// The socket on which a server accepts connections.
  ///
  /// NIO ends the process when a connection is dropped that nobody has used. Hummingbird drops those that
  /// arrive while it is cancelled, and NIO those that are being set up when the socket is closed. So no
  /// further connection is accepted first, then those that have arrived are set up, and then the server is
  /// shut down, which uses each of them.
  final class Listener: Sendable {
    /// How long requests may take when the server ends; then they are cancelled.
    private static let grace = Duration.seconds(2)

    private struct State {
      var channel: (any Channel)?
      var isClosed = false
    }

    // Held for an access; set by the server and read by the task that ends it.
    private let state = Mutex(State())

    /// Notes the open socket.
    ///
    /// - Parameters:
    ///   - channel: The socket.
    ///   - limit: Makes room when the process has no descriptor left.
    func open(_ channel: any Channel, _ limit: ConnectionLimit) {
      channel.eventLoop.execute {
        // First, so that NIO's handler, which waits longer, does not see the error.
        try? channel.pipeline.syncOperations.addHandler(
          AcceptFailures(limit: limit) { !self.state.withLock(\.isClosed) },
          position: .first
        )
      }
      let isClosed = state.withLock { state in
        state.channel = channel
        return state.isClosed
      }
      if isClosed { channel.close(promise: nil) }
    }

    /// Runs a server until the task is cancelled, and the requests of that moment to their ends.
    ///
    /// - Parameter application: The server, which accepts connections by this socket.
    /// - Throws: The error of the server.
    func run(_ application: some ApplicationProtocol) async throws {
      var configuration = ServiceGroupConfiguration(
        services: [application],
        logger: application.logger
      )
      configuration.maximumGracefulShutdownDuration = Self.grace
      let services = ServiceGroup(configuration: configuration)
      let serving = Task { try await services.run() }
      try await withTaskCancellationHandler {
        try await serving.value
      } onCancel: {
        let channel = state.withLock { state in
          state.isClosed = true
          return state.channel
        }
        guard let channel else { return serving.cancel() }
        Task {
          try? await Self.stopAccepting(channel, application.eventLoopGroup)
          await services.triggerGracefulShutdown()
        }
      }
    }

    /// Accepts no further connection, and waits until those that have arrived are set up.
    private static func stopAccepting(
      _ channel: any Channel,
      _ loops: any EventLoopGroup
    ) async throws {
      try await channel.setOption(.autoRead, value: false).get()
      // A connection passes from the loop of the socket to one of its own and back, twice: once when it is
      // registered, and once when its handlers are added.
      for _ in 0..<2 {
        for loop in loops.makeIterator() { try await loop.submit {}.get() }
        try await channel.eventLoop.submit {}.get()
      }
    }
  }

  /// Waits after a connection could not be accepted because descriptors or memory are lacking.
  ///
  /// NIO tries again at once: the connection stays, so the socket is ready.
  private final class AcceptFailures: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let limit: ConnectionLimit
    private let isOpen: @Sendable () -> Bool

    init(limit: ConnectionLimit, isOpen: @escaping @Sendable () -> Bool) {
      self.limit = limit
      self.isOpen = isOpen
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      guard let error = error as? IOError,
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
      else { return context.fireErrorCaught(error) }
      limit.makeRoom(isExhausted: true)
      let channel = context.channel
      channel.setOption(.autoRead, value: false).whenSuccess { [isOpen] in
        channel.eventLoop.scheduleTask(in: Self.pause) {
          // A server that ends accepts no more.
          if isOpen() { channel.setOption(.autoRead, value: true).whenComplete { _ in } }
        }
      }
    }
  }
#endif
