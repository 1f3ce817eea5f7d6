internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension PreparedRequest {
  /// The session's request.
  var urlRequest: URLRequest {
    var request = URLRequest(url: url)
    request.httpShouldHandleCookies = false
    // No effect on Linux, where a session does not distinguish networks.
    request.allowsCellularAccess = allowsCellular
    for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
    return request
  }
}
