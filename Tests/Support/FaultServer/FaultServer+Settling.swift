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
