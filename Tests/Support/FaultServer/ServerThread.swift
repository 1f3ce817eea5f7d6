internal import SystemInterface

/// Starts threads that are never joined.
enum ServerThread {
  fileprivate final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` in a new thread, and tries again while the system refuses one.
  ///
  /// Foundation's `Thread` does not report a refusal: the client would wait for an answer for ever, and
  /// so would the end of the server.
  static func detach(_ body: @escaping @Sendable () -> Void) {
    let start = unsafe Unmanaged.passRetained(Start(body)).toOpaque()
    while true {
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let code = unsafe pthread_create(&thread, nil, runServerThread, start)
      guard code != 0 else { return }
      precondition(code == EAGAIN, "a thread cannot be started: \(code)")
      usleep(1_000)
    }
  }
}

private func runServerThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  pthread_detach(pthread_self())
  if let start = unsafe start {
    unsafe Unmanaged<ServerThread.Start>.fromOpaque(start).takeRetainedValue().body()
  }
  return nil
}
