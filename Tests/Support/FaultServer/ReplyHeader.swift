extension Reply {
  /// Whether the status allows a body (RFC 9110, 6.4.1).
  var mayHaveBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  /// The header as sent, with the empty line that ends it.
  func header(closes: Bool) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) \(Self.reason(status))"]
    switch framing {
    case .contentLength where mayHaveBody: lines.append("Content-Length: \(range.count)")
    case .chunked where mayHaveBody: lines.append("Transfer-Encoding: chunked")
    default: break
    }
    if closes { lines.append("Connection: close") }
    lines += fields.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// The reason phrase.
  ///
  /// Clients ignore it, but some fail to parse a status line without one.
  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 401: "Unauthorized"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 416: "Range Not Satisfiable"
    case 429: "Too Many Requests"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
