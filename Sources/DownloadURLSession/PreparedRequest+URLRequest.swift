internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension PreparedRequest {
  /// The session's request.
  ///
  /// Foundation and libcurl send the target of a URL with only valid characters unchanged. The user
  /// info of the URL is in the fields, the same for all transports.
  ///
  /// - Throws: `unsupportedURL` if Foundation does not accept the URL, such as one with an unusual
  ///   host.
  var urlRequest: URLRequest {
    get throws(DownloadFailure) {
      guard let sessionURL = URL(string: url.absoluteForm) else {
        throw DownloadFailure(.unsupportedURL, "not a URL for URLSession: \(url.text)")
      }
      var request = URLRequest(url: sessionURL)
      request.httpMethod = method.rawValue
      request.httpShouldHandleCookies = false
      // No effect on Linux, where a session does not distinguish networks.
      request.allowsCellularAccess = allowsCellular
      for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
      return request
    }
  }
}
