package import DownloadStore
package import Foundation

/// One request on the way to a response: the first one, or one after a redirect.
///
/// What every transport sends, so that one rule holds for all of them.
package struct PreparedRequest: Sendable, Hashable {
  /// Where it goes: `http` or `https`, with a host.
  package var url: URL
  /// All the fields that are sent, the transport's own among them.
  package var fields: [HeaderField]
  /// Whether it may use a cellular network.
  package var allowsCellular = true
  /// The redirects that were followed so far.
  package var redirectCount = 0

  /// The names that a caller has no say in.
  private static let ownNames: Set<String> = ["range", "if-range", "accept-encoding"]

  /// The first hop for a request.
  ///
  /// - Throws: `unsupportedURL` for a URL that cannot be fetched; `unknown` for a header field that
  ///   would become something else on the wire.
  package init(_ request: TaskRequest) throws(TaskFailure) {
    guard let url = URL(string: request.url), Self.isFetchable(url) else {
      throw TaskFailure(
        code: .unsupportedURL,
        message: "not an http or https URL with a host: \(Redaction.url(request.url))"
      )
    }
    if let field = request.headers.first(where: { !Self.isSendable($0) }) {
      throw TaskFailure(
        code: .unknown,
        message: "not a header field that can be sent: \(field.name.debugDescription)"
      )
    }
    self.url = url
    allowsCellular = request.allowsCellular
    // The bytes on disk and the offsets of ranges are those of the entity itself, so no encoding
    // may come between; URLSession asks for gzip when left alone.
    fields = [HeaderField(name: "Accept-Encoding", value: "identity")]
    fields += request.headers.filter { !Self.ownNames.contains($0.name.lowercased()) }
    guard request.offset > 0 else { return }
    fields.append(HeaderField(name: "Range", value: "bytes=\(request.offset)-"))
    if let validator = request.validator {
      fields.append(HeaderField(name: "If-Range", value: validator))
    }
  }

  /// Whether a URL can be fetched; no transport may get to see `file:` and the like.
  package static func isFetchable(_ url: URL) -> Bool {
    let scheme = url.scheme?.lowercased()
    return (scheme == "http" || scheme == "https") && url.host?.isEmpty == false
  }

  /// Whether a field stays one field: a line break in a value would start another.
  private static func isSendable(_ field: HeaderField) -> Bool {
    let isToken = field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    return isToken && !field.name.isEmpty
      && !field.value.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
  }
}
