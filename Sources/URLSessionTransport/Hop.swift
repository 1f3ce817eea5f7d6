internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request on the way to a response: the first one, or one after a redirect.
struct Hop: Sendable, Hashable {
  /// Where it goes: `http` or `https`, with a host.
  var url: URL
  /// All the fields that are sent, the transport's own among them.
  var fields: [HeaderField]
  /// The redirects that were followed so far.
  var redirectCount = 0

  /// The names that a caller has no say in.
  private static let ownNames: Set<String> = ["range", "if-range", "accept-encoding"]

  /// The first hop for a request; `nil` if its URL cannot be fetched.
  init?(_ request: TaskRequest) {
    guard let url = URL(string: request.url), Self.isFetchable(url) else { return nil }
    self.url = url
    // The bytes on disk and the offsets of ranges are those of the entity itself, so no encoding
    // may come between; left alone, the session asks for gzip.
    fields = [HeaderField(name: "Accept-Encoding", value: "identity")]
    fields += request.headers.filter { !Self.ownNames.contains($0.name.lowercased()) }
    guard request.offset > 0 else { return }
    fields.append(HeaderField(name: "Range", value: "bytes=\(request.offset)-"))
    if let validator = request.validator {
      fields.append(HeaderField(name: "If-Range", value: validator))
    }
  }

  init(url: URL, fields: [HeaderField], redirectCount: Int) {
    self.url = url
    self.fields = fields
    self.redirectCount = redirectCount
  }

  /// Whether the session can fetch a URL; it must not get to see `file:` and the like.
  static func isFetchable(_ url: URL) -> Bool {
    let scheme = url.scheme?.lowercased()
    return (scheme == "http" || scheme == "https") && url.host?.isEmpty == false
  }

  /// The request for the session.
  var urlRequest: URLRequest {
    var request = URLRequest(url: url)
    request.httpShouldHandleCookies = false
    for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }
}
