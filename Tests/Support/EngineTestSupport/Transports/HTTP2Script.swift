/// The frames that a server of HTTP/2 sends in answer to a request.
///
/// An input of the fuzzer is a text with a line for each frame. Bytes are escaped as in URLs, and the
/// stream `s` is that of the request:
///
/// ```
/// headers 4 s :status=200 content-length=5
/// data 1 s hello
/// frame 6 0 0 %00%01%02%03%04%05%06%07
/// keep
/// ```
///
/// The numbers are the flags, the stream and, for `frame`, the type before them. With `keep` the
/// connection stays open. Any bytes are a script: unreadable lines are skipped.
public struct HTTP2Script: Sendable, Hashable {
  /// The lines, each as its words.
  public var lines: [[String]]

  /// Parses a script.
  public init(_ bytes: [UInt8]) {
    lines = bytes.split(separator: 0x0A).map { line in
      String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    }
  }

  /// The text of the script.
  public var bytes: [UInt8] {
    Array(lines.map { $0.joined(separator: " ") }.joined(separator: "\n").utf8)
  }

  /// Whether the connection stays open.
  public var keepsConnection: Bool { lines.contains(["keep"]) }

  /// Returns the frames for a request on a stream.
  public func frames(for stream: UInt32) -> [UInt8] {
    lines.flatMap { Self.frame($0, stream) ?? [] }
  }

  private static func frame(_ words: [String], _ stream: UInt32) -> [UInt8]? {
    var rest = words[...]
    func number(_ word: String?) -> UInt32? { word == "s" ? stream : word.flatMap { UInt32($0) } }
    guard let kind = rest.popFirst() else { return nil }
    var type: UInt32 = kind == "headers" ? 1 : 0
    if kind == "frame" {
      guard let given = number(rest.popFirst()) else { return nil }
      type = given
    } else if kind != "headers", kind != "data" {
      return nil
    }
    guard let flags = number(rest.popFirst()), let id = number(rest.popFirst()) else { return nil }
    let payload =
      kind == "headers" ? rest.flatMap(field) : bytes(rest.joined(separator: " "))
    return frame(type: type, flags: flags, stream: id, payload)
  }

  /// Returns a frame (RFC 9113, 4.1).
  public static func frame(
    type: UInt32,
    flags: UInt32,
    stream: UInt32,
    _ payload: [UInt8]
  )
    -> [UInt8]
  {
    func byte(_ value: UInt32, _ shift: UInt32) -> UInt8 {
      UInt8(truncatingIfNeeded: value >> shift)
    }
    let length = UInt32(payload.count)
    return [byte(length, 16), byte(length, 8), byte(length, 0), byte(type, 0), byte(flags, 0)]
      + [byte(stream, 24), byte(stream, 16), byte(stream, 8), byte(stream, 0)] + payload
  }

  /// Encodes a field literally, without an index (RFC 7541, 6.2.2).
  private static func field(_ word: String) -> [UInt8] {
    let name = word.prefix { $0 != "=" }
    return [0] + string(bytes(String(name))) + string(bytes(String(word.dropFirst(name.count + 1))))
  }

  private static func string(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var length: [UInt8] = [127]
    var rest = bytes.count - 127
    while rest >= 128 {
      length.append(UInt8(rest % 128) + 128)
      rest /= 128
    }
    return length + [UInt8(rest)] + bytes
  }

  /// Decodes the escapes of a word.
  private static func bytes(_ word: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(word.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
        result.append(value)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }
}

#if AsyncHTTPClient
  /// Answers each request of HTTP/2 with the frames of a script.
  public struct HTTP2Conversation: TLSConversation {
    private let script: HTTP2Script
    private var received: [UInt8] = []
    private var hasPreface = false

    /// Creates a conversation.
    public init(_ script: HTTP2Script) {
      self.script = script
    }

    /// Acknowledges settings, and sends the script after each HEADERS frame.
    public mutating func receive(_ bytes: [UInt8]) -> TLSAnswer {
      received += bytes
      var answer = TLSAnswer()
      if !hasPreface {
        guard received.count >= 24 else { return answer }
        received.removeFirst(24)
        hasPreface = true
        answer.bytes += HTTP2Script.frame(type: 4, flags: 0, stream: 0, [])
      }
      while received.count >= 9 {
        let length = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        guard received.count >= 9 + length else { return answer }
        let (type, flags) = (received[3], received[4])
        let stream = received[5..<9].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        received.removeFirst(9 + length)
        if type == 4, flags & 1 == 0 {
          answer.bytes += HTTP2Script.frame(type: 4, flags: 1, stream: 0, [])
        }
        if type == 1 {
          answer.bytes += script.frames(for: stream)
          answer.closes = !script.keepsConnection
        }
      }
      return answer
    }
  }
#endif
