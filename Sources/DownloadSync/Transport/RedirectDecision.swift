internal import DownloadStore
internal import Foundation

/// What to do about a redirect.
package enum RedirectDecision: Hashable {
  /// Send this request next.
  case follow(Hop)
  /// Fail with this reason.
  case refuse(String)

  /// The statuses that redirect when there is a `Location` (RFC 9110, 15.4).
  package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

  /// The number of redirects that are followed in a row.
  package static let limit = 20

  /// Fields that were meant for one origin and must not reach another.
  private static let originBoundNames: Set<String> = [
    "authorization", "cookie", "proxy-authorization", "host",
  ]

  /// Decides about a redirect from the request that was answered and the `Location` of the answer.
  ///
  /// The location is resolved against the URL that answered (RFC 9110, 10.2.2); URLSession on Linux
  /// resolves it against the root. Range and validator go along: they belong to the entity, wherever
  /// it is. Credentials stay within their origin, and once stripped they do not come back.
  package init(_ hop: Hop, to location: String?) {
    guard hop.redirectCount < Self.limit else {
      self = .refuse("more than \(Self.limit) redirects, the last one from \(hop.url)")
      return
    }
    guard let location, let url = URL(string: location, relativeTo: hop.url)?.absoluteURL else {
      self = .refuse("a redirect to something that is not a URL: \(location ?? "nothing")")
      return
    }
    guard Hop.isFetchable(url) else {
      self = .refuse("a redirect to something other than http or https: \(url.absoluteString)")
      return
    }
    var fields = hop.fields
    if Origin(hop.url) != Origin(url) {
      fields.removeAll { Self.originBoundNames.contains($0.name.lowercased()) }
    }
    self = .follow(Hop(url: url, fields: fields, redirectCount: hop.redirectCount + 1))
  }
}

/// What credentials are bound to (RFC 6454, 4).
private struct Origin: Equatable {
  var scheme: String?
  var host: String?
  var port: Int

  init(_ url: URL) {
    scheme = url.scheme?.lowercased()
    host = url.host?.lowercased()
    port = url.port ?? (scheme == "https" ? 443 : 80)
  }
}
