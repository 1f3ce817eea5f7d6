#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1

  /// A channel handler that escapes bytes above 127 in the field `Location` of HTTP/1.
  ///
  /// Servers send locations in the encoding of their file names, such as Latin-1 or GBK. NIO replaces
  /// bytes that are not UTF-8, after which the request would be for another file. As escapes they
  /// reach the server as it has sent them.
  ///
  /// It changes only heads: a head begins with the first bytes after a request, or after an interim
  /// response, and ends with an empty line. A connection carries one request at a time.
  final class LocationEscaper: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var head = HeadScan()
    private var isInHead = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if !isInHead {
        isInHead = true
        head = HeadScan()
      }
      context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard isInHead else { return context.fireChannelRead(data) }
      let buffer = unwrapInboundIn(data)
      var found: [Int] = []
      for (offset, byte) in buffer.readableBytesView.enumerated() {
        if head.escapes(byte) { found.append(offset) }
        guard head.hasEnded else { continue }
        isInHead = head.isInterim
        head = HeadScan()
        // The rest is a body.
        if !isInHead { break }
      }
      context.fireChannelRead(
        found.isEmpty ? data : wrapInboundOut(Self.escaped(buffer, at: found))
      )
    }

    private static func escaped(_ buffer: ByteBuffer, at offsets: [Int]) -> ByteBuffer {
      var rest = buffer
      var result = ByteBuffer()
      var start = 0
      for offset in offsets {
        if var part = rest.readSlice(length: offset - start) { result.writeBuffer(&part) }
        if let byte = rest.readInteger(as: UInt8.self) { result.writeBytes(HeadScan.escape(byte)) }
        start = offset + 1
      }
      result.writeBuffer(&rest)
      return result
    }
  }

  /// The bytes of a response head, one after the other.
  struct HeadScan {
    private static let name = Array("location:".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    private var lineNumber = 0
    /// The number of bytes of the line, without CR.
    private var column = 0
    /// Whether the bytes of the line begin the name of the field, or are behind it.
    private var isLocation = true
    /// Whether the head has ended with the last byte.
    private(set) var hasEnded = false
    /// Whether the response is an interim one, after which another one follows.
    private(set) var isInterim = false

    /// Takes the next byte, and returns whether it must be escaped.
    mutating func escapes(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x0A:
        hasEnded = column == 0
        lineNumber += 1
        column = 0
        isLocation = true
        return false
      case 0x0D: return false
      default: break
      }
      defer { column += 1 }
      // The status follows `HTTP/1.1 `; 101 is a final response.
      if lineNumber == 0, column == 9 { isInterim = byte == UInt8(ascii: "1") }
      if lineNumber == 0, column == 11, byte == UInt8(ascii: "1") { isInterim = false }
      guard column < Self.name.count else { return isLocation && byte >= 0x80 }
      let lowered = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
      isLocation = isLocation && lowered == Self.name[column]
      return false
    }

    /// The escape of a byte.
    static func escape(_ byte: UInt8) -> [UInt8] {
      [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
#endif
