/// The sentences about responses whose status is an error.
package enum StatusText {
  /// Returns what a response with the status means for a download, without a full stop.
  ///
  /// The sentence has the status and its name in parentheses, and then the wait that the server asks
  /// for.
  package static func sentence(for status: Int, retryAfter: Duration? = nil) -> String {
    let meaning =
      switch status {
      case 202: "the server does not have the file yet"
      case 200..<300: "the server answered without the file"
      case 304: "the server did not send the file"
      case 300..<400: "the server redirects without a usable target"
      case 401: "the server requires a valid login"
      case 403: "the server denies access"
      case 404: "the server has no such file"
      case 407: "the proxy requires a valid login"
      case 408: "the server waited too long for the request"
      case 410: "the file was removed from the server"
      case 425, 503: "the server cannot answer at the moment"
      case 429: "the server has received too many requests"
      case 451: "the server may not deliver the file for legal reasons"
      case 502, 504: "the server has no answer from a server behind it"
      case 500..<600: "the server has failed"
      default: "the server rejected the request"
      }
    let wait = retryAfter.map { "; it asks to wait \(max(0, $0.components.seconds)) s" } ?? ""
    return "\(meaning) (\(named(status)))\(wait)"
  }

  /// Returns a status with its name (RFC 9110, 15), such as `404 Not Found`.
  package static func named(_ status: Int) -> String {
    names[status].map { "\(status) \($0)" } ?? "\(status)"
  }

  private static let names = [
    201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
    401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
    408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required",
    412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
    415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early",
    426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
  ]
}
