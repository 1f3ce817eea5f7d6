extension RecordStore {
  /// The current path of the finished file; `nil` if the download is not complete or the file does
  /// not exist.
  ///
  /// Roots may move, so do not store the path. The file may have been changed since it was
  /// downloaded. Costs two `lstat`.
  ///
  /// ```swift
  /// let record = try store.record(matching: "https://example.com/model.bin")
  /// if let path = try store.localPath(of: record) { print(path) }
  /// ```
  ///
  /// - Throws: ``RecordStoreError`` with `missingRoot`; `StoreError`.
  public func localPath(of record: DownloadRecord) throws -> String? {
    guard record.state == .completed else { return nil }
    let layout = try roots().layout(of: record)
    return FileInspection(of: record, in: layout).final == .missing ? nil : layout.finalPath
  }
}
