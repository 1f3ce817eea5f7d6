internal import DownloadStore
internal import DownloadSync
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension ResponseHead {
  /// Converts a response head.
  ///
  /// The fields are sorted by name, so that runs are reproducible.
  ///
  /// - Parameters:
  ///   - response: The response of the session.
  ///   - prepared: The request, whose URL the head gets; by default that of the response.
  init(_ response: HTTPURLResponse, to prepared: PreparedRequest? = nil) {
    let fields = response.allHeaderFields.compactMap { name, value -> HeaderField? in
      guard let name = name as? String, let value = value as? String else { return nil }
      return HeaderField(name: name, value: value)
    }
    self.init(
      status: response.statusCode,
      fields: fields.sorted { $0.name < $1.name },
      url: prepared?.url.text ?? response.url?.absoluteString
    )
    isDecoded = true
  }
}
