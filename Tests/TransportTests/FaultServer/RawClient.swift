internal import SystemInterface

/// A client that sends the given bytes and reads to the end of the connection, with no HTTP library.
struct RawClient {
  /// The bytes received on a connection.
  struct Answer {
    var bytes: [UInt8]
    /// Whether the connection ended by RST.
    var wasReset: Bool

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The bytes after the first empty line.
    var body: [UInt8] {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return [] }
      return Array(bytes[end.upperBound...])
    }
  }

  let port: UInt16

  /// Sends a GET with `Connection: close` and reads all of the answer.
  func get(_ target: String, _ fields: String...) -> Answer {
    let head = ["GET \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + fields
    return send(head.joined(separator: "\r\n") + "\r\n\r\n")
  }

  /// Sends some text and reads until the end; stops reading after `limit` bytes and leaves.
  func send(_ text: String, limit: Int = .max) -> Answer {
    let descriptor = connected()
    defer { _ = close(descriptor) }
    let request = Array(text.utf8)
    _ = unsafe request.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    var answer = Answer(bytes: [], wasReset: false)
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while answer.bytes.count < limit {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 { answer.wasReset = errno == ECONNRESET }
      guard count > 0 else { break }
      answer.bytes += buffer[..<count]
    }
    return answer
  }

  private func connected() -> CInt {
    #if canImport(Darwin)
      let stream = SOCK_STREAM
    #else
      let stream = CInt(SOCK_STREAM.rawValue)
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(result == 0, "the server listens on 127.0.0.1:\(port)")
    return descriptor
  }
}
