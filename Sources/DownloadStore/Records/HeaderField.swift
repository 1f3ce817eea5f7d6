public import ObjectStore

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

extension RequestHeaders {
  /// Creates the header fields that were given with a URL.
  init(recordID: String, fields: [HeaderField], givenFor url: String) {
    self.init(recordID: recordID, fields: fields, origin: RecordIdentity.origin(of: url))
  }

  /// Returns the fields that a request for the record may carry to a URL.
  ///
  /// Fields stored without an origin belong to that of the record's own URL. A replaced URL does
  /// not change that: ``RecordStore/replaceURL(matching:with:)`` stores the origin first.
  package func fields(of record: DownloadRecord, sentTo url: String) -> [HeaderField] {
    HeaderScope.fields(fields, givenFor: origin ?? record.url, sentTo: url)
  }
}
