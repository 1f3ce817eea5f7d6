internal import ObjectStore

extension ObjectReader where Self: ~Copyable {
  /// The record of that URL, or of that id, or of the one id that begins like that; or why there is
  /// none, with `unknownRecord` or `ambiguousID`.
  func record(named name: String) throws -> Result<DownloadRecord, DownloadStoreError> {
    if let record = try get(DownloadRecord.self, name) { return .success(record) }
    let found =
      name.isEmpty || !name.allSatisfy(\.isHexDigit)
      ? []
      : try fetch(DownloadRecord.where { $0.id.hasPrefix(name.lowercased()) }.limit(2))
    guard let record = found.first else { return .failure(.unknownRecord(name)) }
    guard found.count == 1 else {
      return .failure(
        DownloadStoreError(
          .ambiguousID,
          "several downloads have an id that begins with '\(name)'"
        )
      )
    }
    return .success(record)
  }
}

extension DownloadStoreError {
  /// No download has the name.
  static func unknownRecord(_ name: String) -> Self {
    Self(.unknownRecord, "no download has the URL or id '\(Redaction.url(name))'")
  }
}
