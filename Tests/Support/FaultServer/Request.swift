/// A header field on the wire.
public struct Field: Sendable, Hashable {
  /// The name as sent.
  public var name: String
  /// The value without the blanks around it.
  public var value: String

  /// Makes a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request as it arrived.
public struct Request: Sendable, Hashable {
  /// The method, `GET` say.
  public var method: String
  /// The request target: path and query.
  public var target: String
  /// The minor version of HTTP/1.
  public var minorVersion: Int
  /// The fields in their order on the wire.
  public var fields: [Field]
  /// The number of the connection that brought it, counted from zero.
  public var connection: Int

  /// The target without its query: what routes are looked up by.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// The value of the first field with that name, whatever its case.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// Whether the client wants the connection for another request.
  var keepsAlive: Bool {
    let connection = self["Connection"]?.lowercased()
    return minorVersion >= 1 ? connection != "close" : connection == "keep-alive"
  }

  /// Reads the head of a request, without the empty line that ends it; `nil` if it is not HTTP/1.
  init?(head: [UInt8], connection: Int) {
    var lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")[...]
    guard let requestLine = lines.popFirst() else { return nil }
    let parts = requestLine.split(separator: " ")
    guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), let minor = Int(parts[2].dropFirst(7))
    else { return nil }
    method = String(parts[0])
    target = String(parts[1])
    minorVersion = minor
    self.connection = connection
    fields = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      fields.append(
        Field(String(line[..<colon]), trimmed(line[line.index(after: colon)...]))
      )
    }
  }
}

/// What was sent for one request.
public struct Delivery: Sendable, Hashable {
  /// The request target.
  public var target: String
  /// The status of the reply; zero if there was no header of ours.
  public var status: Int
  /// The offset of the first body byte within the resource.
  public var from: Int64
  /// The body bytes that were handed to the kernel, without chunk headers.
  public var bytesSent: Int64
}

/// The text without the blanks around it (RFC 9110, 5.5).
func trimmed(_ text: Substring) -> String {
  let blanks: Set<Character> = [" ", "\t"]
  var text = text.drop { blanks.contains($0) }
  while let last = text.last, blanks.contains(last) { text.removeLast() }
  return String(text)
}
