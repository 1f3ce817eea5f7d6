import Testing

@testable import DownloadServer

/// The rules of access, over all combinations of what a request may say.
struct AccessRulesTests {
  private static let token = AccessToken()
  private static let host = "127.0.0.1:6880"

  /// A credential, and whether it is right.
  private enum Credential: CaseIterable {
    case none, bearer, wrongBearer, twoBearers, cookie, wrongCookie, query, wrongQuery, twoQueries

    var isRight: Bool { self == .bearer || self == .cookie || self == .query }
  }

  private static func facts(
    _ method: String,
    _ hosts: [String],
    _ credential: Credential,
    _ origin: String?,
    _ site: String?
  ) -> RequestFacts {
    var facts = RequestFacts()
    facts.method = method
    facts.hosts = hosts
    facts.origin = origin
    facts.fetchSite = site
    switch credential {
    case .none: break
    case .bearer: facts.authorizations = ["Bearer \(token.text)"]
    case .wrongBearer: facts.authorizations = ["Bearer \(AccessToken().text)"]
    case .twoBearers: facts.authorizations = ["Bearer \(token.text)", "Bearer x"]
    case .cookie: facts.sessions = ["old", token.sessionText]
    case .wrongCookie: facts.sessions = [token.text]
    case .query: facts.target = "/?a=1&token=\(token.text)"
    case .wrongQuery: facts.target = "/?token=\(token.sessionText)"
    case .twoQueries: facts.target = "/?token=\(token.text)&token=\(token.text)"
    }
    return facts
  }

  @Test func `no combination of facts passes a rule that forbids it`() {
    var count = 0
    for allowsChanges in [false, true] {
      let rules = AccessRules(
        token: Self.token,
        hosts: HostRule(),
        allowsChanges: allowsChanges
      )
      for method in ["GET", "HEAD", "POST", "PATCH", "DELETE"] {
        for hosts in [[Self.host], ["evil.example"], [], [Self.host, Self.host]] {
          for credential in Credential.allCases {
            for origin in [nil, "http://\(Self.host)", "http://evil.example", "null"] {
              for site in [nil, "none", "same-origin", "same-site", "cross-site"] {
                let facts = Self.facts(method, hosts, credential, origin, site)
                check(rules.decision(for: facts), facts, credential, allowsChanges)
                count += 1
              }
            }
          }
        }
      }
    }
    #expect(count == 2 * 5 * 4 * 9 * 4 * 5)
  }

  /// States the rules again, one by one.
  private func check(
    _ decision: AccessRules.Decision,
    _ facts: RequestFacts,
    _ credential: Credential,
    _ allowsChanges: Bool
  ) {
    let isSafe = facts.method == "GET" || facts.method == "HEAD"
    guard facts.hosts == [Self.host] else {
      #expect(decision == .refuse(.hostNotAllowed), "\(facts)")
      return
    }
    guard credential.isRight else {
      #expect(decision == .refuse(.notSignedIn), "\(facts)")
      return
    }
    guard credential != .query else {
      let isGet = facts.method == "GET"
      #expect(decision == (isGet ? .signIn(target: "/?a=1") : .refuse(.notSignedIn)), "\(facts)")
      return
    }
    guard !isSafe else {
      #expect(decision == .allow, "\(facts)")
      return
    }
    let isOwn: Bool =
      switch (facts.fetchSite, facts.origin) {
      case (let site?, _): site == "none" || site == "same-origin"
      case (nil, let origin?): origin == "http://\(Self.host)"
      // Only a browser has a cookie, and it says where a request comes from.
      case (nil, nil): credential == .bearer
      }
    guard isOwn else {
      #expect(decision == .refuse(.crossSite), "\(facts)")
      return
    }
    #expect(decision == (allowsChanges ? .allow : .refuse(.readOnly)), "\(facts)")
  }

  @Test func `aria2's RPC is open to its own page, no page, and the origins that were named`() {
    var rules = AccessRules(token: Self.token, hosts: HostRule())
    rules.rpcOrigins = ["https://ariang.example"]
    func decision(
      _ origin: String?,
      _ site: String?,
      _ host: String = Self.host
    )
      -> AccessRules.Decision
    {
      var facts = Self.facts("POST", [host], .none, origin, site)
      facts.area = .rpc
      return rules.decision(for: facts)
    }
    #expect(decision(nil, nil) == .allow)
    #expect(decision("http://\(Self.host)", "same-origin") == .allow)
    #expect(decision("https://ariang.example", "cross-site") == .allow)
    #expect(decision("https://evil.example", "cross-site") == .refuse(.crossSite))
    #expect(decision("https://evil.example", nil) == .refuse(.crossSite))
    #expect(decision(nil, nil, "evil.example") == .refuse(.hostNotAllowed))
  }

