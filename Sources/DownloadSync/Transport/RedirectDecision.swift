internal import DownloadStore
internal import Foundation

/// What to do about a redirect.
package enum RedirectDecision: Hashable {
  /// Send this request next.
  case follow(PreparedRequest)
  /// Fail with this reason.
  case refuse(String)

  /// The statuses that redirect when there is a `Location` (RFC 9110, 15.4).
  package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// The number of redirects that are followed in a row.
  package static let limit = 20

  /// Decides about a redirect from the request that was answered and the `Location` of the answer.
  ///
  /// The location is resolved against the URL that answered (RFC 9110, 10.2.2); URLSession on Linux
  /// resolves it against the root. Range and validator go along: they belong to the entity, wherever
  /// it is. ``HeaderScope`` decides about the other fields; once stripped they do not come back.
  package init(_ prepared: PreparedRequest, to location: String?) {
    guard prepared.redirectCount < Self.limit else {
      let last = Redaction.url(prepared.url.absoluteString)
      self = .refuse("more than \(Self.limit) redirects, the last one from \(last)")
      return
    }
    guard let location, let url = URL(string: location, relativeTo: prepared.url)?.absoluteURL
    else {
      let shown = location.map(Redaction.url) ?? "nothing"
      self = .refuse("a redirect to something that is not a URL: \(shown)")
      return
    }
    guard PreparedRequest.isFetchable(url) else {
      let text = url.absoluteString
      // `data:` and the like are all content.
      let shown = text.contains("://") ? Redaction.url(text) : "\(url.scheme ?? ""):"
      self = .refuse("a redirect to something other than http or https: \(shown)")
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
