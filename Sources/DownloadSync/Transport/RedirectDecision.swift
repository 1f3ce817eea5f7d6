internal import DownloadStore
internal import Foundation

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
