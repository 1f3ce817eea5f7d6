/// An HTTP/1.1 server on 127.0.0.1 that misbehaves on demand.
///
/// It speaks to raw sockets, a thread a connection, because no HTTP library can reset a connection or
/// close it inside a header. It stops when it is released.
public final class FaultServer: Sendable {
  /// Something that happened, told as it happens.
  public enum Event: Sendable {
    /// A request has arrived and will be answered with `status`, or with something that is not a
    /// reply if that is zero.
    case received(Request, status: Int)
    /// The reply to a request has ended, well or not.
    case delivered(Delivery)
  }

  private let state: ServerState

  /// The port that the server listens on.
  public let port: UInt16

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - port: The port; zero for any free one.
  ///   - onEvent: Hears each event on the thread of its connection, in order for one connection.
  /// - Throws: ``SocketError`` if the port is taken.
  public init(port: UInt16 = 0, onEvent: @escaping @Sendable (Event) -> Void = { _ in }) throws {
    let listener = try Socket.listening(port: port)
    self.port = listener.port
    let state = ServerState(listener: listener, onEvent: onEvent)
    self.state = state
    state.startThread { state.acceptClients() }
  }

  deinit {
    stop()
  }

  /// The absolute URL of a path.
  public func url(_ path: String) -> String {
    "http://127.0.0.1:\(port)\(path)"
  }

  /// Puts a resource at a path, with its faults from the first one on; at `*` for every path that
  /// has none.
  public func route(_ path: String, _ resource: Resource) {
    state.route(path, resource)
  }

  /// The requests so far, in the order of arrival.
  public var requests: [Request] { state.requests }

  /// What was sent so far, in the order in which the replies ended.
  public var deliveries: [Delivery] { state.deliveries }

  /// How many connections are open at this moment, idle ones too.
  public var openConnectionCount: Int { state.openConnectionCount }

  /// Ends all connections and all threads; returns when the last one has ended.
  ///
  /// Do not call it from `onEvent`.
  public func stop() {
    state.stop()
  }
}
