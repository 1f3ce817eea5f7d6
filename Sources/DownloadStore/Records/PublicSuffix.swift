internal import SystemInterface

/// Recognizes domains under which anybody can register names, such as `co.uk` and `github.io`.
///
/// A cookie for such a domain would be sent to every site under it, so it is only sent to the host
/// of that name (RFC 6265, 5.3, step 5). Browsers store no such cookies.
///
/// The complete list is long and changes every week. Where the system has it, as most distributions
/// do beside wget, that file decides; otherwise a rule of thumb does, which errs on the safe side.
package enum PublicSuffix {
  /// Whether a domain, in lower case and without a leading dot, is a public suffix.
  ///
  /// A final dot, which makes a name absolute, makes no difference.
  package static func contains(_ domain: String) -> Bool {
    let domain = relative(domain)
    return isUsual(domain) || systemList?.contains(domain) ?? false
  }

  /// The domain without the final dot of an absolute name.
  static func relative(_ domain: String) -> String {
    domain.hasSuffix(".") ? String(domain.dropLast()) : domain
  }

  // MARK: The rule of thumb

  /// Labels that registries use below a country's domain.
  private static let registries: Set = [
    "ac", "co", "com", "edu", "ed", "gen", "go", "gob", "gouv", "gov", "govt", "gub", "gv", "id",
    "ind", "info", "int", "k12", "lg", "ltd", "me", "mil", "muni", "name", "ne", "net", "nhs",
    "nic", "nom", "or", "org", "plc", "police", "pro", "res", "sch", "school", "tm", "web",
  ]

  /// Hosting domains whose subdomains belong to different users.
  private static let hostings: Set = [
    "amazonaws.com", "appspot.com", "azurewebsites.net", "b-cdn.net", "blogspot.com",
    "cloudfront.net", "cloudfunctions.net", "core.windows.net", "blob.core.windows.net",
    "digitaloceanspaces.com", "firebaseapp.com", "fly.dev", "github.io", "gitlab.io",
    "githubusercontent.com", "herokuapp.com", "netlify.app", "ngrok.io", "onrender.com",
    "pages.dev", "r2.dev", "readthedocs.io", "run.app", "s3.amazonaws.com", "surge.sh",
    "vercel.app", "web.app", "workers.dev",
  ]

  private static func isUsual(_ domain: String) -> Bool {
    if hostings.contains(domain) { return true }
    let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
    switch labels.count {
    // A top-level domain.
    case 0, 1: return true
    // `co.uk`: a country has two letters.
    case 2: return labels[1].utf8.count == 2 && registries.contains(String(labels[0]))
    // `k12.ca.us`.
    case 3: return labels[2] == "us" && registries.contains(String(labels[0]))
    default: return false
    }
  }

  // MARK: The list of the system

  /// The rules of a list (https://publicsuffix.org/list/).
  struct List: Sendable {
    private var rules: Set<String> = []
    private var wildcards: Set<String> = []
    private var exceptions: Set<String> = []

    /// Parses a list: one rule per line, and comments that begin with `//`.
    init(_ text: String) {
      for line in text.split(whereSeparator: \.isNewline) {
        let rule = line.prefix { $0 != " " && $0 != "\t" && $0 != "\r" }
        if rule.hasPrefix("//") || rule.isEmpty { continue }
        // The list has Unicode names, and requests have their ASCII form.
        if rule.hasPrefix("*.") {
          wildcards.insert(RequestURL.comparableHost(rule.dropFirst(2)))
        } else if rule.hasPrefix("!") {
          exceptions.insert(RequestURL.comparableHost(rule.dropFirst()))
        } else {
          rules.insert(RequestURL.comparableHost(rule))
        }
      }
    }

    /// Whether a rule makes the domain a public suffix.
    func contains(_ domain: String) -> Bool {
      if exceptions.contains(domain) { return false }
      if rules.contains(domain) { return true }
      return domain.firstIndex(of: ".").map {
        wildcards.contains(String(domain[$0...].dropFirst()))
      }
        ?? false
    }
  }

  /// The list that the system has; `nil` if it has none.
  private static let systemList = text(ofFile: "/usr/share/publicsuffix/public_suffix_list.dat").map
  {
    List($0)
  }

  private static func text(ofFile path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    var count = 0
    while count < bytes.count {
      let got = read(descriptor, into: &bytes, count..<bytes.count)
      guard got > 0 else { break }
      count += got
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
