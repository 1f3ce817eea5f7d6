package import DownloadStore
package import Foundation

/// A request that is ready to be sent: the first one of a task, or one after a redirect.
///
/// All transports send this request, so the same rules apply to all of them.
package struct PreparedRequest: Sendable, Hashable {
  /// The URL, with the request target that is sent.
  package var url: RequestURL
  /// The fields that were given and those that the transport adds, without credentials and cookies.
  private var given: [HeaderField]
  /// The conditions under which the server sends the range or the file; see ``conditionOrigin``.
  private var conditions: [HeaderField] = []
  /// The origin that stated the validators in ``conditions``: no other one receives them.
  private let conditionOrigin: String
  /// The value of `Authorization` from the user info of a URL; `nil` if there is none.
  private var credentials: String?
  /// The cookies that earlier responses of this task have set.
  private var cookies = RedirectCookies()
  /// The origin to which the client certificate may be shown.
  private let certificateOrigin: String
  /// Whether the task may still show its client certificate: it has not left that origin.
  package private(set) var showsCertificate: Bool
  /// Whether the request may use a cellular network.
  package var allowsCellular = true
  /// The method of this request and of those that follow its redirects.
  package let method: TaskRequest.Method
  /// Whether redirects are followed.
  package let followsRedirects: Bool
  /// The number of redirects followed so far.
  package var redirectCount = 0

  /// The fields that only the transport sets; the caller's values are ignored.
  private static let ownNames: Set<String> = ["range", "if-range", "accept-encoding"]

  /// Prepares the first request of a task.
  ///
  /// - Throws: `unsupportedURL` for a URL that cannot be fetched; `unknown` for a header field that
  ///   is invalid on the wire, such as one with a line break.
  package init(_ request: TaskRequest) throws(DownloadFailure) {
    guard let url = try? RequestURL(request.url) else {
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
    method = request.method
    followsRedirects = request.followsRedirects
    certificateOrigin = RecordIdentity.origin(of: request.credentialURL ?? request.url)
    showsCertificate = url.origin == certificateOrigin
    conditionOrigin = request.validatorOrigin ?? url.origin
    credentials = url.credentials.map { HeaderField.basic($0) }
    // The bytes on disk and the offsets of ranges are those of the unencoded entity. URLSession
    // asks for gzip by default.
    given = [HeaderField(name: "Accept-Encoding", value: "identity")]
    given += request.headers.filter { !Self.ownNames.contains($0.name.lowercased()) }
    guard request.offset > 0 || request.end != nil else {
      conditions = [
        ("If-None-Match", request.ifNoneMatch), ("If-Modified-Since", request.ifModifiedSince),
      ].compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
      let own = Set(conditions.map { $0.name.lowercased() })
      given.removeAll { own.contains($0.name.lowercased()) }
      return
    }
    let last = request.end.map { "\($0 - 1)" } ?? ""
    given.append(HeaderField(name: "Range", value: "bytes=\(request.offset)-\(last)"))
    conditions = request.validator.map { [HeaderField(name: "If-Range", value: $0)] } ?? []
  }

  /// All header fields, including those that the transport adds.
  ///
  /// A given `Authorization` has precedence over the user info of the URL, as in curl.
  package var fields: [HeaderField] {
    var fields = given
    if url.origin == conditionOrigin { fields += conditions }
    if let credentials, !fields.contains(where: { $0.name.lowercased() == "authorization" }) {
      fields.append(HeaderField(name: "Authorization", value: credentials))
    }
    let own = fields.firstIndex { $0.name.lowercased() == "cookie" }
    if let value = cookies.field(for: url, given: own.map { fields[$0].value }) {
      if let own {
        fields[own].value = value
      } else {
        fields.append(HeaderField(name: "Cookie", value: value))
      }
    }
    return fields
  }

  /// The request that follows a redirect to a URL, whose response set cookies.
  fileprivate func redirected(to next: RequestURL, _ setCookies: [String], now: Date) -> Self {
    var result = self
    result.url = next
    result.given = HeaderScope.fields(given, givenFor: url.text, sentTo: next.text)
    if let own = next.credentials {
      result.credentials = HeaderField.basic(own)
    } else if url.origin != next.origin {
      result.credentials = nil
    }
    result.cookies.store(setCookies, from: url, now: now)
    result.showsCertificate = showsCertificate && next.origin == certificateOrigin
    result.redirectCount += 1
    return result
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
  /// resolves it against the root. A location that cannot be requested, such as one with a port
  /// above 65,535, never reaches a library, because some of them end the process. `Range` is kept,
  /// because it refers to the entity and not to a server. Conditions are sent only to the origin that
  /// stated their validators: any other target could repeat it. ``HeaderScope`` decides which other
  /// fields are sent to the new URL. A removed field is not restored by a later redirect.
  ///
  /// - Parameters:
  ///   - prepared: The request that was redirected.
  ///   - location: The `Location` of the response; `nil` if it has none.
  ///   - setCookies: The values of `Set-Cookie` of the response, one for each cookie. A chain of
  ///     redirects sends its cookies back (``RedirectCookies``).
  ///   - now: The time with which the expiry of cookies is compared.
  package init(
    _ prepared: PreparedRequest,
    to location: String?,
    setCookies: [String] = [],
    now: Date = Date()
  ) {
    guard prepared.redirectCount < Self.limit else {
      let last = Redaction.url(prepared.url.text)
      self = .refuse("more than \(Self.limit) redirects, the last one from \(last)")
      return
    }
    guard let location else {
      self = .refuse("the redirect has no location")
      return
    }
    // Transports decode header fields as UTF-8. After the replacement of other bytes, the request
    // would be for another file.
    guard !location.unicodeScalars.contains("\u{FFFD}") else {
      self = .refuse("the location is not UTF-8: \(Redaction.reference(location))")
      return
    }
    do throws(RequestURL.Problem) {
      let url = try prepared.url.resolving(location)
      self = .follow(prepared.redirected(to: url, setCookies, now: now))
    } catch {
      // A `data` URL consists of content: show its scheme only.
      let shown = location.contains("//") ? Redaction.reference(location) : nil
      self =
        switch error {
        case .otherScheme(let scheme):
          .refuse("the redirect is not to an http or https URL: \(shown ?? "\(scheme):")")
        case .noHost, .noURL:
          .refuse("the redirect has no valid location: \(shown ?? Redaction.reference(location))")
        case .invalidPort:
          .refuse("the redirect is to a port that does not exist: \(Redaction.reference(location))")
        }
    }
  }
}
