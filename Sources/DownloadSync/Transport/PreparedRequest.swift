package import DownloadStore
package import Foundation

/// A request that is ready to be sent: the first one of a task, or one after a redirect.
///
/// All transports send this request, so the same rules apply to all of them.
package struct PreparedRequest: Sendable, Hashable {
  /// The URL: `http` or `https`, with a host.
  package var url: URL
  /// All header fields, including those that the transport adds.
  package var fields: [HeaderField]
  /// Whether the request may use a cellular network.
  package var allowsCellular = true
  /// The number of redirects followed so far.
  package var redirectCount = 0

  /// The fields that only the transport sets; the caller's values are ignored.
  private static let ownNames: Set<String> = ["range", "if-range", "accept-encoding"]

  /// Prepares the first request of a task.
  ///
  /// - Throws: `unsupportedURL` for a URL that cannot be fetched; `unknown` for a header field that
  ///   is invalid on the wire, such as one with a line break.
  package init(_ request: TaskRequest) throws(DownloadFailure) {
    guard let url = URL(string: request.url), Self.isFetchable(url) else {
      throw DownloadFailure(
        .unsupportedURL,
        "not an http or https URL with a host: \(Redaction.url(request.url))"
      )
    }
    if let field = request.headers.first(where: { !Self.isSendable($0) }) {
      throw DownloadFailure(
        .unknown,
        "not a valid header field: \(field.name.debugDescription)"
      )
    }
    self.url = url
    allowsCellular = request.allowsCellular
    // The bytes on disk and the offsets of ranges are those of the unencoded entity. URLSession
    // asks for gzip by default.
    fields = [HeaderField(name: "Accept-Encoding", value: "identity")]
    fields += request.headers.filter { !Self.ownNames.contains($0.name.lowercased()) }
    guard request.offset > 0 || request.end != nil else { return }
    let last = request.end.map { "\($0 - 1)" } ?? ""
    fields.append(HeaderField(name: "Range", value: "bytes=\(request.offset)-\(last)"))
    if let validator = request.validator {
      fields.append(HeaderField(name: "If-Range", value: validator))
    }
  }

  /// Whether a URL is an `http` or `https` URL with a host.
  ///
  /// No other URL, such as a `file` URL, may reach a transport.
  package static func isFetchable(_ url: URL) -> Bool {
    let scheme = url.scheme?.lowercased()
    return (scheme == "http" || scheme == "https") && url.host?.isEmpty == false
  }

  /// Whether a field is valid on the wire: a line break in its value would start another field.
  private static func isSendable(_ field: HeaderField) -> Bool {
    let isToken = field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    return isToken && !field.name.isEmpty
      && !field.value.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }
  }
}

/// The decision about a redirect.
package enum RedirectDecision: Hashable {
  /// Follow the redirect with this request.
  case follow(PreparedRequest)
  /// Fail the task with this message.
  case refuse(String)

  /// The statuses that redirect if the response has a `Location` (RFC 9110, 15.4).
  package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// The maximum number of successive redirects.
  package static let limit = 20

  /// Decides about a redirect.
  ///
  /// The location is resolved against the URL that sent it (RFC 9110, 10.2.2); URLSession on Linux
  /// resolves it against the root. `Range` and `If-Range` are kept, because they refer to the
  /// entity and not to a server. ``HeaderScope`` decides which other fields are sent to the new
  /// URL. A removed field is not restored by a later redirect.
  ///
  /// - Parameters:
  ///   - prepared: The request that was redirected.
  ///   - location: The `Location` of the response; `nil` if it has none.
  package init(_ prepared: PreparedRequest, to location: String?) {
    guard prepared.redirectCount < Self.limit else {
      let last = Redaction.url(prepared.url.absoluteString)
      self = .refuse("more than \(Self.limit) redirects, the last one from \(last)")
      return
    }
    guard let location, let url = URL(string: location, relativeTo: prepared.url)?.absoluteURL
    else {
      let shown = location.map(Redaction.url) ?? "none"
      self = .refuse("the redirect has no valid location: \(shown)")
      return
    }
    guard PreparedRequest.isFetchable(url) else {
      let text = url.absoluteString
      // A `data` URL consists of content: show its scheme only.
      let shown = text.contains("://") ? Redaction.url(text) : "\(url.scheme ?? ""):"
      self = .refuse("the redirect is not to an http or https URL: \(shown)")
      return
    }
    let fields = HeaderScope.fields(
      prepared.fields,
      givenFor: prepared.url.absoluteString,
      sentTo: url.absoluteString
    )
    var next = prepared
    next.url = url
    next.fields = fields
    next.redirectCount += 1
    self = .follow(next)
  }
}
