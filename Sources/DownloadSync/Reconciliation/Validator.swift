package import DownloadStore

/// The response fields that identify a version of the server's file (RFC 9110, 8.8).
package struct Validator: Sendable, Hashable {
  /// The entity tag as sent by the server, including `W/` and quotes.
  package var entityTag: String?
  /// The `Last-Modified` date as sent by the server.
  package var lastModified: String?

  /// Creates a validator from response fields.
  ///
  /// `nil` if there is neither a strong entity tag nor a date.
  package init?(entityTag: String?, lastModified: String?) {
    guard Self.isStrong(entityTag) || lastModified?.isEmpty == false else { return nil }
    self.entityTag = entityTag
    self.lastModified = lastModified
  }

  /// Creates the validator of the bytes that a record has on disk; `nil` if it has none.
  package init?(of record: DownloadRecord) {
    self.init(entityTag: record.entityTag, lastModified: record.lastModified)
  }

  /// The value of the `If-Range` field: the entity tag if it is strong, otherwise the date.
  ///
  /// A weak entity tag does not promise identical bytes (RFC 9110, 13.1.5).
  package var ifRange: String? {
    Self.isStrong(entityTag) ? entityTag : lastModified
  }

  /// Whether a response with the given fields belongs to another version of the file.
  ///
  /// If the validator has a strong entity tag and the response has an entity tag, the two are
  /// compared; otherwise the dates are. A missing field is no contradiction: the server has already
  /// evaluated `If-Range`.
  package func isContradicted(byEntityTag tag: String?, lastModified date: String?) -> Bool {
    if let entityTag, Self.isStrong(entityTag), let tag { return tag != entityTag }
    if let lastModified, let date { return date != lastModified }
    return false
  }

  private static func isStrong(_ tag: String?) -> Bool {
    guard let tag else { return false }
    return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count >= 2
  }
}