  @Test func `on a socket, the permissions of its file stand for a token and a name`() {
    var rules = AccessRules(token: nil, hosts: nil)
    #expect(rules.decision(for: Self.facts("GET", [], .none, nil, nil)) == .allow)
    let post = Self.facts("POST", ["any"], .none, nil, nil)
    #expect(rules.decision(for: post) == .refuse(.readOnly))
    rules.allowsChanges = true
    #expect(rules.decision(for: post) == .allow)
    let other = Self.facts("POST", ["any"], .none, "http://evil.example", nil)
    #expect(rules.decision(for: other) == .refuse(.crossSite))
  }

  @Test(arguments: ["", "*", "http://127.0.0.1/", "evil.example:80"])
  func `a target that is no path is refused`(target: String) {
    let rules = AccessRules(token: nil, hosts: nil)
    var facts = RequestFacts()
    facts.target = target
    #expect(rules.decision(for: facts) == .refuse(.invalidTarget))
  }

  @Test(arguments: [
    ("/?token=a", "/"), ("/x?token=a&b=c", "/x?b=c"), ("/x?b=%26&token=a", "/x?b=%26"),
    ("//evil.example/?token=a", "/evil.example/"), ("/\\evil.example?token=a", "/evil.example"),
    ("/x?tokens=a", "/x?tokens=a"), ("/x", "/x"),
    // A browser ignores the selector in the name of a host.
    ("/\u{FE0F}evil.example/?token=a", "/\u{FE0F}evil.example/"),
  ])
  func `the target after signing in has no token, and is on this server`(
    target: String,
    expected: String
  ) {
    var facts = RequestFacts()
    facts.target = target
    #expect(facts.targetWithoutToken == expected)
  }

  @Test(arguments: [
    ("localhost", true), ("LOCALHOST:80", true), ("localhost.", true), ("127.0.0.1:6880", true),
    ("127.8.8.8", true), ("[::1]:80", true), ("[::1]", true), ("[0:0:0:0:0:0:0:1]", true),
    ("evil.example", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false),
    ("10.0.0.1", false), ("[fe80::1]", false), ("0x7f.1", false), ("127.1", false), ("", false),
    ("[::1", false), ("localhost:x", false), ("localhost:70000", false), ("a b", false),
    ("localhost@evil.example", false), ("::1", false), ("0.0.0.0", false), ("[::2]", false),
  ])
  func `a server of this machine is called by names of the loopback interface`(
    host: String,
    isAllowed: Bool
  ) {
    #expect(HostRule().allows(host) == isAllowed)
  }

  @Test func `a server of the network is called by addresses and the names that were given`() {
    let rule = HostRule(isLoopbackOnly: false, names: ["Box.example"])
    for host in ["box.example:443", "10.0.0.1", "[fe80::1]:80", "localhost"] {
      #expect(rule.allows(host), "\(host)")
    }
    for host in ["evil.example", "box.example.evil.example", ""] {
      #expect(!rule.allows(host), "\(host)")
    }
  }

  @Test func `a token has 128 random bits, is never shown, and is compared as a whole`() {
    let tokens = (0..<100).map { _ in AccessToken() }
    #expect(Set(tokens.map(\.text)).count == 100)
    #expect(tokens.allSatisfy { $0.text.count == 32 && AccessToken($0.text) == $0 })
    #expect("\(tokens[0])" == "•••")
    #expect(tokens[0].sessionText != AccessToken().sessionText)
    #expect(!tokens[0].sessionText.contains(tokens[0].text))
    #expect(AccessToken("  0123456789abcdef\n")?.text == "0123456789abcdef")
    for text in ["", "short", "0123456789 abcdef", "0123456789abcdeé", "0123456789abcde\""] {
      #expect(AccessToken(text) == nil, "\(text)")
    }
    #expect(AccessToken.isEqual("abc", "abc"))
    for text in ["", "ab", "abd", "abcc"] { #expect(!AccessToken.isEqual("abc", text)) }
  }
}
