/// The rules that decide whether a request is answered.
///
/// Pure: ``decision(for:)`` looks at the facts of a request only. Decision 0108 gives the reasons.
struct AccessRules: Sendable {
  /// Why a request is refused.
  enum Refusal: String, Sendable, Hashable, CaseIterable {
    /// The target is not a path.
    case invalidTarget
    /// `Host` is missing, repeated or not a name of this server.
    case hostNotAllowed
    /// The request has no token, or a wrong one.
    case notSignedIn
    /// A page of another site has sent the request.
    case crossSite
    /// The server was started without `--allow-changes`.
    case readOnly
  }

  /// The answer to a request.
  enum Decision: Sendable, Hashable {
    /// A route answers the request.
    case allow
    /// The token of the query is right: the browser gets the cookie, and goes to this target.
    case signIn(target: String)
    /// The request is refused.
    case refuse(Refusal)
  }

  /// The token; `nil` if the permissions of a socket's file decide who may use the server.
  var token: AccessToken?
  /// The names of the server; `nil` for any, on a socket.
  var hosts: HostRule?
  /// Whether requests may change the store.
  var allowsChanges = false
  /// The origins whose pages may call aria2's JSON-RPC.
  var rpcOrigins: Set<String> = []

  /// Decides about a request.
  func decision(for facts: RequestFacts) -> Decision {
    guard facts.target.hasPrefix("/") else { return .refuse(.invalidTarget) }
    if let hosts {
      guard facts.hosts.count == 1, hosts.allows(facts.hosts[0]) else {
        return .refuse(.hostNotAllowed)
      }
    }
    guard facts.area == .page else {
      // Its token is checked by the route, for the cookie does not count there.
      return isFromOwnPage(facts) || rpcOrigins.contains(facts.origin ?? "")
        ? .allow : .refuse(.crossSite)
    }
    switch credentials(of: facts) {
    case .none: return .refuse(.notSignedIn)
    case .query: return .signIn(target: facts.targetWithoutToken)
    case .cookie:
      // A browser adds the cookie to any request, so the request must say where it comes from.
      guard facts.isSafe || isFromOwnPage(facts) && hasSource(facts) else {
        return .refuse(.crossSite)
      }
    case .bearer, .socket:
      guard facts.isSafe || isFromOwnPage(facts) else { return .refuse(.crossSite) }
    }
    guard facts.isSafe || allowsChanges else { return .refuse(.readOnly) }
    return .allow
  }

  /// How a client proves that it may use the server.
  private enum Credentials {
    case none
    case bearer
    case cookie
    case query
    case socket
  }

  private func credentials(of facts: RequestFacts) -> Credentials {
    guard let token else { return .socket }
    if !facts.authorizations.isEmpty {
      // Whatever else the request has: a wrong token is an error.
      return facts.authorizations.count == 1 && Self.isBearer(facts.authorizations[0], token)
        ? .bearer : .none
    }
    if !facts.tokens.isEmpty {
      guard facts.method == "GET", facts.tokens.count == 1,
        AccessToken.isEqual(facts.tokens[0], token.text)
      else { return .none }
      return .query
    }
    let session = token.sessionText
    return facts.sessions.contains { AccessToken.isEqual($0, session) } ? .cookie : .none
  }

  private static func isBearer(_ value: String, _ token: AccessToken) -> Bool {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    return AccessToken.isEqual(String(parts[1]), token.text)
  }

  /// Whether the request says that it comes from a page of this server or from no page.
  ///
  /// `Sec-Fetch-Site` is the browser's own statement; `Origin` serves for browsers without it.
  private func isFromOwnPage(_ facts: RequestFacts) -> Bool {
    if let site = facts.fetchSite { return site == "same-origin" || site == "none" }
    guard let origin = facts.origin else { return true }
    return Self.isOrigin(origin, of: facts.hosts.first ?? "")
  }

  /// Whether the request says at all where it comes from.
  private func hasSource(_ facts: RequestFacts) -> Bool {
    facts.fetchSite != nil || facts.origin != nil
  }

  /// Whether an origin has this host and port.
  private static func isOrigin(_ origin: String, of authority: String) -> Bool {
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return !authority.isEmpty
        && origin.dropFirst(scheme.count).lowercased() == authority.lowercased()
    }
    return false
  }
}
