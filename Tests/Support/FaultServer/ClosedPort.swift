/// A port of 127.0.0.1 that refuses connections.
///
/// The port of a stopped server is free: the next server, perhaps of another test, may get it. This
/// port belongs to no server until the value is gone.
public final class ClosedPort: Sendable {
  /// The port's number.
  public let port: UInt16
  private let socket: Socket

  /// Reserves a port.
  ///
  /// - Throws: `SocketError`.
  public init() throws {
    socket = try .bound(port: 0)
    port = socket.port
  }

  deinit {
    socket.close()
  }

  /// Returns the absolute URL of a path.
  public func url(_ path: String) -> String {
    "http://127.0.0.1:\(port)\(path)"
  }
}
