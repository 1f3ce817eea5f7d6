extension DownloadStore {
  /// Where the finished file of a record is at this moment; `nil` until the download is complete,
  /// and when the file is not there.
  ///
  /// The path is made anew at each call, because roots move. Whether the file is still ours says
  /// ``FileStatus``. Costs two `lstat`.
  ///
  /// - Throws: ``DownloadStoreError`` with `missingRoot`; `StoreError`.
  public func localPath(of record: DownloadRecord) throws -> String? {
    guard record.state == .completed else { return nil }
    let layout = try roots().layout(of: record)
    return FileFacts(of: record, in: layout).final == .missing ? nil : layout.finalPath
  }
}
