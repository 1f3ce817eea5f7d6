internal import SystemInterface

/// A failed system call.
public struct SocketError: Error, CustomStringConvertible {
  /// The call and its argument.
  public var call: String
  /// The value of `errno`.
  public var code: CInt

  /// Creates an error.
  public init(call: String, code: CInt) {
    self.call = call
    self.code = code
  }

  /// The call and the system's message for the error number.
  public var description: String {
    "\(call): \(systemErrorText(code))"
  }
}

/// A TCP socket on the loopback interface, with the calls that the server needs.
///
/// It does not own its descriptor: the creator closes it once.
struct Socket: Sendable {
  let descriptor: CInt

  #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static let withoutWaiting = MSG_DONTWAIT
    private static let sendFlags: CInt = 0
    private static let hangUp = CShort(POLLIN)
  #else
    private static let stream = CInt(SOCK_STREAM.rawValue)
    private static let withoutWaiting = CInt(MSG_DONTWAIT)
    // A closed client must be an error of `send`, not a signal that ends the process.
    private static let sendFlags = CInt(MSG_NOSIGNAL)
    // POLLRDHUP, which the Swift overlay omits: the client has sent FIN.
    private static let hangUp: CShort = 0x2000
  #endif

  /// Opens a listening socket on 127.0.0.1.
  ///
  /// Port zero selects any free port.
  static func listening(port: UInt16) throws -> Socket {
    let result = try bound(port: port, isReusable: true)
    guard listen(result.descriptor, 1_024) == 0 else {
      let error = SocketError(call: "listen on 127.0.0.1:\(port)", code: errno)
      result.close()
      throw error
    }
    return result
  }

  /// Opens a socket that has a port of 127.0.0.1 and does not listen.
  ///
  /// Port zero selects any free port. A reusable socket may have a port whose last connections have
  /// not expired yet; two such sockets may have the same port as long as neither listens.
  static func bound(port: UInt16, isReusable: Bool = false) throws -> Socket {
    let descriptor = socket(AF_INET, stream, 0)
    guard descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
    let result = Socket(descriptor: descriptor)
    if isReusable { result.set(SO_REUSEADDR, to: CInt(1)) }
    let bound = unsafe withAddress(port: port) { unsafe bind(descriptor, $0, $1) }
    guard bound == 0 else {
      let error = SocketError(call: "bind to 127.0.0.1:\(port)", code: errno)
      result.close()
      throw error
    }
    return result
  }

  /// Connects to a port of 127.0.0.1.
  static func connected(port: UInt16) throws -> Socket {
    let result = try bound(port: 0)
    let code = unsafe withAddress(port: port) { unsafe connect(result.descriptor, $0, $1) }
    guard code == 0 else {
      let error = SocketError(call: "connect to 127.0.0.1:\(port)", code: errno)
      result.close()
      throw error
    }
    return result
  }

  /// Calls a function with the address of a port of 127.0.0.1.
  private static func withAddress(
    port: UInt16,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// The local port.
  var port: UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits for a client; returns `nil` if none connects within `milliseconds`.
  func accept(milliseconds: CInt) -> Socket? {
    guard isReady(for: CShort(POLLIN), milliseconds: milliseconds) else { return nil }
    let client = SystemInterface.accept(descriptor, nil, nil)
    guard client >= 0 else { return nil }
    let result = Socket(descriptor: client)
    #if canImport(Darwin)
      result.set(SO_NOSIGPIPE, to: CInt(1))
    #endif
    return result
  }

  /// Returns the next bytes, at most `count`; empty when the client has closed the connection.
  func receive(_ count: Int) -> [UInt8] {
    let descriptor = descriptor
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      repeat {
        initialized = unsafe max(-1, recv(descriptor, buffer.baseAddress, count, 0))
      } while initialized < 0 && errno == EINTR
      initialized = max(0, initialized)
    }
  }

  /// Sends all bytes.
  ///
  /// Returns false if the client has closed the connection.
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
        return unsafe sendBytes(descriptor, rest, Self.sendFlags)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Sends all bytes; gives up when the condition, tested at least five times a second, is false.
  ///
  /// Returns false if it gave up, or if the client has closed the connection.
  func send(_ bytes: [UInt8], while condition: () -> Bool) -> Bool {
    var sent = 0
    while sent < bytes.count {
      guard condition() else { return false }
      guard isReady(for: CShort(POLLOUT), milliseconds: 200) else { continue }
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
        return unsafe sendBytes(descriptor, rest, Self.sendFlags | Self.withoutWaiting)
      }
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Waits for the given time, or until the connection ends.
  ///
  /// Returns whether it is still open.
  func staysOpen(milliseconds: CInt) -> Bool {
    !isReady(for: Self.hangUp, milliseconds: milliseconds)
  }

  /// Shuts down the connection in both directions, which wakes blocked threads.
  func shutDown() {
    _ = shutdown(descriptor, CInt(SHUT_RDWR))
  }

  /// Closes the descriptor.
  ///
  /// The client receives FIN.
  func close() {
    closeDescriptor(descriptor)
  }

  /// Makes the next ``close()`` send RST.
  ///
  /// RST also discards data that the client has not acknowledged. If `waits`, this waits until the
  /// send queue is empty, for two minutes at most: a fault "after n bytes" is then exact.
  func prepareReset(waits: Bool = true) {
    for _ in 0..<(waits ? 120_000 : 0) where unsentByteCount > 0 {
      guard staysOpen(milliseconds: 1) else { break }
    }
    set(SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
  }

  private var unsentByteCount: CInt {
    var count: CInt = 0
    #if canImport(Darwin)
      var length = socklen_t(MemoryLayout<CInt>.size)
      _ = unsafe getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length)
    #else
      _ = unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count)
    #endif
    return count
  }

  private func isReady(for events: CShort, milliseconds: CInt) -> Bool {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    return unsafe poll(&request, 1, milliseconds) > 0
  }

  private func set<Value: BitwiseCopyable>(_ option: CInt, to value: Value) {
    var value = value
    let length = socklen_t(MemoryLayout<Value>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &value, length)
  }
}

// The C functions under names that the methods above do not hide.

private func sendBytes(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, _ flags: CInt) -> Int {
  unsafe send(descriptor, bytes.baseAddress, bytes.count, flags)
}

private func closeDescriptor(_ descriptor: CInt) {
  _ = close(descriptor)
}
