internal import ObjectStore

extension ObjectReader where Self: ~Copyable {
  /// The record with a URL, an id or an id prefix, or the error `unknownRecord` or `ambiguousID`.
  func record(matching name: String) throws -> Result<DownloadRecord, RecordStoreError> {
    if let record = try find(DownloadRecord.self, key: name) { return .success(record) }
    let found =
      name.isEmpty || !name.allSatisfy(\.isHexDigit)
      ? []
      : try fetch(DownloadRecord.where { $0.id.hasPrefix(name.lowercased()) }.limit(2))
    guard let record = found.first else { return .failure(.unknownRecord(name)) }
    guard found.count == 1 else {
      return .failure(
        RecordStoreError(
          .ambiguousID,
          "several downloads have an id that begins with '\(name)'"
        )
      )
    }
    return .success(record)
  }
}

extension RecordStoreError {
  /// The error for an unknown name.
  static func unknownRecord(_ name: String) -> Self {
    Self(.unknownRecord, "no download has the URL or id '\(Redaction.argument(name))'")
  }
}
