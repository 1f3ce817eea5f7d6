internal import SystemInterface

extension FaultServer {
  /// Waits until the server has recorded the requests of all clients that have ended.
  ///
  /// A thread of the server may be late, and record the request of a killed process as if the next
  /// process had sent it. No other client may be connected.
  ///
  /// - Throws: ``SocketError``, or `CancellationError`.
  public func settle() async throws {
    let client = try Socket.connected(port: port)
    // The first byte of a TLS handshake: the server closes the connection, and records no request.
    // It accepts connections in order, so it has accepted all earlier ones then.
    _ = client.send([0x16])
    _ = client.receive(1)
    client.close()
    while openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
  }
}

extension Socket {
  /// Connects to a port of 127.0.0.1.
  fileprivate static func connected(port: UInt16) throws -> Socket {
    let result = try bound(port: 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(result.descriptor, $0, length)
      }
    }
    guard code == 0 else {
      let error = SocketError(call: "connect to 127.0.0.1:\(port)", code: errno)
      result.close()
      throw error
    }
    return result
  }
}
