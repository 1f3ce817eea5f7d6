/// An HTTP/1.1 server on 127.0.0.1 that injects faults.
///
/// It uses sockets directly, with a thread per connection, because no HTTP library can reset a
/// connection or close it inside a header. It stops when it is released.
public final class FaultServer: Sendable {
  /// An event of a server.
  public enum Event: Sendable {
    /// A request arrived and will be answered with `status`.
    ///
    /// The status is zero if the answer is not an HTTP reply.
    case received(Request, status: Int)
    /// The reply to a request ended, completely or not.
    case delivered(Delivery)
  }

  private let state: ServerState

  /// The port that the server listens on.
  public let port: UInt16

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - port: The port; zero for any free one.
  ///   - onEvent: Receives each event on the thread of its connection, in order per connection.
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

  /// Returns the absolute URL of a path.
  public func url(_ path: String) -> String {
    "http://127.0.0.1:\(port)\(path)"
  }

  /// Installs a resource at a path, starting with its first fault.
  ///
  /// The path `*` matches every path without a resource.
  public func route(_ path: String, _ resource: Resource) {
    state.route(path, resource)
  }

  /// The requests so far, in order of arrival.
  public var requests: [Request] { state.requests }

  /// The bodies sent so far, in the order in which the replies ended.
  public var deliveries: [Delivery] { state.deliveries }

  /// The number of connections so far.
  public var connectionCount: Int { state.connectionCount }

  /// The number of open connections, including idle ones.
  public var openConnectionCount: Int { state.openConnectionCount }

  /// Closes all connections, and returns when all threads have ended.
  ///
  /// Do not call it from `onEvent`.
  public func stop() {
    state.stop()
  }
}
