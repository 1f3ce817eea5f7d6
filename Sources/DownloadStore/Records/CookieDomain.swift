/// The hosts to which a cookie may be sent.
package enum CookieDomain {
  /// Returns whether a cookie of a domain may be sent to a host below it.
  ///
  /// False for addresses, for top-level domains and for domains under which unrelated parties have
  /// names, such as `co.uk` or `github.io`. The Public Suffix List has thousands of these; this is
  /// the part of it that is usual for files. A cookie that is wrongly kept from a host costs a
  /// login, so a domain of two labels under a country's is refused if its first label is a usual one.
  ///
  /// Domain and host are in lower case, and the domain has no leading dot.
  package static func covers(_ domain: String, _ host: String) -> Bool {
    let isAddress =
      host.contains(":")
      || host.unicodeScalars.allSatisfy { "0123456789.".unicodeScalars.contains($0) }
    return !isAddress && !isPublicSuffix(domain) && host.hasSuffix(".\(domain)")
  }

  /// Whether unrelated parties have names under a domain.
  package static func isPublicSuffix(_ domain: String) -> Bool {
    let labels = domain.split(separator: ".")
    guard labels.count > 1, let country = labels.last else { return true }
    if labels.count == 2, country.utf8.count == 2, registries.contains(String(labels[0])) {
      return true
    }
    return countries.contains(domain) || hosting.contains(domain)
  }

  /// The names that the registries of many countries have given to kinds of organizations.
  private static let registries: Set<String> = [
    "ac", "co", "com", "edu", "gob", "gouv", "gov", "gub", "gv", "ltd", "mil", "ne", "net", "nom",
    "or", "org", "plc", "sch",
  ]

  /// Such names of one country, which are ordinary ones elsewhere.
  private static let countries: Set<String> = [
    "ad.jp", "ed.jp", "go.jp", "gr.jp", "lg.jp", "go.id", "my.id", "web.id", "go.ke", "go.kr",
    "pe.kr", "re.kr", "go.th", "in.th", "mi.th", "me.uk", "nhs.uk", "police.uk", "asn.au", "id.au",
    "govt.nz", "school.nz", "kiwi.nz", "gen.nz", "firm.in", "gen.in", "ind.in", "nic.in", "res.in",
    "web.tr", "gen.tr", "k12.tr", "av.tr", "idv.tw", "idv.hk", "web.za", "law.za", "asso.fr",
    "tm.fr", "biz.pl", "info.pl", "waw.pl", "art.br", "eco.br", "ind.br", "tv.br",
  ]

  /// Domains of providers under which customers have names.
  private static let hosting: Set<String> = [
    "amazonaws.com", "appspot.com", "azureedge.net", "azurewebsites.net", "backblazeb2.com",
    "blob.core.windows.net", "blogspot.com", "cloudapp.net", "cloudfront.net", "core.windows.net",
    "digitaloceanspaces.com", "duckdns.org", "dyndns.org", "fastly.net", "firebaseapp.com",
    "fly.dev", "github.io", "githubusercontent.com", "gitlab.io", "googleapis.com",
    "herokuapp.com", "neocities.org", "netlify.app", "ngrok.io", "no-ip.org", "onrender.com",
    "pages.dev", "r2.dev", "readthedocs.io", "s3.amazonaws.com", "sharepoint.com", "sourceforge.io",
    "surge.sh", "trafficmanager.net", "tumblr.com", "uk.com", "us.com",
    "vercel.app", "web.app", "windows.net", "wordpress.com", "workers.dev",
  ]
}
