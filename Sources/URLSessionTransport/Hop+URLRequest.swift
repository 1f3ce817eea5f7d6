internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension Hop {
  /// The request for the session.
  var urlRequest: URLRequest {
    var request = URLRequest(url: url)
    request.httpShouldHandleCookies = false
    // Without effect on Linux, where no session tells one network from another.
    request.allowsCellularAccess = allowsCellular
    for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }
}
