package import ObjectStore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What a record knows about its finished file, kept while the download asks whether the server has a
/// newer version.
///
/// If the server has none, or the newer one cannot be downloaded, these are the record's fields again.
package struct FinishedVersion: Sendable, Hashable {
  /// The entity tag of the file, verbatim with its quotes.
  package var entityTag: String?
  /// The `Last-Modified` field of the file, verbatim.
  package var lastModified: String?
  /// Scheme, host and port of the server that stated them; `nil` for those of the record's URL.
  package var validatorOrigin: String?
  /// The digest that was computed from the file; `nil` if none was.
  package var verifiedDigest: String?
  /// The time of its completion.
  package var completedAt: Date
  /// Whether the digests of pieces in the store, if there are any, are still those of the file.
  package var hasPieceDigests: Bool
  /// Whether the command for its completion is still to be run.
  package var awaitsHook: Bool
  /// Whether the webhook for its completion is still to be called.
  package var awaitsWebhook: Bool

  /// Creates a version.
  package init(
    entityTag: String? = nil,
    lastModified: String? = nil,
    validatorOrigin: String? = nil,
    verifiedDigest: String? = nil,
    completedAt: Date,
    hasPieceDigests: Bool,
    awaitsHook: Bool = false,
    awaitsWebhook: Bool = false
  ) {
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.validatorOrigin = validatorOrigin
    self.verifiedDigest = verifiedDigest
    self.completedAt = completedAt
    self.hasPieceDigests = hasPieceDigests
    self.awaitsHook = awaitsHook
    self.awaitsWebhook = awaitsWebhook
  }

  /// Whether a server can be asked for another version: it has stated a tag or a date of this one.
  package var hasValidator: Bool { entityTag != nil || lastModified != nil }

  /// Whether a server has stated a tag or a date of this version, or has sent it as no web page.
  package var isKnownToServer: Bool { hasValidator || validatorOrigin != nil }
}

extension FinishedVersion: FieldValue {
  /// A custom encoding: fields in sequence, to which later versions append.
  package static var fieldType: FieldType { .embedded("FinishedVersion") }

  /// Decodes a version; skips fields that a later version of the program appended.
  ///
  /// An earlier one wrote no `awaitsWebhook`.
  package init(from reader: inout ByteReader) throws(RecordError) {
    entityTag = Self.value(try reader.readSized())
    lastModified = Self.value(try reader.readSized())
    validatorOrigin = Self.value(try reader.readSized())
    verifiedDigest = Self.value(try reader.readSized())
    completedAt = try reader.readSized()
    hasPieceDigests = try reader.readSized()
    awaitsHook = try reader.readSized()
    awaitsWebhook = try reader.remaining > 0 ? reader.readSized() : false
  }

  /// Encodes the version.
  package func encode(to writer: inout ByteWriter) {
    writer.writeSized(entityTag ?? "")
    writer.writeSized(lastModified ?? "")
    writer.writeSized(validatorOrigin ?? "")
    writer.writeSized(verifiedDigest ?? "")
    writer.writeSized(completedAt)
    writer.writeSized(hasPieceDigests)
    writer.writeSized(awaitsHook)
    writer.writeSized(awaitsWebhook)
  }

  /// None of these texts is ever empty.
  private static func value(_ text: String) -> String? { text.isEmpty ? nil : text }
}
