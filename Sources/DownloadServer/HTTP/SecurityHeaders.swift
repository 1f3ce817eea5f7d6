/// The header fields that every response has.
enum SecurityHeaders {
  /// The policy of pages: nothing is loaded but from this server, no style applies but that of the
  /// program, nothing frames a page, and a form is sent to this server only.
  static let contentSecurityPolicy = """
    default-src 'none'; script-src 'self'; style-src \(PageStyle.source); img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
    """

  /// The fields.
  static let fields: [(name: String, value: String)] = [
    ("Content-Security-Policy", contentSecurityPolicy),
    ("X-Content-Type-Options", "nosniff"),
    // With `no-referrer`, browsers state no origin for a form, by which one over plain HTTP from another
    // machine is checked.
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
  ]

  /// The field that keeps a response out of caches, unless its route has set another one.
  static let noStore = (name: "Cache-Control", value: "no-store")
}
