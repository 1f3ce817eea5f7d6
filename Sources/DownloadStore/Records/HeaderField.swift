public import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A header field of a request or a response.
public struct HeaderField: Sendable, Hashable, Codable {
  /// The field's name.
  ///
  /// Names are case-insensitive (RFC 9110, 5.1).
  public var name: String
  /// The field's value.
  public var value: String

  /// Creates a field.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension HeaderField {
  /// The value of `Authorization` or `Proxy-Authorization` for a login: a name, a colon and a password
  /// (RFC 7617).
  package static func basic(_ login: some Sequence<UInt8>) -> String {
    "Basic \(Data(login).base64EncodedString())"
  }

  /// The value of `Authorization` or `Proxy-Authorization` for a name and a password; a missing one is
  /// empty.
  package static func basic(user: String?, password: String?) -> String {
    basic("\(user ?? ""):\(password ?? "")".utf8)
  }
}

extension HeaderField: FieldValue {
  /// A custom encoding.
  public static var fieldType: FieldType { .embedded("HeaderField") }

  /// Decodes a field.
  public init(from reader: inout ByteReader) throws(RecordError) {
    name = try reader.readSized()
    value = try reader.readSized()
  }

  /// Encodes the field.
  public func encode(to writer: inout ByteWriter) {
    writer.writeSized(name)
    writer.writeSized(value)
  }
}

/// The header fields that identify nobody, so that any server may receive them.
///
/// The list is closed: a field of another name may be a credential, whatever it is called. It
/// consists of the fields that browsers send to every site, or let a page send to any other site
/// without asking that site (the Fetch standard, "CORS-safelisted request-header"), and of those
/// that describe the requested range and version.
enum HarmlessField {
  private static let names: Set = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control",
    "content-language", "content-type", "dnt", "etag", "icy-metadata", "if-modified-since",
    "if-range", "if-unmodified-since", "last-modified", "pragma", "prefer", "priority", "range",
    "referer", "save-data", "sec-gpc", "te", "upgrade-insecure-requests", "user-agent",
    "want-content-digest", "want-digest", "want-repr-digest", "www-authenticate",
    "x-requested-with",
  ]

  /// Whether a field of this name, in any case, is harmless if its value contains no secret.
  static func contains(_ name: String) -> Bool {
    let name = name.lowercased()
    return names.contains(name) || name.hasPrefix("sec-fetch-") || name.hasPrefix("sec-ch-")
  }
}

/// Decides which header fields a request may carry to which origin.
///
/// Header fields belong to the origin (scheme, host and port; RFC 6454, section 4) that they were
/// given for. A request to any other origin carries only those that ``HarmlessField`` lists and
/// whose values contain no URL with a secret. The rule is the same for redirects, mirrors, replaced
/// URLs, request interceptors and the files of a Metalink document, and covers a change from https
/// to http.
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
    return fields.filter { !Redaction.hides($0) }
  }
}

extension RequestHeaders {
  /// Creates the header fields that were given with a URL.
  init(recordID: String, fields: [HeaderField], givenFor url: String) {
    self.init(recordID: recordID, fields: fields, origin: RecordIdentity.origin(of: url))
  }

  /// Returns the fields that a request may carry to a URL.
  package func fields(sentTo url: String) -> [HeaderField] {
    HeaderScope.fields(fields, givenFor: origin, sentTo: url)
  }
}
