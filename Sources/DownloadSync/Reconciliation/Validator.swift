package import DownloadStore

/// What tells whether an entity is still the one that was begun (RFC 9110, 8.8).
package struct Validator: Sendable, Hashable {
  /// The entity tag as the server wrote it, `W/` and quotes included.
  package var entityTag: String?
  /// The `Last-Modified` date as the server wrote it.
  package var lastModified: String?

  /// Makes a validator of what a server said; `nil` when it said nothing of use.
  package init?(entityTag: String?, lastModified: String?) {
    guard Self.isStrong(entityTag) || lastModified?.isEmpty == false else { return nil }
    self.entityTag = entityTag
    self.lastModified = lastModified
  }

  /// The validator of the bytes that a record has on disk.
  package init?(of record: DownloadRecord) {
    self.init(entityTag: record.entityTag, lastModified: record.lastModified)
  }

  /// What `If-Range` says: the entity tag where it is strong, since a weak one does not promise the
  /// same bytes (RFC 9110, 13.1.5), otherwise the date.
  package var ifRange: String? {
    Self.isStrong(entityTag) ? entityTag : lastModified
  }

  /// Whether a response with those fields is of the same entity, as far as it says.
  ///
  /// The strong entity tag decides where both have one; otherwise the date does. A field that the
  /// response leaves out is no sign of change: If-Range has settled it already.
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
