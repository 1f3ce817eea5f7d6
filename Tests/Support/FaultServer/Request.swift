/// A header field as sent.
public struct Field: Sendable, Hashable {
  /// The name as sent.
  public var name: String
  /// The value without surrounding white space.
  public var value: String

  /// Creates a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A received request.
public struct Request: Sendable, Hashable {
  /// The method, such as `GET`.
  public var method: String
  /// The request target: path and query.
  public var target: String
  /// The minor version of HTTP/1.
  public var minorVersion: Int
  /// The fields in the order received.
  public var fields: [Field]
  /// The number of its connection, counted from zero.
  public var connection: Int

  /// The target without its query, which selects the resource.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }

  /// Returns the value of the first field with the given name, ignoring case.
  public subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// Whether the client keeps the connection open for another request.
  var keepsAlive: Bool {
    let connection = self["Connection"]?.lowercased()
    return minorVersion >= 1 ? connection != "close" : connection == "keep-alive"
  }

  /// Parses the head of a request, without the empty line that ends it; `nil` if it is not HTTP/1.
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

/// The body sent for one request.
public struct Delivery: Sendable, Hashable {
  /// The request target.
  public var target: String
  /// The status of the reply; zero if no regular header was sent.
  public var status: Int
  /// The offset of the first body byte within the resource.
  public var from: Int64
  /// The number of body bytes passed to the kernel, without chunk headers.
  public var bytesSent: Int64
}

/// The text without surrounding white space (RFC 9110, 5.5).
func trimmed(_ text: Substring) -> String {
  let blanks: Set<Character> = [" ", "\t"]
  var text = text.drop { blanks.contains($0) }
  while let last = text.last, blanks.contains(last) { text.removeLast() }
  return String(text)
}
