internal import DownloadStore
package import ObjectStore
package import ProgramOutput

extension StoredObjectOutput {
  /// Creates the output of a model's objects.
  ///
  /// - Parameters:
  ///   - model: The model of the objects.
  ///   - fields: The names of the fields to show, in this order; empty for all.
  ///   - revealsSecrets: Whether to show the secrets of downloads.
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field.
  package init(_ model: StoredModel, fields: [String] = [], revealsSecrets: Bool) throws {
    let hasSecrets = !revealsSecrets && Self.downloadModels.contains(model.name)
    try self.init(model, fields: fields) { hasSecrets ? Self.withoutSecrets($0) : $0 }
  }

  /// The models that contain secrets: URLs with signatures, header fields and resume data.
  private static let downloadModels: Set = [
    DownloadRecord.schema.name, RequestHeaders.schema.name,
  ]

  /// Returns the value with the secrets of URLs redacted, and without data, which may contain
  /// header fields.
  private static func withoutSecrets(_ value: StoredValue) -> StoredValue {
    switch value {
    case .string(let text): return .string(Redaction.name(text))
    case .data, .embedded: return .string(Redaction.mark)
    case .array(let elements): return .array(elements.map(withoutSecrets))
    case .set(let elements): return .set(elements.map(withoutSecrets))
    default: return value
    }
  }
}
