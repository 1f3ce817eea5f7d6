/// Decides which header fields a request may carry to which origin.
///
/// Header fields belong to the origin (scheme, host and port; RFC 6454, section 4) that they were
/// given for. A request to any other origin carries none that identify the user: those that
/// ``Redaction`` hides. The rule is the same for redirects, mirrors, replaced URLs and request
/// interceptors, and covers a change from https to http.
///
/// Fields for a proxy follow the same rule. Credentials for a proxy belong in the proxy's URL.
package enum HeaderScope {
  /// Returns the fields that a request may carry.
  ///
  /// - Parameters:
  ///   - fields: The fields, in order.
  ///   - source: A URL of the origin that they were given for, or the origin itself.
  ///   - target: The URL of the request.
  /// - Returns: All fields for the same origin, and for any other those that redaction shows.
  package static func fields(
    _ fields: [HeaderField],
    givenFor source: String,
    sentTo target: String
  ) -> [HeaderField] {
    guard RecordIdentity.origin(of: source) != RecordIdentity.origin(of: target) else {
      return fields
    }
    return fields.filter { !isBoundToOrigin($0) }
  }

  /// Whether a field must not leave its origin.
  private static func isBoundToOrigin(_ field: HeaderField) -> Bool {
    // `Host` is not a secret, but it names the origin that the field was given for.
    Redaction.hides(field) || field.name.lowercased() == "host"
  }
}
