/// A client connection: reads requests and sends replies until either side closes it.
///
/// It runs on one thread.
struct Connection {
  private static let pieceSize = 65_536
  private static let longestHead = 65_536

  let socket: Socket
  let number: Int
  let server: ServerState
  private var unread: [UInt8] = []
  private var bodyBytesSent: Int64 = 0

  init(socket: Socket, number: Int, server: ServerState) {
    self.socket = socket
    self.number = number
    self.server = server
  }

  mutating func run() {
    while let request = nextRequest() {
      let reply = server.reply(to: request)
      let before = bodyBytesSent
      let goesOn = send(reply, to: request)
      server.finished(
        Delivery(
          target: request.target,
          status: reply.substitute == nil ? reply.status : 0,
          from: reply.range.lowerBound,
          bytesSent: bodyBytesSent - before
        )
      )
      guard goesOn else { return }
    }
  }

  private mutating func nextRequest() -> Request? {
    let end = Array("\r\n\r\n".utf8)
    var searched = 0
    while true {
      if let place = unread[searched...].firstRange(of: end) {
        let request = Request(head: Array(unread[..<place.lowerBound]), connection: number)
        unread.removeSubrange(..<place.upperBound)
        return request
      }
      searched = max(0, unread.count - 3)
      guard unread.count <= Self.longestHead else { return nil }
      let bytes = socket.receive(4_096)
      // A record of a TLS handshake: like most servers of plain HTTP, close the connection.
      guard !bytes.isEmpty, !(unread.isEmpty && bytes[0] == 0x16) else { return nil }
      unread += bytes
    }
  }

  /// Sends a reply, and returns whether the connection can carry another one.
  private mutating func send(_ reply: Reply, to request: Request) -> Bool {
    // A request with content is rejected and its content is not read, so the connection has to end.
    let hasContent = request["Content-Length"] != nil || request["Transfer-Encoding"] != nil
    var framing = reply.framing
    if framing == .chunked && request.minorVersion == 0 { framing = .closeDelimited }
    let closes = framing == .closeDelimited || hasContent || !request.keepsAlive
    let header = reply.header(closes: closes)

    switch reply.substitute {
    case .nothing: return false
    case .silence: return stall()
    case .bytes(let bytes, let ending):
      guard socket.send(bytes) else { return false }
      if ending == .reset { socket.prepareReset() }
      return ending == .keep
    case .bytesForEver(let bytes, let repeated, let milliseconds):
      return sendForEver(bytes, repeated, milliseconds)
    case .halfHeader:
      // Within the second line: some clients have already seen a Content-Length by then.
      let statusLine = header.prefix { $0 != 10 }
      _ = socket.send(Array(header.prefix(statusLine.count + 5)))
      return false
    case nil: break
    }

    guard socket.send(header) else { return false }
    guard request.method != "HEAD", reply.mayHaveBody else { return !closes }
    return sendBody(reply, chunked: framing == .chunked) && !closes
  }

  private mutating func sendBody(_ reply: Reply, chunked: Bool) -> Bool {
    let total = Int64(reply.range.count)
    var limit = total
    if case .reset(let bytes) = reply.ending { limit = min(limit, bytes) }
    if case .close(let bytes) = reply.ending { limit = min(limit, bytes) }
    if case .stall(let bytes) = reply.ending { limit = min(limit, bytes) }
    let allowance = reply.connectionLimit.map { $0 - bodyBytesSent }
    if let allowance { limit = min(limit, allowance) }

    var due = ContinuousClock.now
    var piece = Self.pieceSize
    if let speed = reply.bytesPerSecond { piece = max(1, min(piece, Int(speed / 20))) }
    var sent: Int64 = 0
    while sent < limit {
      // The last byte of a whole reply waits for the gate.
      let isGated = reply.rateGate != nil && limit == total
      let isLast = sent == limit - 1
      if isGated, isLast, !wait(for: reply.rateGate) { return false }
      let remaining = limit - sent - (isGated && !isLast ? 1 : 0)
      let bytes = reply.body.bytes(
        at: reply.range.lowerBound + sent,
        count: min(piece, Int(remaining))
      )
      let size = Array("\(String(bytes.count, radix: 16))\r\n".utf8)
      guard socket.send(chunked ? size + bytes + [13, 10] : bytes) else { return false }
      sent += Int64(bytes.count)
      bodyBytesSent += Int64(bytes.count)
      if reply.rateGate?.isOpen == true { continue }
      guard let speed = reply.bytesPerSecond else { continue }
      // Time that this process did not get is not made up for: after a stall the client would receive
      // in one piece what a test expects in many.
      due = max(due, .now) + .seconds(Double(bytes.count) / Double(speed))
      guard staysOpen(until: due) else { return false }
    }

    if let allowance, limit == allowance {
      socket.prepareReset()
      return false
    }
    switch reply.ending {
    case .reset:
      wait(for: reply.endGate)
      socket.prepareReset()
      return false
    case .close:
      wait(for: reply.endGate)
      return false
    case .stall:
      guard reply.rateGate != nil, wait(for: reply.rateGate) else { return stall() }
      var rest = reply
      rest.ending = .whole
      rest.range = reply.range.lowerBound + sent..<reply.range.upperBound
      return sendBody(rest, chunked: chunked)
    case .whole: return chunked ? socket.send(Array("0\r\n\r\n".utf8)) : true
    }
  }

  /// Waits until an instant, and returns false if the client closed the connection.
  private func staysOpen(until due: ContinuousClock.Instant) -> Bool {
    let milliseconds = (due - .now) / .milliseconds(1)
    return milliseconds < 1 || socket.staysOpen(milliseconds: CInt(milliseconds))
  }

  /// Sends bytes, then other bytes repeatedly until the client closes the connection or the server
  /// stops.
  private func sendForEver(_ bytes: [UInt8], _ repeated: [UInt8], _ milliseconds: Int) -> Bool {
    server.resetsItself(number)
    defer { if server.isStopped { socket.prepareReset(waits: false) } }
    guard socket.send(bytes, while: { !server.isStopped }) else { return false }
    // Without pauses, one system call per repetition would dominate the cost.
    let count = milliseconds > 0 ? 1 : max(1, Self.pieceSize / repeated.count)
    var piece: [UInt8] = []
    for _ in 0..<count { piece += repeated }
    while milliseconds == 0 || socket.staysOpen(milliseconds: CInt(milliseconds)) {
      guard socket.send(piece, while: { !server.isStopped }) else { return false }
    }
    return false
  }

  /// Sends nothing until the gate is open, the client closes the connection or the server stops.
  ///
  /// - Returns: Whether the gate is open.
  @discardableResult
  private func wait(for gate: Gate?) -> Bool {
    guard let gate else { return true }
    while !gate.isOpen { guard socket.staysOpen(milliseconds: 10) else { return false } }
    return true
  }

  /// Sends nothing until the client closes the connection or the server stops.
  private func stall() -> Bool {
    while socket.staysOpen(milliseconds: 1_000) {}
    return false
  }
}
